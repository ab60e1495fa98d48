"""The tools of external MCP servers."""
