"""Parse YAML and JSON strictly: bytes to a value, with the position of each part."""
