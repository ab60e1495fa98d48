"""The command that calls a tool."""
