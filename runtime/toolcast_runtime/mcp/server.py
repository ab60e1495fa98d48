"""A toolset's MCP server, as its generated module declares it.

It is served over stdio, over HTTP, or as an ASGI application by any server, to be mounted if
need be. What each needs is imported when something is served, not before.
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
    """A toolset's MCP server. `main()` serves it as the command line says."""

    @classmethod
    def combine(
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
        registry = Registry.combine(
            package,
            [one.registry for one in servers],
            external=[one.registry for one in servers if one.external],
        )
        return cls(registry, sharing=servers, **given)

    def build(self, client: str | None = None) -> Server[Any]:
        """The SDK's low-level server for one client, for any transport.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        from .sdk_server import build_server

        return build_server(self, client)

    def asgi_app(self, *, one_process: bool = False) -> AsgiApp:
        """The ASGI application of all endpoints, with tokens, hosts and its own lifespan.

        It is built when its lifespan starts.

        Args:
            one_process: no other process answers at its address. Then clients of the older
                era have sessions, and a person is asked without a key.
        """
        return AsgiApp(self, one_process=one_process)

    def main(self, arguments: list[str] | None = None) -> None:
        """Serves stdio or HTTP, or prints the tools; `--help` names the options."""
        from .server_options import main

        main(self, arguments)


_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - it is told to nobody who listens


class AsgiApp:
    """What a server such as uvicorn runs, or an application of Starlette or FastAPI mounts.

    Nobody tells it the address that it is reached at. So it takes itself for one at every
    address: without a token for each client, and without allowed hosts, it does not start.

    Args:
        server: what is served.
        one_process: see `McpServer.asgi_app`.
    """

    def __init__(self, server: ToolsetServer, *, one_process: bool = False) -> None:
        self._server = server
        self._several = not one_process
        self._running: ASGIApp | None = None

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Serves within it: `FastAPI(lifespan=app.lifespan)` where this one is mounted.

        Raises:
            SettingsError: a package is missing; or tokens, allowed hosts, the key that a tool
                with a `confirm` needs, or who may have which tool: all of them in one line.
            UnknownClientError: an endpoint is of a client that the toolset does not have.
            LifespanError: the toolset's own lifespan cannot be started.
        """
        if importlib.util.find_spec("mcp") is None:
            raise SettingsError("it needs mcp: pip install 'toolcast-runtime[mcp]'")
        from ..http.app import build_http_app, resolve_listen_settings
        from ..http.endpoints import log_endpoints

        server, several = self._server, self._several
        if server.http is None:
            raise SettingsError("the toolset has no settings for HTTP")
        listening = resolve_listen_settings(
            server, server.http, _ANY_ADDRESS, several=several
        )
        router = build_http_app(
            server, listening, is_one_of_several=several, is_alone=False
        )
        async with server.registry, router.lifespan_context(router):
            self._running = router
            log_endpoints(listening)
            try:
                yield
            finally:
                self._running = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or runs the lifespan for a server."""
        if scope["type"] == "lifespan":
            await self._serve(receive, send)
        elif self._running is not None:
            await self._running(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await _not_started(send)

    async def _serve(self, receive: Receive, send: Send) -> None:
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
            # A server logs the message; without it, some would serve all the same.
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})


async def _not_started(send: Send) -> None:
    """Answers while the lifespan does not run; the caller can do nothing about it."""
    error = "the server has not started: its lifespan does not run"
    help_ = "where it is mounted, the outer application needs `lifespan=app.lifespan`"
    body = json.dumps({"error": error, "help": help_}).encode()
    headers: list[Any] = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})
