"""MCP server of a toolset, which the generated module `mcp_server` creates.

It runs over stdio, over HTTP, or as an ASGI application in any ASGI server, where it can also be
mounted. The packages for each of these are imported when the server starts.
"""

from __future__ import annotations

import importlib.util
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ..core.access import AccessError, UnknownClientError
from ..core.optional import OptionalPartError
from ..core.registry import Registry
from ..core.toolset_settings import LifespanError
from ..http.settings import SettingsError
from .toolset_server import ToolsetServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from mcp.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send


class McpServer(ToolsetServer):
    """MCP server of a toolset; `main()` runs it from the command line."""

    @classmethod
    def combine(
        cls, package: str, servers: tuple[ToolsetServer, ...], **settings: Any
    ) -> Self:
        """Return one server for several toolsets.

        Args:
            package: the name of the combined server's generated package.
            servers: the servers of the toolsets, in the declared order.
            settings: the settings of the combined server; see `ToolsetServer`.

        Raises:
            DefinitionError: two toolsets have a tool of the same name, only some of them have
                clients, or two use the same path for administrators.
        """
        registry = Registry.combine(
            package,
            [server.registry for server in servers],
            external=[server.registry for server in servers if server.external],
        )
        return cls(registry, member_servers=servers, **settings)

    def build(self, client: str | None = None) -> Server[Any]:
        """Return the MCP SDK's low-level server for one client, for any transport.

        Raises:
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        from .sdk_server import build_server

        return build_server(self, client)

    def asgi_app(self, *, one_process: bool = False) -> AsgiApp:
        """Return the ASGI application of all endpoints, with its own lifespan.

        The endpoints are built when the lifespan starts.

        Args:
            one_process: whether no other process answers at the same address. Then clients
                with handshake versions get sessions, and the server can ask users without a
                shared key.
        """
        return AsgiApp(self, one_process=one_process)

    def main(self, arguments: list[str] | None = None) -> None:
        """Run over stdio or HTTP, or print the tools, as the command line requests."""
        from .server_options import main

        main(self, arguments)


# No socket is opened with this address: it only selects the strict settings for a server that
# can be reached from other machines.
_ALL_INTERFACES = "0.0.0.0"  # noqa: S104


class AsgiApp:
    """ASGI application to run in a server such as uvicorn, or to mount in Starlette or FastAPI.

    The application does not know its address, so it assumes that other machines can reach it, and
    starts only if each client has a token and allowed hosts are set.

    Args:
        server: the toolset's server.
        one_process: see `McpServer.asgi_app`.
    """

    def __init__(self, server: ToolsetServer, *, one_process: bool = False) -> None:
        self._server = server
        self._is_one_of_several = not one_process
        self._app: ASGIApp | None = None

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Start the server for the duration of the context.

        Pass it to the outer app if this app is mounted: `FastAPI(lifespan=app.lifespan)`.

        Raises:
            SettingsError: a package is missing; or settings are: tokens, allowed hosts, the
                key for tools with a `confirm`, or the clients' access. One message has all.
            UnknownClientError: an endpoint names a client that the toolset does not have.
            LifespanError: the toolset's own lifespan cannot start.
        """
        if importlib.util.find_spec("mcp") is None:
            raise SettingsError(_format_missing_package("mcp"))
        from ..http.app import build_http_app, resolve_listen_settings
        from ..http.endpoints import log_endpoints

        server, is_one_of_several = self._server, self._is_one_of_several
        if server.http is None:
            raise SettingsError(
                "the toolset has no settings for HTTP; help: declare `targets.mcp.http`"
            )
        settings = resolve_listen_settings(
            server, server.http, _ALL_INTERFACES, several=is_one_of_several
        )
        endpoints_app = build_http_app(
            server, settings, is_one_of_several=is_one_of_several, is_alone=False
        )
        async with (
            server.registry,
            endpoints_app.lifespan_context(endpoints_app),
        ):
            self._app = endpoints_app
            log_endpoints(settings)
            try:
                yield
            finally:
                self._app = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or run the lifespan if the ASGI server requests it."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await _send_not_started(send)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        is_started = False
        try:
            async with self.lifespan():
                await send({"type": "lifespan.startup.complete"})
                is_started = True
                await receive()
        except (
            SettingsError,
            UnknownClientError,
            AccessError,
            LifespanError,
            OptionalPartError,
        ) as error:
            if is_started:
                raise
            # Report the failure to the ASGI server, which logs it. Without this event, some
            # ASGI servers serve requests anyway.
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})


def _format_missing_package(package: str) -> str:
    return (
        f"the package {package} is not installed; help: pip install"
        " 'toolcast-runtime[mcp]'"
    )


async def _send_not_started(send: Send) -> None:
    """Answer 503 to a request while the lifespan is not running."""
    error = "the server has not started: its lifespan is not running"
    help_ = (
        "if the app is mounted, pass `lifespan=app.lifespan` to the outer application"
    )
    body = json.dumps({"error": error, "help": help_}).encode()
    headers: list[Any] = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})
