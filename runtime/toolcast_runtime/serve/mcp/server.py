"""A toolset's MCP server, as its generated module declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .toolset_server import ToolsetServer

if TYPE_CHECKING:
    from mcp.server import Server

    from ..http.asgi import AsgiApp


class McpServer(ToolsetServer):
    """A toolset's MCP server. `main()` serves it as the command line says.

    The MCP SDK is imported when something is served, not before.
    """

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
