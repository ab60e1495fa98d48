"""Message streams for the MCP SDK's `Server.run` over two file descriptors.

Pipes and sockets are read in the event loop when they have data, and short lines are written
there when the pipe has space. One thread reads and one thread writes in all other cases: files,
terminals, Windows, long lines, and clients that do not read at the moment. So the event loop
never blocks, and the descriptors are not set to non-blocking, which would affect other processes
that share them. The data that is read ahead is limited. If a client leaves too much output
unread, the server stops reading from it.

Requires `mcp` 2.x.
Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
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
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from .framing import LineSplitter, encode_message, parse_line, reject_line

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage, RequestId

_logger = logging.getLogger("toolcast")

SEND_PAUSE_BYTES = 1 << 20
"""Unsent bytes above which `send` waits for the client to read."""
MAX_UNSENT_BYTES = 1 << 22
"""Unsent bytes above which no more messages of the client are read."""

_READ_BYTES = 1 << 16
"""Size of one read from the input."""
_MAX_SHORT_LINE_BYTES: int = getattr(select, "PIPE_BUF", 0)
"""Maximum size of a line that a writable pipe accepts as a whole; 0 if it is unknown."""
_MAX_CHUNKS_AHEAD = 2
"""Maximum number of chunks that are read before their messages are processed."""
_CLIENT_READ_TIMEOUT_S = 5.0
"""Time that a client has to read the last responses."""


class _Stream:
    """Base class of streams: an async context manager that closes the stream."""

    async def aclose(self) -> None:
        """Close the stream."""
        raise NotImplementedError

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class OutgoingMessages(_Stream):
    """Write stream for the SDK: writes messages to a file descriptor.

    Args:
        descriptor: the file descriptor.
        grace: seconds that running calls may take after the end of the input.

    Attributes:
        unsent: the number of bytes that the client has not read yet.
        unanswered_ids: the ids of the client's requests without a response.
        client_request_ids: the ids of requests to the client without a response.
        on_disconnect: a function to call when the client has closed its side.
    """

    def __init__(self, descriptor: int, grace: float) -> None:
        self.unanswered_ids: set[RequestId] = set()
        self.client_request_ids: set[RequestId] = set()
        self._deadline: float | None = None
        self._grace = grace
        self._has_stopped_waiting = False
        self.on_disconnect: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._poll = select.poll() if _can_be_polled(descriptor) else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.unsent = 0
        self._is_open = True
        # Event that is set when a condition that `_wait_until` waits for may have changed.
        self._changed = asyncio.Event()
        self._has_waiter = False
        _start_thread(self._write_lines, descriptor)

    def write(self, line: bytes) -> None:
        """Write a line at once if that cannot block; otherwise queue it for the thread."""
        rest = self._write_immediately(line) if self._is_open else b""
        if rest:
            with self._lock:
                self.unsent += len(rest)
            self._lines.put(rest)

    async def send(self, item: SessionMessage) -> None:
        """Send a message; wait while the client has more than 1 MiB to read.

        Raises:
            anyio.BrokenResourceError: the client has closed its side.
        """
        message = item.message
        self.write(encode_message(message))
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self.mark_answered(message.id)
        elif isinstance(message, JSONRPCRequest):
            self.client_request_ids.add(message.id)
            self._changed.set()
        if self.unsent > SEND_PAUSE_BYTES:
            await self.wait_for_client(SEND_PAUSE_BYTES)
        if not self._is_open:
            raise anyio.BrokenResourceError

    def mark_answered(self, request_id: RequestId | None) -> None:
        """Record that a request has its response, or was cancelled and gets none."""
        if request_id is not None:
            self.unanswered_ids.discard(request_id)
        self._changed.set()

    async def wait_for_client(self, max_unsent: int) -> None:
        """Wait until at most `max_unsent` bytes are unsent, or the stream is closed."""
        await self._wait_until(lambda: self.unsent <= max_unsent)

    async def wait_for_responses(self) -> JSONRPCError | None:
        """Wait, within the grace period, until every request of the client has a response.

        Returns:
            An error response for one request to the client, which can no longer respond; pass
            it to the waiting call, and call the method again. None if no call waits for the
            client.
        """
        if self._deadline is None:
            self._deadline = self._loop.time() + self._grace
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._deadline):
                await self._wait_until(
                    lambda: self._has_stopped_waiting
                    or bool(self.client_request_ids)
                    or not self.unanswered_ids
                )
                if self.client_request_ids and not self._has_stopped_waiting:
                    request_id = self.client_request_ids.pop()
                    error = ErrorData(
                        code=CONNECTION_CLOSED,
                        message="the client closed the connection",
                    )
                    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        if self.unanswered_ids and self._is_open:
            count = len(self.unanswered_ids)
            _logger.warning("shutting down: cancelling %d calls", count)
        return None

    def stop_waiting(self) -> None:
        """Make `wait_for_responses` return without waiting for the remaining responses."""
        self._has_stopped_waiting = True
        self._changed.set()

    async def aclose(self) -> None:
        """Wait up to five seconds for the client to read everything; then close."""
        try:
            async with asyncio.timeout(_CLIENT_READ_TIMEOUT_S):
                await self.wait_for_client(0)
        except TimeoutError:
            _logger.warning("the client did not read the last responses")
        self.close()

    def close(self) -> None:
        """Close the stream at once; later messages are not sent."""
        if self._is_open:
            self._is_open = False
            self._lines.put(None)
            self._changed.set()

    async def _wait_until(self, is_fulfilled: Callable[[], bool]) -> None:
        while self._is_open and not is_fulfilled():
            self._changed.clear()
            self._has_waiter = True
            # Check again, because the writing thread signals only changes that it makes after
            # `_has_waiter` is set.
            if not is_fulfilled():
                await self._changed.wait()

    def _write_immediately(self, line: bytes) -> bytes:
        """Write a short line if that cannot block, and return the rest of the line."""
        if self._poll is None or self.unsent or len(line) > _MAX_SHORT_LINE_BYTES:
            return line
        try:
            if not self._poll.poll(0):
                return line
            return line[os.write(self._descriptor, line) :]
        except BlockingIOError:
            return line
        except OSError:
            self._loop.call_soon(self._handle_disconnect)
            return b""

    def _write_lines(self, descriptor: int) -> None:
        """Write the queued lines, in a thread."""
        while (line := self._lines.get()) is not None:
            try:
                _write_all(descriptor, line)
            except OSError:
                # The client has closed its side, so there is nothing left to write to.
                call_in_loop(self._loop, self._handle_disconnect)
                return
            with self._lock:
                self.unsent -= len(line)
            if self._has_waiter:
                self._has_waiter = False
                call_in_loop(self._loop, self._changed.set)

    def _handle_disconnect(self) -> None:
        self.close()
        if self.on_disconnect is not None:
            self.on_disconnect()


class IncomingMessages(_Stream):
    """Read stream for the SDK: reads messages from a file descriptor.

    Args:
        descriptor: the file descriptor.
        outgoing: the stream for error responses to invalid messages.
    """

    def __init__(self, descriptor: int, outgoing: OutgoingMessages) -> None:
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._splitter = LineSplitter()
        self._lines: deque[bytes | None] = deque()
        self._arrived = asyncio.Event()
        self._is_open = True
        self._free_chunks = threading.Semaphore(_MAX_CHUNKS_AHEAD)
        self._chunks_read = 0
        outgoing.on_disconnect = self.close
        self._descriptor = descriptor
        self._is_polled = _can_be_polled(descriptor)
        if self._is_polled:
            self._loop.add_reader(descriptor, self._read_available)
        else:
            _start_thread(self._read_chunks, descriptor)

    async def receive(self) -> SessionMessage:
        """Return the next valid message; answer invalid ones with an error.

        At the end of the input, wait until every request has its response or the grace period
        has passed, and only then raise `EndOfStream`: the SDK cancels running calls when the
        stream ends, but a client such as `echo ... | server` expects their results.

        Raises:
            anyio.EndOfStream: there are no more messages.
        """
        while True:
            if self._outgoing.unsent > MAX_UNSENT_BYTES:
                await self._outgoing.wait_for_client(MAX_UNSENT_BYTES)
            while not self._lines:
                self._resume_reading()
                if not self._is_open:
                    error = await self._outgoing.wait_for_responses()
                    if error is not None:
                        return SessionMessage(error)
                    raise anyio.EndOfStream
                self._arrived.clear()
                await self._arrived.wait()
            line = self._lines.popleft()
            message = None if line is None else parse_line(line)
            if message is not None:
                self._track_requests(message)
                return SessionMessage(message)
            response = reject_line(line)
            if response is not None:
                self._outgoing.write(response)

    async def aclose(self) -> None:
        """Close the stream, and discard messages that were read ahead."""
        self._lines.clear()
        self.close()

    def close(self) -> None:
        """Stop reading; messages that were read ahead can still be received."""
        self._is_open = False
        if self._is_polled:
            self._loop.remove_reader(self._descriptor)
        self._arrived.set()

    def stop(self) -> None:
        """Stop reading because the server shuts down.

        If the input has already ended, do not wait for the remaining responses either.
        """
        if not self._is_open:
            self._outgoing.stop_waiting()
        self.close()

    def __aiter__(self) -> IncomingMessages:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def _track_requests(self, message: JSONRPCMessage) -> None:
        """Update the ids of requests without a response."""
        if isinstance(message, JSONRPCRequest):
            self._outgoing.unanswered_ids.add(message.id)
        elif isinstance(message, (JSONRPCResponse, JSONRPCError)):
            if message.id is not None:
                request_id = coerce_request_id(message.id)
                self._outgoing.client_request_ids.discard(request_id)
        elif (
            isinstance(message, JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            cancelled = cancelled_request_id_from_params(message.params)
            for request_id in [*self._outgoing.unanswered_ids]:
                # Compare converted ids, because the SDK treats "7" and 7 as the same id.
                if cancelled is not None and (
                    coerce_request_id(request_id) == coerce_request_id(cancelled)
                ):
                    self._outgoing.mark_answered(request_id)

    def _resume_reading(self) -> None:
        """Allow reading ahead again, after all messages that were read are processed."""
        if self._is_polled:
            if self._is_open and self._chunks_read == _MAX_CHUNKS_AHEAD:
                self._loop.add_reader(self._descriptor, self._read_available)
            self._chunks_read = 0
        while self._chunks_read:
            self._chunks_read -= 1
            self._free_chunks.release()

    def _read_available(self) -> None:
        """Read a chunk when the event loop reports data; pause after two chunks."""
        data = self._read_chunk()
        if data is not None:
            self._add_chunk(data)
        if self._chunks_read == _MAX_CHUNKS_AHEAD:
            self._loop.remove_reader(self._descriptor)

    def _read_chunks(self, descriptor: int) -> None:
        """Read chunks until the end of the input, in a thread."""
        data: bytes | None = b"\n"
        while data != b"":
            self._free_chunks.acquire()
            while (data := self._read_chunk()) is None:
                select.select([descriptor], [], [])
            call_in_loop(self._loop, self._add_chunk, data)

    def _read_chunk(self) -> bytes | None:
        """Read a chunk; empty at the end of the input or after an error.

        None means that a non-blocking descriptor has no data. The mode is not changed,
        because other processes may share the descriptor.
        """
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            _logger.error("cannot read stdin: %s", error)
            return b""

    def _add_chunk(self, data: bytes) -> None:
        if not self._is_open:
            return
        self._chunks_read += 1
        splitter = self._splitter
        self._lines.extend(splitter.feed(data) if data else splitter.finish())
        if not data:
            self.close()
        self._arrived.set()


def _can_be_polled(descriptor: int) -> bool:
    """Return whether polling reports if a read or a short write would block.

    Files cannot be polled, and a terminal may accept less than polling reports.
    """
    mode = os.fstat(descriptor).st_mode
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return bool(_MAX_SHORT_LINE_BYTES) and is_pipe


def _start_thread(work: Callable[[int], None], descriptor: int) -> None:
    # Use a daemon thread, because a read or write that waits for the client cannot be
    # interrupted and must not keep the process running.
    threading.Thread(target=work, args=(descriptor,), daemon=True).start()


def call_in_loop(
    loop: asyncio.AbstractEventLoop,
    function: Callable[..., None],
    *arguments: object,
) -> None:
    """Schedule a function in an event loop; do nothing if the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
