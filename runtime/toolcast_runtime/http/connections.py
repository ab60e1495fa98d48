"""uvicorn's HTTP with bounds on connections and on what one of them may cost the others.

uvicorn bounds neither how many connections there are, nor how long they may take for a request's
head: a few hundred callers that begin a request and never end it would use up the descriptors of
the process, and nobody else would be answered.

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

HEAD_SECONDS = 10.0
"""From the opening of a connection, or its last answer, to the end of a request's head."""

LAST_SECONDS = 0.5
"""How long a connection on which nothing runs may bring a request when the server ends."""

_LENGTH = b"content-length"
_LAST_ANSWER = (b"connection", b"close")
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: 0\r\n\r\n"
)

MAX_CONNECTIONS = 1_200
"""Open connections; fewer if the process has few file descriptors."""

MAX_ADMITTED_CONNECTIONS = 1_000
"""Connections with an admitted request; fewer if the process has few file descriptors."""

_MIN_CONNECTIONS = 16
"""Connections that are allowed however few file descriptors there are."""
_UNREAD_SECONDS = 0.05
"""How long a connection may bring nothing before it makes room for others."""
_LINES = 200
"""Of heads, and of chunks, that are read of a connection in a turn; a head has hardly more."""
# In the order in which they came, or were last let in.
_waiting: dict[BoundedProtocol, None] = {}
_admitted: dict[BoundedProtocol, None] = {}


def most_connections() -> int:
    """How many there may be: three quarters of the descriptors at most."""
    return _of_descriptors(MAX_CONNECTIONS, 3)


def most_admitted() -> int:
    """How many may be admitted: half of the descriptors at most, so that others are heard."""
    return _of_descriptors(MAX_ADMITTED_CONNECTIONS, 2)


def _of_descriptors(most: int, quarters: int) -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return most
    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most if few < 0 else max(_MIN_CONNECTIONS, min(most, few * quarters // 4))


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP with a deadline for heads and a bound on connections.

    A connection waits to be admitted until the first request whose host and token were right.
    Of too many, of either kind, that is closed which brings nothing and is there for longest.
    Where whole requests of all of them are here, the answer is 503: of those that wait to the
    oldest, so that a newcomer is always heard; of those admitted to the newest, since calls run.
    While many wait, a connection that is not admitted has one answer.

    Each header and each chunk takes the time of a long text, however short it is: after some of
    them the others have their turn.
    """

    def connection_made(self, transport: Any) -> None:
        self._joining = _Joining(transport)
        super().connection_made(cast("asyncio.Transport", self._joining))
        self._answering, self.app = self.app, self._begun
        self._deadline: asyncio.TimerHandle | None = None
        self._unread, self._lines = bytearray(), 0
        self._await_head()
        _waiting[self] = None
        is_full = len(_waiting) + len(_admitted) > most_connections()
        if is_full and not _is_room_made(_waiting):
            next(iter(_waiting)).make_room()

    def data_received(self, data: bytes) -> None:
        """Reads what is short at once."""
        is_in_turn = bool(self._unread)
        self._unread += data
        if is_in_turn:
            self.transport.pause_reading()
        else:
            self._read_on()

    def on_response_complete(self) -> None:
        """The next request may be here."""
        if not self.transport.is_closing():
            self._await_head()
        super().on_response_complete()
        if self._unread:
            self.loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        is_head = self.conn.their_state is h11.IDLE
        if self.transport.is_closing() or not self._unread:
            return
        if self.conn.their_state is h11.DONE:
            # It waits for the answer to the request before.
            self.transport.pause_reading()
            return
        end, lines = len(self._unread), self._unread.count(b"\n")
        if lines >= _LINES:
            end = lines = 0
            while lines < _LINES:
                end, lines = self._unread.index(b"\n", end) + 1, lines + 1
        piece = bytes(self._unread[:end])
        del self._unread[:end]
        super().data_received(piece)
        is_head = is_head and self.conn.their_state is h11.IDLE
        self._lines = self._lines + lines if is_head else 0
        if self._lines > _LINES and not self.transport.is_closing():
            self.send_400_response("The request has too many headers.")
        elif self._unread:
            self.transport.pause_reading()
            self.loop.call_soon(self._read_on)
        elif not self.flow.read_paused:
            self.transport.resume_reading()

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
        is_full = self not in _admitted and len(_admitted) >= most_admitted()
        if is_full and not _is_room_made(_admitted):
            return False
        if not self.transport.is_closing():
            _waiting.pop(self, None)
            _admitted.pop(self, None)
            _admitted[self] = None
        return True

    def has_body(self) -> bool:
        """Whether the whole body of the request is here."""
        return not self.cycle.more_body

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
        self._since, self._is_asked = self.loop.time(), False
        # One timer serves many requests: at its end it is seen whether one is late.
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._end_late)

    def _end_late(self) -> None:
        """Ends the connection when a head is late; the next look is when it would be."""
        self._deadline = None
        if self._is_asked:
            return
        left = self._since + HEAD_SECONDS - self.loop.time()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._end_late)
        else:
            self.give_up()

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _begun(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answers a request whose head is here."""
        self._since, self._is_asked = self.loop.time(), True
        scope["extensions"] = {ADMITTED: self.admit, ARRIVED: self.has_body}

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                # Only what has a length is there as a whole: a stream's head goes ahead.
                self._joining.is_head = _LENGTH in dict(headers)
                if self in _waiting and len(_waiting) > most_connections() // 4:
                    message = {**message, "headers": [*headers, _LAST_ANSWER]}
            await send(message)

        answering: ASGIApp = self._answering
        return answering(scope, receive, sent)


class _Joining:
    """A transport that sends the head of an answer together with what follows it.

    Each piece that is sent by itself wakes the caller up.

    Attributes:
        is_head: what is written next is such a head.
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


def _is_room_made(among: dict[BoundedProtocol, None]) -> bool:
    """Whether there was a connection to close that brings nothing."""
    quiet = next((each for each in among if each.is_quiet()), None)
    if quiet is not None:
        quiet.make_room()
    return quiet is not None
