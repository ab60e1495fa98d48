"""What live MCP servers list, read raw: of what they send nothing is lost or made plain."""
