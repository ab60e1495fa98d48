"""Data model of a workspace, and loading it from files."""
