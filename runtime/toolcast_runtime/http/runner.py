"""Serve a toolset's HTTP application with uvicorn, in one process or several.

After it has shut down, uvicorn raises the signal again, which would kill the process: `atexit`
functions would not run, and the process manager would see a failure. This module makes the
process exit normally, and limits the number of connections.

Requires `uvicorn`.
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
    CLOSE_TIMEOUT_S,
    DEFAULT_GRACE_S,
    SIGNALS,
    START_FAILED,
    ProcessSignals,
    detach_forked_children,
    gc_freeze,
)
from ..telemetry.log_lines import LogFormat, LogLevel, write_logs
from .app import build_http_app, resolve_listen_settings
from .connections import BoundedProtocol, get_connection_limit
from .endpoints import ListenSettings, log_endpoints
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..core.registry import Registry
    from ..mcp.toolset_server import ToolsetServer
    from .settings import HttpSettings

_DEFAULT_PATH = "/mcp/"
"""The path of the endpoint when only one client is served."""

_WORKER_VARIABLE = "TOOLCAST_HTTP_WORKER"
"""The environment variable that passes the options to worker processes, as JSON."""

_BACKLOG = 1_024
"""Maximum number of connections that the operating system queues before they are accepted.

The operating system may lower the number.
"""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The options of the command line; see its `--help`.

    Attributes:
        replica: whether other processes answer at the same address.
        client: the only client to serve; None serves all clients.
        path: the path of the endpoint when only one client is served; None for `/mcp/`.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    replica: bool = False
    keep_alive: int = 5
    grace: int = DEFAULT_GRACE_S
    log_format: LogFormat = "text"
    log_level: LogLevel = "info"
    client: str | None = None
    path: str | None = None
    local_tools: bool = False


def serve_http(server: ToolsetServer, options: HttpOptions) -> None:
    """Serve until a signal arrives; then finish or cancel the running calls.

    All resources are closed before the function returns. A second signal kills the process at once.

    Raises:
        SystemExit: the server cannot start; uvicorn has logged the reason.
        SettingsError: the server cannot start with these settings.
        LogsError: the log format or level cannot be used.
        SealingError: a tool must ask the user, but the server cannot with these settings.
        LookupError: the toolset does not have the client.
        AccessError: the clients' access to the tools cannot be determined.
    """
    write_logs(options.log_format, options.log_level)
    with gc_freeze():
        # Build the application even if only worker processes use it, so that each problem is
        # reported once and not by every worker.
        ending = ProcessSignals(options.grace)
        app: ASGIApp | str
        app, listening = _build_app(server, options, ending)
    if options.workers > 1:
        module = f"{server.registry.package}.mcp_server"
        os.environ[_WORKER_VARIABLE] = json.dumps({**asdict(options), "server": module})
        app = f"{__name__}:worker_app"
    settings = uvicorn.Config(
        app,
        factory=isinstance(app, str),
        host=options.host,
        port=options.port,
        workers=options.workers,
        timeout_graceful_shutdown=options.grace,
        timeout_keep_alive=options.keep_alive,
        access_log=False,
        # The application does not use the client address or scheme that a proxy reports.
        proxy_headers=False,
        # `write_logs` has configured the logs of this process; each worker calls it too.
        log_config=None,
        server_header=False,
        http=BoundedProtocol,
        # Disable WebSockets: there are no routes for them, and uvicorn would log the paths of
        # such requests.
        ws="none",
        # asyncio accepts this number of connections at a time, and reads from them before it
        # accepts more.
        backlog=get_connection_limit() // 24,
    )
    if options.workers > 1:
        listener = settings.bind_socket()
        # Listen now, so that connections wait in the queue until the first worker is ready,
        # instead of being refused.
        listener.listen(_BACKLOG)
        log_endpoints(listening, _format_origin(options.host, [listener]))
        run_workers(settings, listener, options.grace)
        return

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                listeners = self.servers[0].sockets
                log_endpoints(listening, _format_origin(options.host, listeners))

    # Install the signal handlers before uvicorn replaces them; it restores them at its end.
    ending.install_handlers()
    Server(settings).run()


def worker_app() -> ASGIApp:
    """Build the application of a worker process; uvicorn calls this function by name."""
    arguments = json.loads(os.environ[_WORKER_VARIABLE])
    with gc_freeze():
        server: ToolsetServer = importlib.import_module(arguments.pop("server")).SERVER
        options = HttpOptions(**arguments)
        write_logs(options.log_format, options.log_level)
        return _build_app(
            server, options, ProcessSignals(options.grace, is_worker=True)
        )[0]


def _build_app(
    server: ToolsetServer, options: HttpOptions, ending: ProcessSignals
) -> tuple[ASGIApp, ListenSettings]:
    """Build the application of one process, and return it with its listen settings."""
    if options.local_tools:
        server = replace(server, external=False)
    several = options.replica or options.workers > 1
    settings = _select_settings(server, options)
    listening = resolve_listen_settings(server, settings, options.host, several=several)
    router = build_http_app(server, listening, is_one_of_several=several)
    return wrap_lifespan(router, ending, server.registry), listening


def _format_origin(host: str, listeners: Sequence[Any]) -> str:
    """Return the scheme, host and port of the server's URLs."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listeners[0].getsockname()[1]}"


def _select_settings(server: ToolsetServer, options: HttpOptions) -> HttpSettings:
    """Return the HTTP settings, with only the selected client's endpoint if any."""
    if server.http is None:
        raise SettingsError("the toolset has no HTTP settings")
    if options.client is None and options.path is None:
        return server.http
    client = server.client if options.client is None else options.client
    endpoints = [e for e in server.http.endpoints if e.client == client]
    if not endpoints:
        raise SettingsError(f"the client `{client}` has no endpoint")
    endpoint = replace(endpoints[0], path=options.path or _DEFAULT_PATH)
    return replace(server.http, endpoints=(endpoint,))


async def _stop_listening(server: uvicorn.Server) -> None:
    """Close the listening sockets, after accepting the connections in their queues.

    The operating system would reset queued connections, which may already contain a request.
    """
    connections: list[socket.socket] = []
    for asyncio_server in server.servers:
        # Duplicates stay open when asyncio closes its own sockets.
        listeners = [listener.dup() for listener in asyncio_server.sockets]
        asyncio_server.close()
        for listener in listeners:
            listener.setblocking(False)
            with contextlib.suppress(OSError), listener:
                # A connection that arrives between the last `accept` and the close is lost.
                while len(connections) < get_connection_limit():
                    connections.append(listener.accept()[0])
    loop = asyncio.get_running_loop()

    def build_protocol() -> BoundedProtocol:
        return BoundedProtocol(
            server.config, server.server_state, server.lifespan.state
        )

    for connection in connections:
        with contextlib.suppress(OSError):
            await loop.connect_accepted_socket(build_protocol, connection)


def wrap_lifespan(app: ASGIApp, ending: ProcessSignals, registry: Registry) -> ASGIApp:
    """Wrap an application to handle signals and start the toolset's lifespan.

    The signal handlers replace those of the uvicorn server that runs the application. The
    wrapped application closes the registry, which ends the toolset's lifespan.
    """

    async def wrapped_app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # The server object is found by uvicorn's signal handler, which is its bound method.
            server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
            if server is not None:
                _patch_listening(server)
            loop = asyncio.get_running_loop()
            starting = asyncio.ensure_future(registry.__aenter__())

            def stop() -> None:
                if server is not None:
                    server.should_exit = True
                # `call_soon_threadsafe` raises RuntimeError if the loop is closed.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(starting.cancel)

            ending.install_handlers(stop)
            await asyncio.wait({starting})
            try:
                if not starting.cancelled():
                    starting.result()
            except LifespanError as error:
                # Send the failure event instead of raising: uvicorn would log a traceback.
                message = str(error)
                await send({"type": "lifespan.startup.failed", "message": message})
                return
        await app(scope, receive, send)

    return wrapped_app


def _patch_listening(server: uvicorn.Server) -> None:
    """Make a server use a long accept queue, and empty the queue when it shuts down.

    uvicorn creates the server object of a worker, so it cannot be an instance of a subclass.
    """
    original_shutdown, original_main_loop = server.shutdown, server.main_loop

    def list_descriptors() -> list[int]:
        sockets = [sock for opened in server.servers for sock in opened.sockets]
        for protocol in server.server_state.connections:
            transport = getattr(protocol, "transport", None)
            if transport is not None:
                sockets.append(transport.get_extra_info("socket"))
        return [sock.fileno() for sock in sockets if sock is not None]

    async def main_loop() -> None:
        detach_forked_children(list_descriptors)
        # uvicorn's `backlog` is also the number of connections that are accepted at a time,
        # so the longer queue is set afterwards.
        for asyncio_server in server.servers:
            for listener in asyncio_server.sockets:
                with listener.dup() as duplicate:
                    duplicate.listen(_BACKLOG)
        await original_main_loop()

    async def shutdown(sockets: list[socket.socket] | None = None) -> None:
        await _stop_listening(server)
        await original_shutdown(sockets)

    server.shutdown = shutdown  # type: ignore[method-assign]
    server.main_loop = main_loop  # type: ignore[method-assign]


def run_workers(config: uvicorn.Config, listener: socket.socket, grace: int) -> None:
    """Serve in several worker processes until a signal arrives.

    A worker that still runs after the grace period and the time for closing is killed; by
    then it has closed everything, and only its `atexit` functions may not have run.

    Raises:
        SystemExit: a worker could not start; it has logged the reason.
    """

    class Supervisor(Multiprocess):
        def terminate_all(self) -> None:
            for number in SIGNALS:
                signal.signal(number, self._end_at_once)
            super().terminate_all()
            # Close the sockets, because the operating system would otherwise queue further
            # connections that no process answers.
            for listening_socket in self.sockets:
                listening_socket.close()
            timer = threading.Timer(grace + CLOSE_TIMEOUT_S, self._kill_all)
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
