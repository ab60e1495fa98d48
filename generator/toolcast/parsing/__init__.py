"""Reads YAML strictly: bytes to a value, with the place of each part."""
