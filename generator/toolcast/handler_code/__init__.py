"""Handler code."""
