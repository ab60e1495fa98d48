"""Messages into a pipe, written by the event loop itself, which never waits for the client."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from mcp_types import JSONRPCError, JSONRPCResponse

from .json_lines import line_of
from .nonblocking import writer_of

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCNotification

__all__ = ["Outgoing"]

_logger = logging.getLogger("toolcast")

_SOME_UNSENT = 1 << 20
"""Bytes that wait for the client before whoever sends has to wait too."""
_MOST_UNSENT = 1 << 22
"""Bytes that wait for the client before nothing more is read from it."""
_PATIENCE = 5.0
"""Seconds that the last answers may take when the client has closed its side."""


class Outgoing:
    """The SDK's WriteStream: messages into a pipe.

    Attributes:
        unanswered: the numbers of the requests that have no answer yet.
        when_full: called when so much waits for the client that it should not ask for more.
        when_drained: called when the client has taken something that waited for it.
        when_gone: called when the client has closed its side.
    """

    def __init__(self, number: int) -> None:
        self.unanswered: set[int | str] = set()
        self.when_full: Callable[[], None] = _nothing
        self.when_drained: Callable[[], None] = _nothing
        self.when_gone: Callable[[], None] = _nothing
        self._number = number
        self._write_some = writer_of(number)
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[memoryview] = deque()
        self._unsent_bytes = 0
        self._drained: asyncio.Future[None] | None = None
        self._answered: asyncio.Future[None] | None = None
        self._is_open = True

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the client that it should not ask for more."""
        return self._unsent_bytes > _MOST_UNSENT

    @property
    def is_behind(self) -> bool:
        """Whether so much waits for the client that whoever sends more should wait."""
        return self._unsent_bytes > _SOME_UNSENT

    def write(self, line: bytes) -> None:
        """Sends a line, or keeps what the client does not take yet."""
        if not self._is_open:
            return
        rest = memoryview(line)
        if not self._unsent:
            rest = self._sent_from(rest)
            if rest and self._is_open:
                self._loop.add_writer(self._number, self._writable)
        if rest and self._is_open:
            self._unsent.append(rest)
            self._unsent_bytes += len(rest)
            if self.is_full:
                self.when_full()

    async def send(self, item: SessionMessage) -> None:
        """Sends a message; waits while the client leaves too much unread.

        Raises:
            anyio.BrokenResourceError: the client is gone.
        """
        message = item.message
        if self._is_open:
            if isinstance(message, (JSONRPCResponse, JSONRPCError)):
                self.answer(message)
            else:
                self.write(line_of(message))
            if self.is_behind:
                await self._until_below(_SOME_UNSENT)
        if not self._is_open:
            raise anyio.BrokenResourceError

    def answer(self, message: JSONRPCResponse | JSONRPCError) -> None:
        """Sends an answer, or keeps what the client does not take yet."""
        self.write(line_of(message))
        self._settle(message.id)

    def forget(self, message: JSONRPCNotification) -> None:
        """Takes note that a cancelled request gets no answer."""
        if message.method == "notifications/cancelled" and message.params:
            number = message.params.get("requestId")
            if isinstance(number, (int, str)):
                self._settle(number)

    async def until_answered(self, patience: float) -> None:
        """Waits, for so many seconds, until every request has its answer."""
        try:
            async with asyncio.timeout(patience):
                while self._is_open and self.unanswered:
                    self._answered = self._loop.create_future()
                    await self._answered
        except TimeoutError:
            _logger.warning("the client left before %d answers", len(self.unanswered))

    async def aclose(self) -> None:
        """Waits, for a while, until the client has taken everything."""
        if self._is_open and self._unsent:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self._until_below(0)
            except TimeoutError:
                _logger.warning("the client did not read its last answers")
        self.close()

    def close(self) -> None:
        """Drops what was not sent."""
        self._is_open = False
        if self._unsent:
            self._loop.remove_writer(self._number)
            self._unsent.clear()
            self._unsent_bytes = 0
        for waiter in (self._drained, self._answered):
            if waiter is not None:
                _wake(waiter)

    async def __aenter__(self) -> Outgoing:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _settle(self, number: int | str | None) -> None:
        if number is not None:
            self.unanswered.discard(number)
        if not self.unanswered and self._answered is not None:
            _wake(self._answered)

    async def _until_below(self, most: int) -> None:
        while self._is_open and self._unsent_bytes > most:
            if self._drained is None or self._drained.done():
                self._drained = self._loop.create_future()
            await asyncio.shield(self._drained)

    def _sent_from(self, data: memoryview) -> memoryview:
        """Sends what can be sent now, and gives the rest."""
        try:
            return data[self._write_some(data) :]
        except OSError:
            # The client is gone; nobody is left to be told.
            self.close()
            self.when_gone()
            return data[:0]

    def _writable(self) -> None:
        before = self._unsent_bytes
        while self._unsent:
            first = self._unsent[0]
            rest = self._sent_from(first)
            if not self._is_open:
                return
            self._unsent_bytes -= len(first) - len(rest)
            if rest:
                self._unsent[0] = rest
                break
            self._unsent.popleft()
        if not self._unsent:
            self._loop.remove_writer(self._number)
        if self._unsent_bytes < before:
            self._tell()

    def _tell(self) -> None:
        if self._drained is not None:
            _wake(self._drained)
        if self._is_open:
            self.when_drained()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _nothing() -> None:
    """What happens before somebody wants to be told."""
