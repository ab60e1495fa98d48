"""Managed regions of a project's own Markdown files, filled from the specs."""
