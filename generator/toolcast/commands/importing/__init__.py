"""The command that takes tools in."""
