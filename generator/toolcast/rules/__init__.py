"""Rules: one module each, at the path of its id."""
