"""Serves a toolset's HTTP application with uvicorn, in one process or several.

Needs `uvicorn`.
"""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ..stdio.process import GRACE_SECONDS, Ending, gc_freeze
from ..telemetry.log_lines import LogFormat, LogLevel, write_logs
from .listening import Listening, tell_endpoints
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

    from starlette.routing import Router
    from starlette.types import ASGIApp

    from ..mcp.toolset_server import ToolsetServer
    from .settings import HttpSettings

_ALONE = "/mcp/"
_VARIABLE = "TOOLCAST_HTTP_WORKER"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What the command line says.

    Attributes:
        host: the address to listen on.
        port: the port; 0 takes a free one.
        workers: processes that answer.
        replica: other processes answer at the same address.
        grace: seconds that running calls have to finish when the server is to end.
        log_format: lines for people, or JSON.
        log_level: the lowest level that is logged.
        client: the only client to serve; None serves them all.
        path: where one client alone is served; None for `/mcp/`.
        local_tools: leaves out the tools of external servers.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    replica: bool = False
    grace: int = GRACE_SECONDS
    log_format: LogFormat = "text"
    log_level: LogLevel = "info"
    client: str | None = None
    path: str | None = None
    local_tools: bool = False


def serve_http(server: ToolsetServer, options: HttpOptions) -> None:
    """Serves until a signal ends it; running calls are finished or cancelled then.

    What is open is closed, and it returns: ending is what was asked for. A second signal
    ends the process at once.

    Raises:
        SystemExit: the server cannot be started; uvicorn has said why.
        SettingsError: the server cannot be started as it is set up.
        LogsError: logs cannot be written as asked for.
        SealingError: so it is where a tool has to ask a person.
        LookupError: the toolset has no client of a name.
        AccessError: who may have which tool cannot be found out.
    """
    write_logs(options.log_format, options.log_level)
    with gc_freeze():
        import uvicorn

        from .uvicorn_server import (
            BoundedProtocol,
            ending_app,
            most_waiting,
            supervise,
        )

        # Built here as well, so that what is wrong is said once and not by each worker.
        ending = Ending(options.grace)
        listening = _listening(server, options)
        app: ASGIApp | str = ending_app(
            _app(server, options, listening), ending, server.registry
        )
    if options.workers > 1:
        module = f"{server.registry.package}.mcp_server"
        os.environ[_VARIABLE] = json.dumps({**asdict(options), "server": module})
        app = f"{__name__}:worker_app"
    settings = uvicorn.Config(
        app,
        factory=isinstance(app, str),
        host=options.host,
        port=options.port,
        workers=options.workers,
        timeout_graceful_shutdown=options.grace,
        access_log=False,
        # Ours is there, for this process; a worker makes it for itself.
        log_config=None,
        server_header=False,
        http=BoundedProtocol,
        # Nothing here speaks it; uvicorn would log the addresses that are asked for.
        ws="none",
        # As many are taken at once; more wait in the system's queue.
        backlog=most_waiting(),
    )
    if options.workers > 1:
        listener = settings.bind_socket()
        # Who comes before the first worker is ready waits, and is not refused.
        listener.listen(settings.backlog)
        tell_endpoints(listening, _origin(options.host, [listener]))
        supervise(settings, listener, options.grace)
        return

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                listeners = self.servers[0].sockets
                tell_endpoints(listening, _origin(options.host, listeners))

    # What uvicorn sets while it serves, it takes back to these.
    ending.take_signals()
    Server(settings).run()


def worker_app() -> ASGIApp:
    """The application of one of several processes, which uvicorn starts by name."""
    given = json.loads(os.environ[_VARIABLE])
    with gc_freeze():
        from .uvicorn_server import ending_app

        server: ToolsetServer = importlib.import_module(given.pop("server")).SERVER
        options = HttpOptions(**given)
        write_logs(options.log_format, options.log_level)
        ending = Ending(options.grace, is_worker=True)
        listening = _listening(server, options)
        return ending_app(_app(server, options, listening), ending, server.registry)


def _app(server: ToolsetServer, options: HttpOptions, listening: Listening) -> Router:
    from .app import http_app

    if options.local_tools:
        server = replace(server, external=False)
    is_one_of_several = options.replica or options.workers > 1
    return http_app(server, listening, is_one_of_several=is_one_of_several)


def _listening(server: ToolsetServer, options: HttpOptions) -> Listening:
    return Listening.on(_settings(server, options), options.host)


def _origin(host: str, listeners: Sequence[Any]) -> str:
    """What the URLs of the server begin with."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listeners[0].getsockname()[1]}"


def _settings(server: ToolsetServer, options: HttpOptions) -> HttpSettings:
    if server.http is None:
        raise SettingsError("the toolset has no settings for HTTP")
    if options.client is None and options.path is None:
        return server.http
    client = server.client if options.client is None else options.client
    chosen = [e for e in server.http.endpoints if e.client == client]
    if not chosen:
        raise SettingsError(f"no endpoint serves the client `{client}`")
    only = replace(chosen[0], path=options.path or _ALONE)
    return replace(server.http, endpoints=(only,))
