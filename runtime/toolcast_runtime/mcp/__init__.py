"""A toolset's MCP server."""

from ..serve.mcp.server import McpServer
from ..serve.mcp.server_part import ServerPart

__all__ = ["McpServer", "ServerPart"]
