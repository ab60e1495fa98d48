"""Encoders: the only ways in which text of a spec becomes text of an output."""
