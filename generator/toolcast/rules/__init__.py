"""Rules: a documentation page for each family, and a module for each family with checks."""
