"""Letta Code, whose agents have their MCP servers in a settings file."""
