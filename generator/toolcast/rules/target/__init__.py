"""Rules about the targets of a toolset."""
