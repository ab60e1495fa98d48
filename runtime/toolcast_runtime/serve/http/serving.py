"""Serves a toolset's HTTP application with uvicorn, in one process or several.

uvicorn bounds neither how many connections there are, nor how long they may take for a request's
head: a few hundred callers that begin a request and never end it would use up the descriptors of
the process, and nobody else would be answered. And it raises a signal again when it has served,
which ends the process by it: nothing of `atexit` runs, and whoever asked for the end is told of a
failure. Both are mended here.

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
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from ...core.toolset_settings import LifespanError
from ..stdio.process import (
    CLOSING_SECONDS,
    GRACE_SECONDS,
    SIGNALS,
    START_FAILED,
    Ending,
    gc_freeze,
)
from ..telemetry.log_lines import LogFormat, LogLevel, write_logs
from .app import http_app, listening_at
from .guard import ADMITTED
from .listening import Listening, tell_endpoints
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from ...core.registry import Registry
    from ..mcp.toolset_server import ToolsetServer
    from .settings import HttpSettings

_ALONE = "/mcp/"
_VARIABLE = "TOOLCAST_HTTP_WORKER"


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
        SealingError: so it is where a tool has to ask a person.
        LookupError: the toolset has no client of a name.
        AccessError: who may have which tool cannot be found out.
    """
    write_logs(options.log_format, options.log_level)
    with gc_freeze():
        # Built here as well, so that what is wrong is said once and not by each worker.
        ending = Ending(options.grace)
        app: ASGIApp | str
        app, listening = _app(server, options, ending)
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
        # As many are taken at once: what was sent on these is read before the next come.
        backlog=most_connections() // 24,
    )
    if options.workers > 1:
        listener = settings.bind_socket()
        # Who comes before the first worker is ready waits, and is not refused.
        listener.listen(_QUEUE)
        tell_endpoints(listening, _origin(options.host, [listener]))
        supervise(settings, listener, options.grace)
        return

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
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
        server: ToolsetServer = importlib.import_module(given.pop("server")).SERVER
        options = HttpOptions(**given)
        write_logs(options.log_format, options.log_level)
        return _app(server, options, Ending(options.grace, is_worker=True))[0]


def _app(
    server: ToolsetServer, options: HttpOptions, ending: Ending
) -> tuple[ASGIApp, Listening]:
    """The application of one process, and where it is to be reached."""
    if options.local_tools:
        server = replace(server, external=False)
    several = options.replica or options.workers > 1
    settings = _settings(server, options)
    listening = listening_at(server, settings, options.host, several=several)
    router = http_app(server, listening, is_one_of_several=several)
    return ending_app(router, ending, server.registry), listening


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


HEAD_SECONDS = 10.0
"""From the opening of a connection, or its last answer, to the end of a request's head."""

LAST_SECONDS = 0.5
"""How long a connection on which nothing runs may bring a request when the server ends."""

_LAST_ANSWER = (b"connection", b"close")
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: 0\r\n\r\n"
)

MOST_CONNECTIONS = 1_200

MOST_ADMITTED = 1_000
"""Connections that a request was admitted on; fewer where descriptors are few."""

_FEWEST = 16
_QUEUE = 1_024
"""Connections that the system keeps until they are taken; it may keep fewer."""
_UNREAD_SECONDS = 0.05
"""How long a connection may bring nothing before it makes room for others."""
# In the order in which they came, or were last let in.
_waiting: dict[BoundedProtocol, None] = {}
_admitted: dict[BoundedProtocol, None] = {}


def most_connections() -> int:
    """How many there may be: three quarters of the descriptors at most."""
    return _of_descriptors(MOST_CONNECTIONS, 3)


def most_admitted() -> int:
    """How many may be admitted: half of the descriptors at most, so that others are heard."""
    return _of_descriptors(MOST_ADMITTED, 2)


def _of_descriptors(most: int, quarters: int) -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return most
    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most if few < 0 else max(_FEWEST, min(most, few * quarters // 4))


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
                while len(taken) < most_connections():
                    taken.append(own.accept()[0])
    loop = asyncio.get_running_loop()

    def protocol() -> BoundedProtocol:
        return BoundedProtocol(
            server.config, server.server_state, server.lifespan.state
        )

    for connection in taken:
        with contextlib.suppress(OSError):
            await loop.connect_accepted_socket(protocol, connection)


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP with a deadline for heads and a bound on connections.

    A connection waits to be admitted until the first request whose host and token were right.
    Of too many, of either kind, that is closed which brings nothing and is there for longest.
    Where whole requests of all of them are here, the answer is 503: of those that wait to the
    oldest, so that a newcomer is always heard; of those admitted to the newest, since calls run.
    While many wait, a connection that is not admitted has one answer.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app: Any = self._watched(self.app)
        self._deadline: asyncio.TimerHandle | None = None
        self._await_head()
        _waiting[self] = None
        is_full = len(_waiting) + len(_admitted) > most_connections()
        if is_full and not _is_room_made(_waiting):
            next(iter(_waiting)).make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server ends. A request that is on its way is answered, as its connection's last."""
        state = self.server_state
        if _LAST_ANSWER not in state.default_headers:
            state.default_headers = [*state.default_headers, _LAST_ANSWER]
        # Handed to `call_later` and nobody else.
        self.timeout_keep_alive = LAST_SECONDS  # type: ignore[assignment]
        if self.cycle is not None:
            self.cycle.default_headers = state.default_headers
        self.loop.call_later(LAST_SECONDS, self._end_idle)

    def _end_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.timeout_keep_alive_handler()

    def admit(self) -> bool:
        """Whether there is room for a request of its, which was let in."""
        is_full = len(_admitted) >= most_admitted()
        if self not in _admitted and is_full and not _is_room_made(_admitted):
            return False
        if not self.transport.is_closing():
            _waiting.pop(self, None)
            _admitted.pop(self, None)
            _admitted[self] = None
        return True

    def is_quiet(self) -> bool:
        """Whether no whole request of its is here, though one had the time to come."""
        if self._is_asked and not self.cycle.more_body:
            return False
        return self.loop.time() - self._since > _UNREAD_SECONDS

    def make_room(self) -> None:
        """Ends the connection, with an answer if a request has none yet."""
        if self.cycle is None or not self.cycle.response_started:
            self._forget()
            self.transport.write(_FULL)
            self.transport.close()
        else:
            self.give_up()

    def give_up(self) -> None:
        """Ends the connection at once; what it was sending is lost."""
        self._forget()
        self.transport.abort()

    def _forget(self) -> None:
        _waiting.pop(self, None)
        _admitted.pop(self, None)
        self._forget_deadline()

    def _await_head(self) -> None:
        self._forget_deadline()
        self._since, self._is_asked = self.loop.time(), False
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watched(self, app: Any) -> ASGIApp:
        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            self._forget_deadline()
            self._since, self._is_asked = self.loop.time(), True
            scope["extensions"] = {**scope.get("extensions", {}), ADMITTED: self.admit}

            async def sent(message: Any) -> None:
                begins = message["type"] == "http.response.start"
                is_crowded = len(_waiting) > most_connections() // 4
                if begins and is_crowded and self in _waiting:
                    headers = [*message.get("headers", ()), _LAST_ANSWER]
                    message = {**message, "headers": headers}
                await send(message)

            try:
                await app(scope, receive, sent)
            finally:
                if not self.transport.is_closing():
                    self._await_head()

        return watched


def _is_room_made(among: dict[BoundedProtocol, None]) -> bool:
    """Whether there was a connection to close that brings nothing."""
    quiet = next((each for each in among if each.is_quiet()), None)
    if quiet is not None:
        quiet.make_room()
    return quiet is not None


def ending_app(app: ASGIApp, ending: Ending, registry: Registry) -> ASGIApp:
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


def supervise(config: uvicorn.Config, listener: socket.socket, grace: int) -> None:
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
