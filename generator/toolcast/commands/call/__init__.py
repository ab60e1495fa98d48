"""The command `toolcast call`, for tools of toolsets and of any MCP server."""
