"""Name."""
