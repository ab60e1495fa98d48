"""A toolset's MCP server, as its generated module declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .toolset_server import ToolsetServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server import Server
    from starlette.applications import Starlette

    from ..http.asgi import AsgiApp

__all__ = ["McpServer"]


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

    def http_app(self, client: str | None = None, path: str = "/mcp") -> Starlette:
        """An ASGI application that serves one client at a path, without sessions.

        It answers to requests for loopback names only, and asks for no token. Its own
        lifespan is the toolset's, too: what mounts it has to run that.
        """
        from contextlib import asynccontextmanager

        app = self.build(client).streamable_http_app(
            streamable_http_path=path, stateless_http=True, host="127.0.0.1"
        )
        sessions = app.router.lifespan_context

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with self.registry, sessions(app):
                yield

        app.router.lifespan_context = lifespan
        return app

    def main(self, arguments: list[str] | None = None) -> None:
        """Serves stdio or HTTP, or prints the tools; `--help` names the options."""
        from .server_options import main

        main(self, arguments)
