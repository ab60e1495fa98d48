"""A toolset's MCP server."""

from ..serve.mcp.server import McpServer
from ..serve.mcp.toolset_server import ServerPart

__all__ = ["McpServer", "ServerPart"]
