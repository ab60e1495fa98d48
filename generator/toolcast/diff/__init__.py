"""Graded comparison of two versions of a project."""
