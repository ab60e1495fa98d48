"""Findings as text: the only place that prints them."""
