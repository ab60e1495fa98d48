"""Edits of specs in place: a tool gets another name, or is removed."""
