"""What serves a registry to MCP clients, over stdio and HTTP, and tells how it goes."""
