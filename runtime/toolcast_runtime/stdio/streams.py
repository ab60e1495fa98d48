"""MCP messages over two file descriptors, for the SDK's `Server.run`.

Pipes and sockets are read in the event loop once something is there, and short lines written there
when they are taken at once. For all else one thread reads and one writes: files, terminals, all of
Windows, long lines, clients that take nothing at the moment. So the loop waits for nobody, and no
flag is changed that a descriptor shares with other processes. What is read ahead is bounded, and
so is what a client leaves unread: beyond that nothing more is read from it.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import select
import stat
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from .framing import LineSplitter, line_of, message_of, refusal

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage, RequestId

_logger = logging.getLogger("toolcast")

SOME_UNSENT = 1 << 20
"""Bytes that wait for the client before whoever sends has to wait too."""
MAX_UNSENT_BYTES = 1 << 22
"""Bytes that wait for the client before no more of its messages are read."""

_READ_BYTES = 1 << 16
_SHORT: int = getattr(select, "PIPE_BUF", 0)
"""Bytes of a line that is taken whole by what can be written to; no line where nobody can say."""
_CHUNKS_AHEAD = 2
"""Chunks that are read before the session has taken the messages in them."""
_CLIENT_READ_TIMEOUT_S = 5.0
"""Time that a client has to read the last responses."""


class _Stream:
    """What both of the SDK's streams have: they are left by closing them."""

    async def aclose(self) -> None:
        """Ends the stream."""
        raise NotImplementedError

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Outgoing(_Stream):
    """The SDK's WriteStream: messages to a file descriptor.

    Args:
        number: the descriptor.
        grace: seconds that calls may still take when nothing more is read.

    Attributes:
        unsent: the bytes that wait for the client.
        unanswered: the numbers of the requests that have no answer yet.
        asked: those of the requests to the client that it has not answered.
        when_gone: called when the client has closed its side.
    """

    def __init__(self, number: int, grace: float) -> None:
        self.unanswered: set[RequestId] = set()
        self.asked: set[RequestId] = set()
        self._deadline: float | None = None
        self._grace = grace
        self._is_given_up = False
        self.when_gone: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._number = number
        self._poll = select.poll() if _can_be_polled(number) else None
        if self._poll is not None:
            self._poll.register(number, select.POLLOUT)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.unsent = 0
        self._is_open = True
        # Set whenever what somebody may wait for has changed.
        self._changed = asyncio.Event()
        self._is_waited_for = False
        _start(self._write_lines, number)

    def write(self, line: bytes) -> None:
        """Sends a line as soon as the client takes it."""
        rest = self._unwritten(line) if self._is_open else b""
        if rest:
            with self._lock:
                self.unsent += len(rest)
            self._lines.put(rest)

    async def send(self, item: SessionMessage) -> None:
        """Sends a message; waits while the client leaves too much unread.

        Raises:
            anyio.BrokenResourceError: the client is gone.
        """
        message = item.message
        self.write(line_of(message))
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self.settle(message.id)
        elif isinstance(message, JSONRPCRequest):
            self.asked.add(message.id)
            self._changed.set()
        if self.unsent > SOME_UNSENT:
            await self.until_below(SOME_UNSENT)
        if not self._is_open:
            raise anyio.BrokenResourceError

    def settle(self, number: RequestId | None) -> None:
        """Takes note that a request has its answer, or gets none."""
        if number is not None:
            self.unanswered.discard(number)
        self._changed.set()

    async def until_below(self, most: int) -> None:
        """Waits until no more bytes than so many wait for the client, or it is gone."""
        await self._until(lambda: self.unsent <= most)

    async def until_answered(self) -> JSONRPCError | None:
        """Waits, within the grace period, until every request has its answer.

        It gives what stands for the answer of a client that a call waits for meanwhile: nobody
        is left to give one.
        """
        if self._deadline is None:
            self._deadline = self._loop.time() + self._grace
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._deadline):
                await self._until(
                    lambda: self._is_given_up or bool(self.asked) or not self.unanswered
                )
                if self.asked and not self._is_given_up:
                    gone = ErrorData(
                        code=CONNECTION_CLOSED, message="the client is gone"
                    )
                    return JSONRPCError(jsonrpc="2.0", id=self.asked.pop(), error=gone)
        if self.unanswered and self._is_open:
            _logger.warning("%d calls are given up at the end", len(self.unanswered))
        return None

    def give_up(self) -> None:
        """Waits for no more answers."""
        self._is_given_up = True
        self._changed.set()

    async def aclose(self) -> None:
        """Waits, for a while, until the client has taken everything."""
        try:
            async with asyncio.timeout(_CLIENT_READ_TIMEOUT_S):
                await self.until_below(0)
        except TimeoutError:
            _logger.warning("the client did not read its last answers")
        self.close()

    def close(self) -> None:
        """Sends nothing more."""
        if self._is_open:
            self._is_open = False
            self._lines.put(None)
            self._changed.set()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while self._is_open and not is_so():
            self._changed.clear()
            self._is_waited_for = True
            # Looked at again once the thread is told, so that no change is missed.
            if not is_so():
                await self._changed.wait()

    def _unwritten(self, line: bytes) -> bytes:
        """What is left of a line when what is taken at once has been written."""
        if self._poll is None or self.unsent or len(line) > _SHORT:
            return line
        try:
            return line[os.write(self._number, line) :] if self._poll.poll(0) else line
        except BlockingIOError:
            return line
        except OSError:
            self._loop.call_soon(self._gone)
            return b""

    def _write_lines(self, number: int) -> None:
        """The thread's work."""
        while (line := self._lines.get()) is not None:
            try:
                _write(number, line)
            except OSError:
                # The client is gone; nobody is left to be told.
                tell(self._loop, self._gone)
                return
            with self._lock:
                self.unsent -= len(line)
            if self._is_waited_for:
                self._is_waited_for = False
                tell(self._loop, self._changed.set)

    def _gone(self) -> None:
        self.close()
        if self.when_gone is not None:
            self.when_gone()


class Incoming(_Stream):
    """The SDK's ReadStream: messages from a file descriptor.

    Args:
        number: the descriptor.
        outgoing: where what is no message is answered.
    """

    def __init__(self, number: int, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._splitter = LineSplitter()
        self._lines: deque[bytes | None] = deque()
        self._arrived = asyncio.Event()
        self._is_open = True
        self._chunks = threading.Semaphore(_CHUNKS_AHEAD)
        self._chunks_read = 0
        outgoing.when_gone = self.close
        self._number = number
        self._is_polled = _can_be_polled(number)
        if self._is_polled:
            self._loop.add_reader(number, self._read_now)
        else:
            _start(self._read_chunks, number)

    async def receive(self) -> SessionMessage:
        """The next message.

        The end is told when what was asked has been answered, or has taken too long: the
        session gives up its calls then, and `echo ... | server` wants its answers.

        Raises:
            anyio.EndOfStream: there is none any more.
        """
        while True:
            if self._outgoing.unsent > MAX_UNSENT_BYTES:
                await self._outgoing.until_below(MAX_UNSENT_BYTES)
            while not self._lines:
                self._read_on()
                if not self._is_open:
                    if (gone := await self._outgoing.until_answered()) is not None:
                        return SessionMessage(gone)
                    raise anyio.EndOfStream
                self._arrived.clear()
                await self._arrived.wait()
            line = self._lines.popleft()
            message = None if line is None else message_of(line)
            if message is not None:
                self._note(message)
                return SessionMessage(message)
            answer = refusal(line)
            if answer is not None:
                self._outgoing.write(answer)

    async def aclose(self) -> None:
        """Ends the stream and drops what was read ahead."""
        self._lines.clear()
        self.close()

    def close(self) -> None:
        """Reads nothing more; what was read before is still given."""
        self._is_open = False
        if self._is_polled:
            self._loop.remove_reader(self._number)
        self._arrived.set()

    def end(self) -> None:
        """Somebody wants the server to end; a client that is gone waits for no answer."""
        if not self._is_open:
            self._outgoing.give_up()
        self.close()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def _note(self, message: JSONRPCMessage) -> None:
        """Takes note of which requests are to be answered."""
        if isinstance(message, JSONRPCRequest):
            self._outgoing.unanswered.add(message.id)
        elif isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._outgoing.asked.discard(message.id)
        elif (
            isinstance(message, JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            number = (message.params or {}).get("requestId")
            if isinstance(number, (int, str)):
                self._outgoing.settle(number)

    def _read_on(self) -> None:
        """Every message of what was read has been taken."""
        if self._is_polled:
            if self._is_open and self._chunks_read == _CHUNKS_AHEAD:
                self._loop.add_reader(self._number, self._read_now)
            self._chunks_read = 0
        while self._chunks_read:
            self._chunks_read -= 1
            self._chunks.release()

    def _read_now(self) -> None:
        """In the loop: something is there."""
        data = self._chunk()
        if data is not None:
            self._take(data)
        if self._chunks_read == _CHUNKS_AHEAD:
            self._loop.remove_reader(self._number)

    def _read_chunks(self, number: int) -> None:
        """The thread's work."""
        data: bytes | None = b"\n"
        while data != b"":
            self._chunks.acquire()
            while (data := self._chunk()) is None:
                select.select([number], [], [])
            tell(self._loop, self._take, data)

    def _chunk(self) -> bytes | None:
        """What is read next, nothing at the end; None where nothing is there now.

        Whoever gave the descriptor has set it so; others may rely on that.
        """
        try:
            return os.read(self._number, _READ_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            _logger.error("stdin cannot be read: %s", error)
            return b""

    def _take(self, data: bytes) -> None:
        if not self._is_open:
            return
        self._chunks_read += 1
        self._lines.extend(self._splitter.take(data) if data else self._splitter.end())
        if not data:
            self.close()
        self._arrived.set()


def _can_be_polled(number: int) -> bool:
    """Whether it says when a read or a short write of it does not wait.

    Files never wait, and cannot say so; terminals take less than they say.
    """
    mode = os.fstat(number).st_mode
    return bool(_SHORT) and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _start(work: Callable[[int], None], number: int) -> None:
    # A daemon, because nothing ends a read or a write that the other side does not answer.
    threading.Thread(target=work, args=(number,), daemon=True).start()


def tell(
    loop: asyncio.AbstractEventLoop, what: Callable[..., None], *given: object
) -> None:
    """Runs a function in the loop, if it has not ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what, *given)


def _write(number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:
            select.select([], [number], [])
