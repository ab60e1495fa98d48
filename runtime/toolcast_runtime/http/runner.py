"""Serves a toolset's HTTP application with uvicorn, in one process or several.

uvicorn raises a signal again when it has served, which ends the process by it: nothing of `atexit`
runs, and whoever asked for the end is told of a failure. That is mended here, and its connections
are bounded.

Needs `uvicorn`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import signal
import socket
import threading
from dataclasses import asdict, dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from ..core.toolset_settings import LifespanError
from ..stdio.process import (
    CLOSING_SECONDS,
    GRACE_SECONDS,
    SIGNALS,
    START_FAILED,
    Ending,
    gc_freeze,
)
from ..telemetry.log_lines import LogFormat, LogLevel, write_logs
from .app import build_http_app, resolve_listen_settings
from .connections import BoundedProtocol, get_connection_limit
from .endpoints import Listening, log_endpoints
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..core.registry import Registry
    from ..mcp.toolset_server import ToolsetServer
    from .settings import HttpSettings

_ALONE = "/mcp/"
_VARIABLE = "TOOLCAST_HTTP_WORKER"
_QUEUE = 1_024
"""Connections that the system keeps until they are taken; it may keep fewer."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What the command line says, whose `--help` tells each.

    Attributes:
        replica: other processes answer at the same address.
        client: the only client to serve; None serves them all.
        path: where one client alone is served; None for `/mcp/`.
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
        SealingError: so it is where a tool has to ask the user.
        LookupError: the toolset has no client of a name.
        AccessError: who may have which tool cannot be found out.
    """
    write_logs(options.log_format, options.log_level)
    with gc_freeze():
        # Built here as well, so that what is wrong is said once and not by each worker.
        ending = Ending(options.grace)
        app: ASGIApp | str
        app, listening = _build_app(server, options, ending)
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
        # Nothing here asks which address or scheme a proxy says that it was called by.
        proxy_headers=False,
        # Ours is there, for this process; a worker makes it for itself.
        log_config=None,
        server_header=False,
        http=BoundedProtocol,
        # Nothing here speaks it; uvicorn would log the addresses that are asked for.
        ws="none",
        # As many are taken at once: what was sent on these is read before the next come.
        backlog=get_connection_limit() // 24,
    )
    if options.workers > 1:
        listener = settings.bind_socket()
        # Who comes before the first worker is ready waits, and is not refused.
        listener.listen(_QUEUE)
        log_endpoints(listening, _origin(options.host, [listener]))
        run_workers(settings, listener, options.grace)
        return

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                listeners = self.servers[0].sockets
                log_endpoints(listening, _origin(options.host, listeners))

    # What uvicorn sets while it serves, it takes back to these.
    ending.take_signals()
    Server(settings).run()


def worker_app() -> ASGIApp:
    """The application of one of several processes, which uvicorn starts by name."""
    given = json.loads(os.environ[_VARIABLE])
    with gc_freeze():
        server: ToolsetServer = importlib.import_module(given.pop("server")).SERVER
        options = HttpOptions(**given)
        write_logs(options.log_format, options.log_level)
        return _build_app(server, options, Ending(options.grace, is_worker=True))[0]


def _build_app(
    server: ToolsetServer, options: HttpOptions, ending: Ending
) -> tuple[ASGIApp, Listening]:
    """The application of one process, and where it is to be reached."""
    if options.local_tools:
        server = replace(server, external=False)
    several = options.replica or options.workers > 1
    settings = _settings(server, options)
    listening = resolve_listen_settings(server, settings, options.host, several=several)
    router = build_http_app(server, listening, is_one_of_several=several)
    return wrap_lifespan(router, ending, server.registry), listening


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


async def _stop_listening(server: uvicorn.Server) -> None:
    """Takes no connection any more, but those that the system has taken already.

    It would break them off, though a request may have been sent on them.
    """
    taken: list[socket.socket] = []
    for each in server.servers:
        listening = [one.dup() for one in each.sockets]
        each.close()
        for own in listening:
            own.setblocking(False)
            with contextlib.suppress(OSError), own:
                # The next statement closes it: what comes in between is lost.
                while len(taken) < get_connection_limit():
                    taken.append(own.accept()[0])
    loop = asyncio.get_running_loop()

    def protocol() -> BoundedProtocol:
        return BoundedProtocol(
            server.config, server.server_state, server.lifespan.state
        )

    for connection in taken:
        with contextlib.suppress(OSError):
            await loop.connect_accepted_socket(protocol, connection)


def wrap_lifespan(app: ASGIApp, ending: Ending, registry: Registry) -> ASGIApp:
    """The application, whose start takes the signals from the uvicorn server that runs it.

    It is ready when the toolset's lifespan has started; the application ends that.
    """

    async def started(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # While it serves, uvicorn has its server's own method for a handler.
            server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
            if server is not None:
                _listening(server)
            loop = asyncio.get_running_loop()
            starting = asyncio.ensure_future(registry.__aenter__())

            def stop() -> None:
                if server is not None:
                    server.should_exit = True
                with contextlib.suppress(RuntimeError):  # The loop has ended.
                    loop.call_soon_threadsafe(starting.cancel)

            ending.take_signals(stop)
            await asyncio.wait({starting})
            try:
                if not starting.cancelled():
                    starting.result()
            except LifespanError as error:
                # Said here: what fails in the application itself is told as a traceback.
                text = str(error)
                await send({"type": "lifespan.startup.failed", "message": text})
                return
        await app(scope, receive, send)

    return started


def _listening(server: uvicorn.Server) -> None:
    """Few are taken at once and many may wait before that; at the end no more are taken first.

    Of a worker nobody makes the server but uvicorn, so that it cannot be of a class of ours.
    """
    shutdown, serve = server.shutdown, server.main_loop

    async def served() -> None:
        for each in server.servers:
            for listener in each.sockets:
                with listener.dup() as own:
                    own.listen(_QUEUE)
        await serve()

    async def stopped(sockets: list[socket.socket] | None = None) -> None:
        await _stop_listening(server)
        await shutdown(sockets)

    server.shutdown = stopped  # type: ignore[method-assign]
    server.main_loop = served  # type: ignore[method-assign]


def run_workers(config: uvicorn.Config, listener: socket.socket, grace: int) -> None:
    """Serves in several processes until a signal ends them all.

    A worker that is still there when the grace period and the time for closing are over is
    killed; by then everything but its `atexit` was closed.

    Raises:
        SystemExit: a worker could not be started; it has said why.
    """

    class Supervisor(Multiprocess):
        def terminate_all(self) -> None:
            for number in SIGNALS:
                signal.signal(number, self._end_at_once)
            super().terminate_all()
            # Or the system would take connections that nobody answers.
            for each in self.sockets:
                each.close()
            timer = threading.Timer(grace + CLOSING_SECONDS, self._kill_all)
            timer.daemon = True
            timer.start()

        def _end_at_once(self, number: int, frame: FrameType | None) -> None:
            self._kill_all()
            os._exit(128 + number)

        def _kill_all(self) -> None:
            for process in self.processes:
                process.kill()

    supervisor = Supervisor(config, [listener])
    supervisor.run()
    if any(process.exitcode == START_FAILED for process in supervisor.processes):
        raise SystemExit(START_FAILED)
