"""A toolset's MCP server, as its generated module declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.registry.registry import Registry
from .toolset_server import ToolsetServer

if TYPE_CHECKING:
    from typing import Self

    from mcp.server import Server

    from ..http.asgi import AsgiApp


class McpServer(ToolsetServer):
    """A toolset's MCP server. `main()` serves it as the command line says.

    The MCP SDK is imported when something is served, not before.
    """

    @classmethod
    def of_several(
        cls, package: str, servers: tuple[ToolsetServer, ...], **given: Any
    ) -> Self:
        """The server that several toolsets share.

        Args:
            package: the generated package of the server, by its name.
            servers: the toolsets' own servers, in the declared order.
            given: what is said of the shared one; see `ToolsetServer`.

        Raises:
            DefinitionError: two have a tool of one name, or only some have clients, or two
                answer at one path for administrators.
        """
        return cls(shared_registry(package, servers), sharing=servers, **given)

    def build(self, client: str | None = None) -> Server[Any]:
        """The SDK's low-level server for one client, for any transport.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        from .sdk_server import build_server

        return build_server(self, client)

    def asgi_app(self) -> AsgiApp:
        """The ASGI application of all endpoints, with tokens, hosts and its own lifespan.

        It is built when its lifespan starts.
        """
        from ..http.asgi import AsgiApp

        return AsgiApp(self)

    def main(self, arguments: list[str] | None = None) -> None:
        """Serves stdio or HTTP, or prints the tools; `--help` names the options."""
        from .server_options import main

        main(self, arguments)


def shared_registry(package: str, servers: tuple[ToolsetServer, ...]) -> Registry:
    """The tools of servers' toolsets, of external servers where a server shows them."""
    return Registry.of_several(
        package,
        [one.registry for one in servers],
        external=[one.registry for one in servers if one.external],
    )
