"""Letta Code: its settings file lists the MCP servers of each agent."""
