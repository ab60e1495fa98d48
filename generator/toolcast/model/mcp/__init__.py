"""MCP servers, resources and prompts that a toolset names."""
