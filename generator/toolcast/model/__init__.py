"""The spec language: files to the frozen model."""
