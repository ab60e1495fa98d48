"""The commands that begin: a project, a tool."""
