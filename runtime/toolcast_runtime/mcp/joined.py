"""Several toolsets on one endpoint: public names."""

from __future__ import annotations

from ..serve.mcp.joined import JoinedRegistry, JoinedServer

__all__ = ["JoinedRegistry", "JoinedServer"]
