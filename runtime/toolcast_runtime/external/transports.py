"""Transports for the MCP SDK's client with limits on what a server can send.

The SDK's own stdio transport reads lines of any length, logs each line that is not a message, and
passes stderr through. The stdio transport of this module limits the length and rate of lines, stores
only the end of stderr, and records when and why the server ended. The HTTP transport limits the size
of a response.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from ..core.server_settings import MissingVariableError, ResolvedServer
from .request_errors import HttpFailure, record_failure
from .server_process import (
    MAX_MESSAGE_BYTES,
    READ_BYTES,
    ServerProcess,
    kill,
    start,
    stop,
)

_MAX_INVALID_LINES = 1_000
"""Number of lines that are not messages after which the connection is closed."""
_MAX_BURST_LINES = 1_000
"""Number of lines that a server may send at once."""
_LINES_PER_SECOND = 200
"""Maximum rate of lines after a burst."""
_DROPPED_CHARACTERS_PER_LINE = 10_000
"""Length of a dropped line that counts as one line for the rate limit."""
_DROPPABLE_METHODS = ("notifications/progress", "notifications/message")
_LIST_CHANGED_SUFFIX = "/list_changed"
_MAX_STDERR_BYTES = 2_000
"""Number of bytes at the end of stderr that are stored."""
_STDERR_INTERVAL_S = 0.01
"""Pause after each read of stderr, which limits the rate of a flood."""
_STOP_GRACE_S = 1.0
"""How long a process may take to end after its stdin is closed."""
_FAILED_STOP_GRACE_S = 0.1
"""Like `_STOP_GRACE_S`, for a process whose connection has already failed."""
_CONNECT_TIMEOUT_S = 10.0
_READ_TIMEOUT_S = 300.0
_MAX_CONNECTIONS = 50
"""Maximum number of connections to one HTTP server."""


@dataclass
class ProcessExit:
    """Record of how and why a connection ended; updated while the connection is open.

    Attributes:
        on_end: called once, in the event loop, when no more messages will arrive.
        on_change: called in the event loop when a list may have changed, although the
            notification was dropped.
        reason: why the connection ended; None while it runs.
        stderr: the last bytes that the server wrote to stderr.
        invalid_lines: the number of lines that were not messages.
        http_failures: the last HTTP error of the handshake.
    """

    on_end: Callable[[], None]
    on_change: Callable[[], None] = lambda: None
    reason: str | None = None
    stderr: bytearray = field(default_factory=bytearray)
    invalid_lines: int = 0
    http_failures: list[HttpFailure] = field(default_factory=list)

    def set_reason(self, reason: str) -> None:
        """Record why the connection ended; only the first reason counts."""
        if self.reason is None:
            self.reason = reason
            self.on_end()


@asynccontextmanager
async def stdio_transport(
    server: ResolvedServer, process_exit: ProcessExit
) -> AsyncGenerator[tuple[Any, Any], None]:
    """Start a server's process, and yield the two streams for the SDK's client.

    Raises:
        OSError: the program cannot be started.
        ValueError: the program's name or an argument contains a NUL character.
    """
    process = await start(server)
    into_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, out_of_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_read_messages, process, into_session, process_exit)
            group.start_soon(_read_stderr, process, process_exit)
            group.start_soon(_write_messages, process, out_of_session, process_exit)
            try:
                yield from_server, to_server
            finally:
                for stream in (from_server, to_server):
                    stream.close()
                has_failed = process_exit.reason is not None
                grace = _FAILED_STOP_GRACE_S if has_failed else _STOP_GRACE_S
                with anyio.CancelScope(shield=True):
                    await stop(process, grace)
                group.cancel_scope.cancel()
    finally:
        # Kill the process even if `stop` was interrupted despite the shield: no process may
        # remain.
        kill(process)
        process.close()
        for inner_stream in (into_session, out_of_session):
            inner_stream.close()


async def _read_messages(
    process: ServerProcess, into_session: Any, process_exit: ProcessExit
) -> None:
    rate_limiter = _RateLimiter(_MAX_BURST_LINES, _LINES_PER_SECOND)
    buffer = bytearray()
    reason = "the server's process ended"
    try:
        async with into_session:
            while chunk := await process.stdout.read(READ_BYTES):
                buffer += chunk
                if b"\n" in chunk:
                    *lines, rest = bytes(buffer).split(b"\n")
                    buffer = bytearray(rest)
                    for line in lines:
                        if not await _forward_line(
                            line, into_session, process_exit, rate_limiter
                        ):
                            reason = (
                                f"the server sent {_MAX_INVALID_LINES} lines that are not"
                                " messages"
                            )
                            return
                if len(buffer) > MAX_MESSAGE_BYTES:
                    reason = f"the server sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB"
                    return
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        reason = "the connection to the server closed"
    finally:
        process_exit.set_reason(reason)


async def _forward_line(
    line: bytes,
    into_session: Any,
    process_exit: ProcessExit,
    rate_limiter: _RateLimiter,
) -> bool:
    """Send a line's message to the session; return False after too many invalid lines.

    Waits if the server exceeds the rate limit. Half of the burst is reserved for responses: beyond
    the other half, progress and log notifications are dropped, so that they delay no response.
    """
    message = None
    with suppress(ValueError):
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    method = getattr(message, "method", "")
    is_list_change = method.endswith(_LIST_CHANGED_SUFFIX)
    is_droppable = is_list_change or method in _DROPPABLE_METHODS
    if is_droppable and rate_limiter.get_remaining() < _MAX_BURST_LINES / 2:
        await rate_limiter.acquire(len(line) / _DROPPED_CHARACTERS_PER_LINE)
        if is_list_change:
            process_exit.on_change()
        return True
    await rate_limiter.acquire()
    if message is not None:
        await into_session.send(SessionMessage(message))
    elif line.strip():
        process_exit.invalid_lines += 1
    return process_exit.invalid_lines < _MAX_INVALID_LINES


class _RateLimiter:
    """Rate limiter that admits a burst of steps, and then a fixed number per second.

    Faster callers wait. The limit exists because all servers share one thread, whose work also
    delays the program's own threads.
    """

    def __init__(self, burst: int, rate: int) -> None:
        self._burst = burst
        self._rate = rate
        self._remaining = float(burst)
        self._updated_at = time.monotonic()

    def get_remaining(self) -> float:
        """Return the number of steps that can be taken without waiting."""
        now = time.monotonic()
        gained = (now - self._updated_at) * self._rate
        self._remaining = min(self._burst, self._remaining + gained)
        self._updated_at = now
        return self._remaining

    async def acquire(self, steps: float = 1.0) -> None:
        self._remaining = self.get_remaining() - steps
        if self._remaining < 0:
            await anyio.sleep(-self._remaining / self._rate)


async def _read_stderr(process: ServerProcess, process_exit: ProcessExit) -> None:
    """Read stderr so that the pipe never fills up, and store its end."""
    with suppress(OSError):
        while chunk := await process.stderr.read(READ_BYTES):
            process_exit.stderr += chunk
            del process_exit.stderr[:-_MAX_STDERR_BYTES]
            await anyio.sleep(_STDERR_INTERVAL_S)


async def _write_messages(
    process: ServerProcess, out_of_session: Any, process_exit: ProcessExit
) -> None:
    try:
        async with out_of_session:
            async for item in out_of_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(f"{text}\n".encode())
                await process.stdin.drain()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        process_exit.set_reason("the server no longer reads messages")


@asynccontextmanager
async def http_transport(
    server: ResolvedServer, resolve: Callable[[], ResolvedServer] | None = None
) -> AsyncGenerator[tuple[Any, Any], None]:
    """Connect to a server over HTTP, and yield the two streams for the SDK's client.

    Proxies and .netrc are ignored. Redirects to another origin are not followed.

    Args:
        server: the server's settings.
        resolve: returns the settings with the current values of environment variables, after
            HTTP 401; None if they cannot change.
    """
    timeout = httpx2.Timeout(_CONNECT_TIMEOUT_S, read=_READ_TIMEOUT_S)
    limits = httpx2.Limits(max_connections=_MAX_CONNECTIONS)
    transport = _BoundedTransport(httpx2.AsyncHTTPTransport(limits=limits))
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=timeout,
            transport=transport,
            trust_env=False,
            event_hooks={"response": [record_failure]},
            auth=None if resolve is None else _RenewedHeaders(resolve),
        ) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


class _RenewedHeaders(httpx2.Auth):
    """Authentication that, after HTTP 401, resolves the headers and repeats the request once.

    The request is not repeated if no header has changed.
    """

    def __init__(self, resolve: Callable[[], ResolvedServer]) -> None:
        self._resolve = resolve
        self._renewed: dict[str, str] = {}

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        request.headers.update(self._renewed)
        response = yield request
        if response.status_code != HTTPStatus.UNAUTHORIZED:
            return
        try:
            # Resolve in a thread, because the value of a variable may have to be read from a
            # file.
            server = await anyio.to_thread.run_sync(self._resolve)
        except MissingVariableError:
            # Without new headers the caller gets the response 401.
            return
        changed = {
            name: value
            for name, value in server.headers.items()
            if request.headers.get(name) != value
        }
        if changed:
            self._renewed.update(changed)
            request.headers.update(changed)
            yield request


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """HTTP transport that limits the size of responses and converts timeouts to 504.

    Event streams are not limited, because they may last for days; the SDK limits each event.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # Request no compression: the limit counts received bytes, and a compressed response
        # could expand to any size.
        request.headers["accept-encoding"] = "identity"
        try:
            response = await self._transport.handle_async_request(request)
        except (httpx2.PoolTimeout, httpx2.ReadTimeout) as error:
            # Return a response instead of raising: an exception would end the session with all
            # its running calls.
            reason = f"no answer within {_READ_TIMEOUT_S:g} s"
            if isinstance(error, httpx2.PoolTimeout):
                reason = f"all {_MAX_CONNECTIONS} connections are in use"
            return httpx2.Response(504, text=reason, request=request)
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise httpx2.ReadError(
                f"the response is compressed ({encoding}), although the request"
                " accepts only `identity`"
            )
        content_type = response.headers.get("content-type", "")
        stream = response.stream
        is_endless = response.is_success and content_type.startswith(
            "text/event-stream"
        )
        if not is_endless and isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(stream)
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._remaining_bytes = MAX_MESSAGE_BYTES
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._remaining_bytes -= len(chunk)
            if self._remaining_bytes < 0:
                raise httpx2.ReadError(
                    f"the response has more than {MAX_MESSAGE_BYTES} bytes"
                )
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
