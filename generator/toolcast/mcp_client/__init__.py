"""Client for MCP servers that reads their lists unmodified, and the locks of these lists."""
