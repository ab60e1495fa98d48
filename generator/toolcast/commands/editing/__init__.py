"""The commands that change specs in place."""
