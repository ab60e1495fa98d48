"""The model of a workspace, and what makes it of files."""
