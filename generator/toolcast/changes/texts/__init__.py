"""Texts that models read, and those for people alone."""
