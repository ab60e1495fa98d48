"""What MCP's list says of a tool beside its texts and schemas."""
