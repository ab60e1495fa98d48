"""Messages from a pipe, read by the event loop itself."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from .json_lines import LineSplitter, has_id, refusal
from .stdio_writing import Outgoing

if TYPE_CHECKING:
    from types import TracebackType

    from mcp_types import JSONRPCMessage

    from .stdio_calls import DirectCalls

__all__ = ["Incoming"]

_logger = logging.getLogger("toolcast")

_READ_BYTES = 1 << 16
_MOST_WAITING = 256
"""Messages that are read ahead of the session."""
_MOST_BEFORE = 8
"""Messages before the first request that are not dropped."""
_MOST_AT_ONCE = 32
"""Calls that begin in one turn of the loop before others get theirs."""
_OF_ANSWERS = (b'"result"', b'"error"', b"\\u")
"""A line without these, spelled out or escaped, is a request if it can be one."""
_PATIENCE = 2.0
"""Seconds that calls may still take when the client has closed its side."""


class Incoming:
    """The SDK's ReadStream: messages from a pipe.

    Attributes:
        direct: answers calls that need no session; None where there is no such thing.
    """

    def __init__(self, number: int, outgoing: Outgoing) -> None:
        self._number = number
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._lines = LineSplitter()
        self._messages: deque[SessionMessage] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._is_open = True
        self._is_reading = False
        self._at_once = 0
        self.direct: DirectCalls | None = None
        outgoing.when_full, outgoing.when_drained = self.pause, self.resume
        outgoing.when_gone = self.close
        self.resume()

    def resume(self) -> None:
        """Reads on, unless there is more than enough in both directions."""
        is_full = len(self._messages) >= _MOST_WAITING // 2
        if self._is_open and not (
            self._is_reading or is_full or self._outgoing.is_full
        ):
            self._is_reading = True
            self._loop.add_reader(self._number, self._readable)

    def pause(self) -> None:
        """Reads nothing more for now."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._number)

    def close(self) -> None:
        """Ends the stream; what was read before is still given."""
        self._is_open = False
        self.pause()
        self._wake()

    async def first_request(self) -> JSONRPCRequest | None:
        """The first request, which is given again; None when the stream ends before.

        Of what comes before it, eight messages are kept, as the SDK does.
        """
        lead: list[SessionMessage] = []
        first: JSONRPCRequest | None = None
        async for item in self:
            if isinstance(item.message, JSONRPCRequest):
                first = item.message
                self._messages.appendleft(item)
                break
            if len(lead) < _MOST_BEFORE:
                lead.append(item)
        self._messages.extendleft(reversed(lead))
        return first

    async def receive(self) -> SessionMessage:
        """The next message.

        The end is told when what was asked has been answered, or has taken too long: the
        session gives up its calls then, and `echo ... | server` wants its answers.

        Raises:
            anyio.EndOfStream: there is none any more.
        """
        while not self._messages:
            if not self._is_open:
                await self._outgoing.until_answered(_PATIENCE)
                if self.direct is not None:
                    await self.direct.close()
                raise anyio.EndOfStream
            self._waiter = self._loop.create_future()
            await self._waiter
        message = self._messages.popleft()
        self.resume()
        return message

    async def aclose(self) -> None:
        """Ends the stream and drops what was read ahead."""
        self._messages.clear()
        self.close()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Incoming:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _readable(self) -> None:
        try:
            data = os.read(self._number, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            _logger.error("stdin cannot be read: %s", error)
            data = b""
        self._at_once = 0
        for line in self._lines.take(data) if data else self._lines.end():
            self._take(line)
        if not data:
            self.close()
        elif len(self._messages) >= _MOST_WAITING:
            self.pause()
        self._wake()

    def _take(self, line: bytes | None) -> None:
        message = None if line is None else _message(line)
        if message is None:
            answer = refusal(line)
            if answer is not None:
                self._outgoing.write(answer)
            return
        if isinstance(message, JSONRPCRequest):
            self._outgoing.unanswered.add(message.id)
            if self._begun(message):
                return
        elif isinstance(message, JSONRPCNotification):
            self._outgoing.forget(message)
            if self.direct is not None:
                self.direct.forget(message)
        self._messages.append(SessionMessage(message))

    def _begun(self, request: JSONRPCRequest) -> bool:
        """Whether a request is under way without the session, and out of turn for nobody."""
        if self.direct is None or self._messages or self._at_once == _MOST_AT_ONCE:
            return False
        self._at_once += 1
        return self.direct.take(request)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _message(line: bytes) -> JSONRPCMessage | None:
    if not any(word in line for word in _OF_ANSWERS):
        # Nearly every message is a request; the adapter would try all kinds to find the best.
        try:
            return JSONRPCRequest.model_validate_json(line, by_name=False)
        except ValueError:
            pass
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    is_request = isinstance(message, JSONRPCNotification) and has_id(line)
    return None if is_request else message
