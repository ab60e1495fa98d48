"""Comparison of two versions of a project, with grades for callers, prompts, code and access."""
