"""Several toolsets on one endpoint, as code asks for it that was generated earlier.

`McpServer.of_several` has taken the place of both names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..serve.mcp.server import McpServer, shared_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..serve.mcp.toolset_server import ToolsetServer

__all__ = ["JoinedRegistry", "JoinedServer"]


class JoinedRegistry(NamedTuple):
    """The tools of several toolsets.

    Attributes:
        package: the generated package of the endpoint, by its name.
        servers: the toolsets' own servers, in the declared order.
    """

    package: str
    servers: Sequence[ToolsetServer]


@dataclass(frozen=True)
class JoinedServer(McpServer):
    """The server of an endpoint that several toolsets share, which are in its registry."""

    def __post_init__(self) -> None:
        if isinstance(self.registry, JoinedRegistry):
            servers = tuple(self.registry.servers)
            registry = shared_registry(self.registry.package, servers)
            object.__setattr__(self, "registry", registry)
            object.__setattr__(self, "sharing", servers)
        super().__post_init__()
