"""The MCP server of a toolset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .server import McpServer
    from .toolset_server import ServerPart

__all__ = ["McpServer", "ServerPart"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "McpServer": ".server",
        "ServerPart": ".toolset_server",
    },
)
