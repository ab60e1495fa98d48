"""Limits of transports: message sizes, rates, stderr and delays between connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest

from toolcast_runtime.core.server_settings import ExternalServer, ResolvedServer
from toolcast_runtime.external import connection as connection_module
from toolcast_runtime.external import request_errors, server_process, transports
from toolcast_runtime.external import session as session_module
from toolcast_runtime.external.connection import Connection
from toolcast_runtime.external.transports import (
    ProcessExit,
    _BoundedTransport,
    _RateLimiter,
)

ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
REPORT = b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"x": 1}}'
CHANGE = b'{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'


ENDED = "the server's process ended"
FLOODED = "the server sent 1000 lines that are not messages"


class StopError(Exception):
    """End of a simulation."""


class FakeClock:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(transports, "time", clock)
    monkeypatch.setattr(transports.anyio, "sleep", clock.sleep)
    return clock


class FakeSession:
    """A session that records its messages."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def send(self, message: Any) -> None:
        self.messages.append(message)

    async def __aenter__(self) -> FakeSession:
        return self

    async def __aexit__(self, *_: Any) -> None:
        pass


async def test_message_rate_limiter_allows_a_burst_and_then_a_steady_rate(
    clock: FakeClock,
) -> None:
    limiter = _RateLimiter(3, 2)
    for _ in range(3):
        await limiter.acquire()
    assert (clock.sleeps, limiter.get_remaining()) == ([], 0)
    await limiter.acquire()
    await limiter.acquire(2.0)
    assert clock.sleeps == [0.5, 1.0]
    clock.now += 1.0
    assert limiter.get_remaining() == 2.0
    clock.now += 100.0
    assert limiter.get_remaining() == 3.0


async def test_1000_messages_are_read_at_once_then_200_a_second(
    clock: FakeClock,
) -> None:
    reading: Any = FakeProcess(*[ANSWER + b"\n"] * 1_001)
    session: Any = FakeSession()
    await transports._read_messages(reading, session, ProcessExit(lambda: None))
    assert len(session.messages) == 1_001
    assert clock.sleeps == [1 / 200]


class FakeProcess:
    """A process with these chunks as its output."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = [*chunks]
        self.stdout = self.stderr = self

    async def read(self, _: int) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""


async def read_chunks(*chunks: bytes) -> tuple[FakeSession, ProcessExit]:
    session, process_exit = FakeSession(), ProcessExit(lambda: None)
    process: Any = FakeProcess(*chunks)
    await transports._read_messages(process, session, process_exit)
    return session, process_exit


@pytest.mark.parametrize(
    ("chunks", "message_count", "invalid_count", "reason"),
    [
        ((), 0, 0, ENDED),
        ((ANSWER + b"\n" + ANSWER + b"\n",), 2, 0, ENDED),
        ((ANSWER[:5], ANSWER[5:], b"\n" + ANSWER), 1, 0, ENDED),
        ((b"noise\n\n  \n" + ANSWER + b"\n",), 1, 1, ENDED),
        ((b"x\n" * 999 + ANSWER + b"\n",), 1, 999, ENDED),
        ((b"x\n" * 1_000 + ANSWER + b"\n",), 0, 1_000, FLOODED),
    ],
)
async def test_stdio_connection_ends_after_1000_lines_that_are_not_mcp_messages(
    clock: FakeClock, chunks: Any, message_count: int, invalid_count: int, reason: str
) -> None:
    session, process_exit = await read_chunks(*chunks)
    assert (len(session.messages), process_exit.reason) == (message_count, reason)
    assert process_exit.invalid_lines == invalid_count


async def test_mcp_message_above_the_size_limit_ends_the_stdio_connection(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server_process.MAX_MESSAGE_BYTES == 16 << 20
    monkeypatch.setattr(transports, "MAX_MESSAGE_BYTES", 1 << 20)
    too_long = "the server sent a message of more than 1 MiB"
    for excess, reason in ((0, ENDED), (1, too_long)):
        _, process_exit = await read_chunks(b"x" * ((1 << 20) + excess))
        assert process_exit.reason == reason


@pytest.mark.parametrize(
    ("left", "line", "is_sent", "cost", "changes"),
    [
        (500, REPORT, True, 1, 0),
        (499, REPORT, False, len(REPORT) / 10_000, 0),
        (500, CHANGE, True, 1, 0),
        (499, CHANGE, False, len(CHANGE) / 10_000, 1),
        (499, ANSWER, True, 1, 0),
    ],
)
async def test_mcp_notifications_are_dropped_below_half_the_message_burst(
    clock: FakeClock, left: int, line: bytes, is_sent: bool, cost: float, changes: int
) -> None:
    changed: list[int] = []
    process_exit = ProcessExit(lambda: None, lambda: changed.append(1))
    limiter = _RateLimiter(1_000, 200)
    limiter._remaining = left
    session: Any = FakeSession()
    assert await transports._forward_line(line, session, process_exit, limiter)
    assert (len(session.messages), len(changed)) == (int(is_sent), changes)
    assert left - limiter._remaining == pytest.approx(cost)


async def test_last_2000_bytes_of_server_stderr_are_stored(clock: FakeClock) -> None:
    process_exit = ProcessExit(lambda: None)
    process: Any = FakeProcess(b"a", b"b" * 1_999, b"c")
    await transports._read_stderr(process, process_exit)
    assert bytes(process_exit.stderr) == b"b" * 1_999 + b"c"
    assert clock.sleeps == [0.01] * 3


@pytest.mark.parametrize(("reason", "grace"), [(None, 1.0), ("it failed", 0.1)])
async def test_stdio_server_has_less_time_to_stop_after_its_connection_failed(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, grace: float
) -> None:
    graces: list[float] = []

    async def start(_: Any) -> Any:
        return SimpleNamespace(close=lambda: None)

    async def stop(_: Any, seconds: float) -> None:
        graces.append(seconds)

    async def finish(*_: Any) -> None:
        """Replace the tasks that read and write."""

    for name in ("_read_messages", "_read_stderr", "_write_messages"):
        monkeypatch.setattr(transports, name, finish)
    monkeypatch.setattr(transports, "start", start)
    monkeypatch.setattr(transports, "stop", stop)
    monkeypatch.setattr(transports, "kill", lambda _: None)
    process_exit = ProcessExit(lambda: None)
    async with transports.stdio_transport(ResolvedServer(command="x"), process_exit):
        if reason is not None:
            process_exit.set_reason(reason)
    assert graces == [grace]


def test_second_exit_reason_for_an_external_server_process_is_ignored() -> None:
    """Its callback is called only once, too."""
    calls: list[int] = []
    process_exit = ProcessExit(lambda: calls.append(1))
    for reason in ("first", "second"):
        process_exit.set_reason(reason)
    assert (process_exit.reason, calls) == ("first", [1])


class FakeTransport(httpx2.AsyncBaseTransport):
    """An HTTP transport with a prepared response or exception."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.accept_encoding = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.accept_encoding = request.headers["accept-encoding"]
        if isinstance(self.response, Exception):
            raise self.response
        return self.response


class ChunkStream(httpx2.AsyncByteStream):
    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes

    async def __aiter__(self) -> Any:
        for size in self.sizes:
            yield b"x" * size


async def read_response(response: Any) -> int:
    """Return the size of the body that is read, or the status after an exception."""
    headers = {"accept-encoding": "gzip"}
    request = httpx2.Request("POST", "http://far.test", headers=headers)
    transport = FakeTransport(response)
    received = await _BoundedTransport(transport).handle_async_request(request)
    assert transport.accept_encoding == "identity"
    if isinstance(response, Exception):
        return received.status_code
    return len(await received.aread())


@pytest.mark.parametrize(
    ("kind", "excess", "is_read"),
    [
        ("application/json", 0, True),
        ("application/json", 1, False),
        ("text/event-stream; charset=utf-8", 1, True),
    ],
)
async def test_external_http_response_size_is_limited_except_for_event_streams(
    monkeypatch: pytest.MonkeyPatch, kind: str, excess: int, is_read: bool
) -> None:
    monkeypatch.setattr(transports, "MAX_MESSAGE_BYTES", 1_000)
    stream = ChunkStream(600, 400 + excess)
    response = httpx2.Response(200, headers={"content-type": kind}, stream=stream)
    if is_read:
        assert await read_response(response) == 1_000 + excess
        return
    with pytest.raises(httpx2.ReadError, match="the response has more than 1000 bytes"):
        await read_response(response)


class IncompleteStream(httpx2.AsyncByteStream):
    """A response body that stops after its first part, with or without an error."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def __aiter__(self) -> Any:
        yield b"part"
        if self.error is not None:
            raise self.error
        await anyio.sleep_forever()


@pytest.mark.parametrize("error", [httpx2.ReadError("lost"), None])
async def test_external_http_error_is_stored_without_an_incomplete_body(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    """Reading the body has a timeout of five seconds."""
    limits: list[float] = []
    fail_after = anyio.fail_after

    def limit_time(seconds: float) -> Any:
        limits.append(seconds)
        return fail_after(0.01)

    monkeypatch.setattr(anyio, "fail_after", limit_time)
    failures: list[request_errors.HttpFailure] = []
    request_errors.HTTP_FAILURES.set(failures)
    request = httpx2.Request("POST", "http://far.test")
    response = httpx2.Response(502, request=request, stream=IncompleteStream(error))
    await request_errors.record_failure(response)
    assert limits == [5.0]
    assert [(failure.status, failure.message) for failure in failures] == [(502, "")]


@pytest.mark.parametrize(("size", "length"), [(500, 500), (501, 500)])
async def test_external_http_error_message_has_at_most_500_characters(
    size: int, length: int
) -> None:
    failures: list[request_errors.HttpFailure] = []
    request_errors.HTTP_FAILURES.set(failures)
    request = httpx2.Request("POST", "http://far.test")
    response = httpx2.Response(502, request=request, stream=ChunkStream(size))
    await request_errors.record_failure(response)
    assert [failure.message for failure in failures] == ["x" * length]


async def test_http_client_refuses_compression_and_maps_timeouts_to_status_504() -> (
    None
):
    compressed, plain = (
        httpx2.Response(200, headers={"content-encoding": name}, stream=ChunkStream(1))
        for name in ("gzip", "identity")
    )
    with pytest.raises(httpx2.ReadError, match="the response is compressed"):
        await read_response(compressed)
    assert await read_response(plain) == 1
    for timeout in (httpx2.PoolTimeout("late"), httpx2.ReadTimeout("late")):
        assert await read_response(timeout) == 504
    with pytest.raises(httpx2.ConnectError):
        await read_response(httpx2.ConnectError("no"))


async def test_external_http_client_ignores_proxies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It allows 50 connections."""
    arguments: dict[str, Any] = {}

    def record_arguments(**options: Any) -> Any:
        arguments.update(options)
        raise StopError

    monkeypatch.setattr(httpx2, "AsyncHTTPTransport", lambda limits: limits)
    monkeypatch.setattr(httpx2, "AsyncClient", record_arguments)
    with pytest.raises(StopError):
        async with transports.http_transport(ResolvedServer(headers={"a": "b"})):
            pass
    assert (arguments["headers"], arguments["trust_env"]) == ({"a": "b"}, False)
    assert arguments["transport"]._transport.max_connections == 50
    assert arguments["timeout"] == httpx2.Timeout(10.0, read=300.0)


async def test_server_reconnect_delay_doubles_until_a_connection_lasts_30_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    pauses: list[float] = []
    durations = [0.0] * 8 + [30.0, 31.0, 0.0]

    async def connect(_: Connection) -> str:
        if len(pauses) == len(durations):
            raise StopError
        clock.now += durations[len(pauses)]
        return "it went away"

    loop = SimpleNamespace(time=clock.monotonic)
    fake_asyncio = SimpleNamespace(get_running_loop=lambda: loop, sleep=clock.sleep)
    connection = Connection(ExternalServer("far"), frozenset(), lambda: None)
    monkeypatch.setattr(connection_module, "asyncio", fake_asyncio)
    monkeypatch.setattr(connection_module.random, "uniform", lambda *pair: max(pair))
    monkeypatch.setattr(Connection, "_connect", connect)
    monkeypatch.setattr(
        Connection, "_set_down", lambda _, why, delay: pauses.append(delay)
    )
    with pytest.raises(StopError):
        await connection._run()
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 0.5, 1.0]
    assert clock.sleeps == pauses
    monkeypatch.setattr(connection_module.random, "uniform", lambda *pair: min(pair))
    pauses.clear()
    with pytest.raises(StopError):
        await connection._run()
    assert pauses[:3] == [0.5, 1.0, 2.0], "each delay is random from half to all of it"


async def test_external_tool_list_is_refreshed_every_five_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Change notifications refresh it at most once per second."""
    waits: list[float] = []
    updates: list[Any] = []
    clock = FakeClock()

    class FakeSession:
        is_lost = False

        async def wait_for_change(self, seconds: float) -> None:
            waits.append(seconds)
            self.is_lost = len(waits) == 3

        def describe_loss(self) -> str:
            return "it went away"

    @asynccontextmanager
    async def open_session(*_: Any) -> AsyncIterator[FakeSession]:
        yield FakeSession()

    async def update_tools(_: Connection, session: Any) -> None:
        updates.append(session)

    async def to_thread(*_: Any) -> None:
        pass

    changed: list[int] = []
    server = ExternalServer("far")
    connection = Connection(server, frozenset(), lambda: changed.append(1))
    fake_asyncio = SimpleNamespace(to_thread=to_thread, sleep=clock.sleep)
    monkeypatch.setattr(connection_module, "asyncio", fake_asyncio)
    monkeypatch.setattr(session_module, "open_session", open_session)
    monkeypatch.setattr(Connection, "_update_tools", update_tools)
    assert await connection._connect() == "it went away"
    assert (waits, clock.sleeps, len(updates)) == ([300.0] * 3, [1.0] * 2, 3)
    assert changed == [1]


async def test_failed_first_connection_to_an_external_server_is_logged_as_not_connected(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The message names the delay and, as no tools were listed yet, none of them."""
    connection = Connection(ExternalServer("far"), frozenset(), lambda: None)
    for _ in range(2):
        connection._set_down("no", 0.5)
    message = "external server far: not connected: no; next attempt in 0.5 s"
    logged = [text for text in caplog.messages if " far: " in text]
    assert (logged, connection.state) == ([message] * 2, "down")
