"""What a change of specs means: for callers, for prompts, for Python code, for access."""
