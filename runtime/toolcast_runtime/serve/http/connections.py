"""Connections: how many there may be, and how long they may take for a request's head.

Needs `uvicorn`, which bounds neither: a few hundred callers that begin a request and never end
it would use up the descriptors of the process, and nobody else would be answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from .guard import ADMITTED

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from uvicorn import Server

HEAD_SECONDS = 10.0
"""From the opening of a connection, or its last answer, to the end of a request's head."""

LAST_SECONDS = 0.5
"""How long a connection on which nothing runs may bring a request when the server ends."""

_LAST_ANSWER = (b"connection", b"close")

MOST_WAITING = 200
"""Connections that no request was admitted on; fewer where descriptors are few."""

MOST_ADMITTED = 1_000
"""Connections that a request was admitted on; fewer where descriptors are few."""

_FEWEST = 16
# In the order in which they came, or were last let in.
_waiting: dict[BoundedProtocol, None] = {}
_admitted: dict[BoundedProtocol, None] = {}


def most_waiting() -> int:
    """How many connections may wait to be admitted: a quarter of the descriptors at most."""
    return _of_descriptors(MOST_WAITING, 4)


def most_admitted() -> int:
    """How many connections may be admitted: half of the descriptors at most."""
    return _of_descriptors(MOST_ADMITTED, 2)


def _of_descriptors(most: int, part: int) -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return most
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most if descriptors < 0 else max(_FEWEST, min(most, descriptors // part))


async def stop_listening(server: Server) -> None:
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
                while len(taken) < most_waiting():
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

    Where one connection too many waits to be admitted, that which waits longest is closed: a
    newcomer is always answered. A connection counts as admitted from the first request whose
    host and token were right. Of too many of these, that which has asked for nothing for the
    longest time is closed.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app: Any = self._watched(self.app)
        self._deadline: asyncio.TimerHandle | None = None
        self._await_head()
        _waiting[self] = None
        while len(_waiting) > most_waiting():
            next(iter(_waiting)).give_up()

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

    def admit(self) -> None:
        """A request of its was let in."""
        if self.transport.is_closing():
            return
        _waiting.pop(self, None)
        _admitted.pop(self, None)
        _admitted[self] = None
        while len(_admitted) > most_admitted():
            next(iter(_admitted)).give_up()

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
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watched(self, app: Any) -> ASGIApp:
        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            self._forget_deadline()
            scope["extensions"] = {**scope.get("extensions", {}), ADMITTED: self.admit}
            try:
                await app(scope, receive, send)
            finally:
                if not self.transport.is_closing():
                    self._await_head()

        return watched
