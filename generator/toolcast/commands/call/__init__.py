"""A tool is called by hand: a toolset's own, or one of any MCP server."""
