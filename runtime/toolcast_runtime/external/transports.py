"""Transports for the MCP SDK's client that a server cannot drown.

The SDK's own over stdio reads lines of any length, logs every one that is no message, and
hands stderr through. This one bounds a line, the pace of lines and what is kept of stderr, and
says when and why the server ended. Over HTTP an answer has a bounded size.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from ..core.server_settings import ResolvedServer
from .server_process import (
    MAX_MESSAGE_BYTES,
    READ_BYTES,
    ServerProcess,
    kill,
    started,
    stop,
)

_MAX_INVALID_LINES = 1_000
"""Lines of a server that are not messages."""
_BURST_OF_LINES = 1_000
_LINES_A_SECOND = 200
# Of those that are dropped, as many characters cost what one costs that is not.
_CHARACTERS_DROPPED = 10_000
_DROPPED = ("notifications/progress", "notifications/message")
_CHANGED = "/list_changed"
_KEPT_STDERR = 2_000
_STDERR_PAUSE = 0.01
_GRACE = 1.0
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 300.0
_CONNECTIONS = 50


@dataclass
class ProcessExit:
    """How a server's process ended, filled in while it runs.

    Attributes:
        on_end: is called once, in the loop, when no more messages will come.
        on_change: is called there when a list may have changed, and no message says so.
        reason: why; None while it runs.
        stderr: the last bytes that it wrote there.
        garbage: how many lines were no messages.
    """

    on_end: Callable[[], None]
    on_change: Callable[[], None] = lambda: None
    reason: str | None = None
    stderr: bytearray = field(default_factory=bytearray)
    garbage: int = 0

    def end(self, reason: str) -> None:
        """Notes the first reason."""
        if self.reason is None:
            self.reason = reason
            self.on_end()


@asynccontextmanager
async def stdio_transport(
    server: ResolvedServer, ending: ProcessExit
) -> AsyncGenerator[tuple[Any, Any], None]:
    """Starts a server and gives the two streams that the SDK's client speaks through.

    Raises:
        OSError: the program cannot be started.
        ValueError: its name or an argument has a NUL in it.
    """
    process = await started(server)
    into_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, out_of_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_read_messages, process, into_session, ending)
            group.start_soon(_read_stderr, process, ending)
            group.start_soon(_write_messages, process, out_of_session, ending)
            try:
                yield from_server, to_server
            finally:
                for stream in (from_server, to_server):
                    stream.close()
                with anyio.CancelScope(shield=True):
                    # Who was given up gets no time to think about it.
                    await stop(process, _GRACE if ending.reason is None else 0.1)
                group.cancel_scope.cancel()
    finally:
        # Also when the shield was broken: nothing that was started is left behind.
        kill(process)
        process.close()
        for each in (into_session, out_of_session):
            each.close()


async def _read_messages(
    process: ServerProcess, into_session: Any, ending: ProcessExit
) -> None:
    pace = _Pace(_BURST_OF_LINES, _LINES_A_SECOND)
    buffer = bytearray()
    reason = "it ended"
    try:
        async with into_session:
            while chunk := await process.stdout.read(READ_BYTES):
                buffer += chunk
                if b"\n" in chunk:
                    *lines, rest = bytes(buffer).split(b"\n")
                    buffer = bytearray(rest)
                    for line in lines:
                        if not await _hand_over(line, into_session, ending, pace):
                            reason = f"it wrote {_MAX_INVALID_LINES} lines that are no messages"
                            return
                if len(buffer) > MAX_MESSAGE_BYTES:
                    reason = (
                        f"it sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB"
                    )
                    return
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        reason = "its connection closed"
    finally:
        ending.end(reason)


async def _hand_over(
    line: bytes, into_session: Any, ending: ProcessExit, pace: _Pace
) -> bool:
    """Gives one message to the session; False when there was too much else.

    Half of the burst is kept for answers: what a server tells beyond that is dropped, so that
    no call waits until its callers have heard all of another's progress.
    """
    message = None
    with suppress(ValueError):
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    method = getattr(message, "method", "")
    is_change = method.endswith(_CHANGED)
    if (is_change or method in _DROPPED) and pace.left() < _BURST_OF_LINES / 2:
        await pace.step(len(line) / _CHARACTERS_DROPPED)
        if is_change:
            ending.on_change()
        return True
    await pace.step()
    if message is not None:
        await into_session.send(SessionMessage(message))
    elif line.strip():
        ending.garbage += 1
    return ending.garbage < _MAX_INVALID_LINES


class _Pace:
    """Lets a burst of steps through, and then so many in a second; who is quicker waits.

    All servers share a thread, and with the callers an interpreter.
    """

    def __init__(self, burst: int, each_second: int) -> None:
        self._burst = burst
        self._rate = each_second
        self._left = float(burst)
        self._then = time.monotonic()

    def left(self) -> float:
        """How much of the burst is left."""
        now = time.monotonic()
        gained = (now - self._then) * self._rate
        self._left, self._then = min(self._burst, self._left + gained), now
        return self._left

    async def step(self, size: float = 1.0) -> None:
        self._left = self.left() - size
        if self._left < 0:
            await anyio.sleep(-self._left / self._rate)


async def _read_stderr(process: ServerProcess, ending: ProcessExit) -> None:
    """Keeps the pipe from filling up, and the last words; a flood has to wait."""
    with suppress(OSError):
        while chunk := await process.stderr.read(READ_BYTES):
            ending.stderr += chunk
            del ending.stderr[:-_KEPT_STDERR]
            await anyio.sleep(_STDERR_PAUSE)


async def _write_messages(
    process: ServerProcess, out_of_session: Any, ending: ProcessExit
) -> None:
    try:
        async with out_of_session:
            async for item in out_of_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(f"{text}\n".encode())
                await process.stdin.drain()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        ending.end("it takes no more messages")


@asynccontextmanager
async def http_transport(
    server: ResolvedServer,
) -> AsyncGenerator[tuple[Any, Any], None]:
    """The two streams that the SDK's client speaks through.

    Proxies and .netrc are not used, and no redirect leaves the server's origin.
    """
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    limits = httpx2.Limits(max_connections=_CONNECTIONS)
    transport = _BoundedTransport(httpx2.AsyncHTTPTransport(limits=limits))
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=timeout,
            transport=transport,
            trust_env=False,
        ) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """Ends an answer that is no event stream where it becomes too long or does not come.

    An event stream may go on for days; the SDK bounds each of its events.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # What is packed is small on the wire and may be anything when unpacked.
        request.headers["accept-encoding"] = "identity"
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.PoolTimeout, httpx2.ReadTimeout):
            # An error would end the session, and with it the calls that others wait for.
            return httpx2.Response(504, request=request)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("the answer is packed, which was not asked for")
        kind = response.headers.get("content-type", "")
        stream = response.stream
        if not kind.startswith("text/event-stream") and isinstance(
            stream, httpx2.AsyncByteStream
        ):
            response.stream = _BoundedStream(stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._left = MAX_MESSAGE_BYTES
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
