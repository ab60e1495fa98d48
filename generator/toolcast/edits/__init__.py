"""Edits of specs in place: a tool gets another name or toolset, is deprecated, or removed."""
