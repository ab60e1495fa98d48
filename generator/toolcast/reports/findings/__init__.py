"""Findings of `toolcast check` and its like, a module a format."""
