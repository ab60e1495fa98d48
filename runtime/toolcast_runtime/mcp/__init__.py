"""A toolset's MCP server."""

from .server import McpServer
from .server_part import ServerPart

__all__ = ["McpServer", "ServerPart"]
