"""A toolset's MCP server."""
