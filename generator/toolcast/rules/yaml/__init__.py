"""Rules about a file as YAML, which reading it checks."""
