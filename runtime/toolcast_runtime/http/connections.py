"""uvicorn's HTTP/1.1 protocol with limits on connections and their cost.

uvicorn limits neither the number of connections nor the time that the head of a request may
take. A few hundred clients that send half a request would use up the process's file descriptors,
and the server could not accept any other connection.

Needs `uvicorn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .request_limits import ADMITTED, ARRIVED

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

    from starlette.types import ASGIApp, Receive, Scope, Send

HEAD_TIMEOUT_S = 10.0
"""Time for the head of a request, from the connection's start or its previous response."""

IDLE_SHUTDOWN_S = 0.5
"""Time in which an idle connection may still send a request when the server shuts down."""

_CONTENT_LENGTH = b"content-length"
_CLOSE_HEADER = (b"connection", b"close")
_SERVER_FULL_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: 0\r\n\r\n"
)

MAX_CONNECTIONS = 1_200
"""Maximum number of open connections; lower if the process has few file descriptors."""

MAX_ADMITTED_CONNECTIONS = 1_000
"""Maximum number of admitted connections; lower if the process has few descriptors."""

_MIN_CONNECTIONS = 16
"""Lower bound of both limits, even if the process has fewer file descriptors."""

_QUIET_S = 0.05
"""Time without a complete request after which a connection may be closed for a new one."""

_MAX_LINES = 200
"""Maximum number of lines in a request's head.

Also the number of lines that are parsed at once, before other connections continue.
"""

# Dicts are used as ordered sets: `_waiting` is ordered by the time of connection, `_admitted`
# by the time of the last admitted request.
_waiting: dict[BoundedProtocol, None] = {}
_admitted: dict[BoundedProtocol, None] = {}


def get_connection_limit() -> int:
    """Return the maximum number of connections: at most 3/4 of the descriptors."""
    return _limit_by_descriptors(MAX_CONNECTIONS, 3)


def get_admission_limit() -> int:
    """Return the maximum number of admitted connections: at most half the descriptors.

    It is lower than the limit of all connections, so that new connections can still be read.
    """
    return _limit_by_descriptors(MAX_ADMITTED_CONNECTIONS, 2)


def _limit_by_descriptors(limit: int, quarters: int) -> int:
    """Lower a limit to some quarters of the process's file descriptors."""
    try:
        import resource
    except ImportError:
        # The module `resource` is missing on Windows, which has no such limit.
        return limit
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    # A negative value means that the number of descriptors is unlimited.
    if descriptors < 0:
        return limit
    return max(_MIN_CONNECTIONS, min(limit, descriptors * quarters // 4))


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with a timeout for heads and a limit of connections.

    A connection is *waiting* until its first request with a valid host and token; then it is
    *admitted*. If there are too many connections of either kind, the oldest one without a
    complete request is closed. If all of them have a complete request, one gets a 503: the
    oldest of the waiting connections, so that a new connection is always read, or the newest
    of the admitted ones, because the others' calls are running. While many connections wait,
    a waiting connection is closed after one response.

    Parsing a header or a chunk is expensive even if it is short, so other connections continue
    after some lines.
    """

    def connection_made(self, transport: Any) -> None:
        """Register the connection as waiting; close another one if there are too many."""
        self._joining = _JoiningTransport(transport)
        super().connection_made(cast("asyncio.Transport", self._joining))
        self._wrapped_app, self.app = self.app, self._handle_request
        self._deadline: asyncio.TimerHandle | None = None
        self._unread, self._lines = bytearray(), 0
        self._await_head()
        _waiting[self] = None
        is_full = len(_waiting) + len(_admitted) > get_connection_limit()
        if is_full and not _close_quiet_connection(_waiting):
            next(iter(_waiting)).evict()

    def data_received(self, data: bytes) -> None:
        """Buffer the data, and parse the first lines of it unless parsing is under way."""
        is_parsing = bool(self._unread)
        self._unread += data
        if is_parsing:
            self.transport.pause_reading()
        else:
            self._parse_unread()

    def on_response_complete(self) -> None:
        """Start the timeout for the next head, and parse data that has already arrived."""
        if not self.transport.is_closing():
            self._await_head()
        super().on_response_complete()
        if self._unread:
            self.loop.call_soon(self._parse_unread)

    def _parse_unread(self) -> None:
        """Parse up to 200 lines of the buffered data; schedule itself for the rest."""
        is_head = self.conn.their_state is h11.IDLE
        if self.transport.is_closing() or not self._unread:
            return
        if self.conn.their_state is h11.DONE:
            # Pause reading: a pipelined request is parsed after the response to the previous
            # request.
            self.transport.pause_reading()
            return
        end, lines = len(self._unread), self._unread.count(b"\n")
        if lines >= _MAX_LINES:
            end = lines = 0
            while lines < _MAX_LINES:
                end, lines = self._unread.index(b"\n", end) + 1, lines + 1
        piece = bytes(self._unread[:end])
        del self._unread[:end]
        super().data_received(piece)
        is_head = is_head and self.conn.their_state is h11.IDLE
        self._lines = self._lines + lines if is_head else 0
        if self._lines > _MAX_LINES and not self.transport.is_closing():
            self.send_400_response("The request has too many headers.")
        elif self._unread:
            self.transport.pause_reading()
            self.loop.call_soon(self._parse_unread)
        elif not self.flow.read_paused:
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the counts and cancel its timeout."""
        self._unregister()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the connection after its current or next response, or when it stays idle."""
        state = self.server_state
        if _CLOSE_HEADER not in state.default_headers:
            state.default_headers = [*state.default_headers, _CLOSE_HEADER]
        # uvicorn declares an integer, but only passes the value to `call_later`.
        self.timeout_keep_alive = IDLE_SHUTDOWN_S  # type: ignore[assignment]
        if self.cycle is not None:
            self.cycle.default_headers = state.default_headers
        self.loop.call_later(IDLE_SHUTDOWN_S, self._end_idle)

    def _end_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.timeout_keep_alive_handler()

    def admit(self) -> bool:
        """Admit the connection, and return whether the limit allows it.

        The request guard calls this for a request with a valid host and token.
        """
        is_full = self not in _admitted and len(_admitted) >= get_admission_limit()
        if is_full and not _close_quiet_connection(_admitted):
            return False
        if not self.transport.is_closing():
            _waiting.pop(self, None)
            _admitted.pop(self, None)
            _admitted[self] = None
        return True

    def has_body(self) -> bool:
        """Return whether the complete body of the current request has arrived."""
        return not self.cycle.more_body

    def is_quiet(self) -> bool:
        """Return whether the connection had time to send a complete request but did not."""
        if self._has_head and not self.cycle.more_body:
            return False
        return self.loop.time() - self._since > _QUIET_S

    def evict(self) -> None:
        """Close the connection, with a 503 if no response to a request has started."""
        if self.cycle is None or not self.cycle.response_started:
            self._unregister()
            self.transport.write(_SERVER_FULL_RESPONSE)
            self.transport.close()
        else:
            self.abort()

    def abort(self) -> None:
        """Close the connection at once; unsent data is lost."""
        self._unregister()
        self.transport.abort()

    def _unregister(self) -> None:
        _waiting.pop(self, None)
        _admitted.pop(self, None)
        self._cancel_deadline()

    def _await_head(self) -> None:
        self._since, self._has_head = self.loop.time(), False
        # Keep one timer per connection instead of one per request. When the timer fires, it
        # checks whether the current head is late.
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self._check_deadline)

    def _check_deadline(self) -> None:
        """Abort the connection if a head is late; otherwise set the timer to its deadline."""
        self._deadline = None
        if self._has_head:
            return
        remaining = self._since + HEAD_TIMEOUT_S - self.loop.time()
        if remaining > 0:
            self._deadline = self.loop.call_later(remaining, self._check_deadline)
        else:
            self.abort()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _handle_request(
        self, scope: Scope, receive: Receive, send: Send
    ) -> Awaitable[None]:
        """Call the application for a request whose head is complete."""
        self._since, self._has_head = self.loop.time(), True
        scope["extensions"] = {ADMITTED: self.admit, ARRIVED: self.has_body}

        async def send_adjusted(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                # Delay only heads with a Content-Length. The head of a stream is sent at once,
                # because its first part may follow much later.
                self._joining.is_head = _CONTENT_LENGTH in dict(headers)
                if self in _waiting and len(_waiting) > get_connection_limit() // 4:
                    message = {**message, "headers": [*headers, _CLOSE_HEADER]}
            await send(message)

        app: ASGIApp = self._wrapped_app
        return app(scope, receive, send_adjusted)


class _JoiningTransport:
    """Transport that sends the head of a response together with its body.

    With two separate writes, the client would wake up twice.

    Attributes:
        is_head: whether the next write is a head to delay.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self.is_head = False
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        if self.is_head:
            self._head, self.is_head = data, False
            return
        if self._head:
            data, self._head = self._head + data, b""
        self._transport.write(data)

    def close(self) -> None:
        self.write(b"")
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _close_quiet_connection(connections: dict[BoundedProtocol, None]) -> bool:
    """Close the oldest quiet connection, and return whether there was one."""
    for connection in connections:
        if connection.is_quiet():
            connection.evict()
            return True
    return False
