"""A toolset's MCP endpoints over streamable HTTP, and paths for administrators."""
