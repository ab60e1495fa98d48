"""What readers of a toolset see differently, derived and not declared."""
