"""Letta Code, whose settings file has the MCP servers of each agent."""
