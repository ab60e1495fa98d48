"""The code of handlers, read as text; nothing of it is imported or run."""
