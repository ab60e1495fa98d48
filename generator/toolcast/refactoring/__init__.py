"""Edits of a project that keep the layout of its files: rename and remove tools."""
