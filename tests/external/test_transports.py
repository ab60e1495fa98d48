"""What a server may send, how quickly, and what is kept of it, line by line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from toolcast_runtime.core.server_settings import ExternalServer, ResolvedServer
from toolcast_runtime.external import connection as connections
from toolcast_runtime.external import server_process, transports
from toolcast_runtime.external import session as sessions
from toolcast_runtime.external.connection import Connection
from toolcast_runtime.external.transports import (
    ProcessExit,
    _BoundedTransport,
    _RateLimiter,
)

ANSWER = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()
REPORT = json.dumps(
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"x": 1}}
).encode()
CHANGE = json.dumps(
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
).encode()


class Clock:
    """The time, which passes while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(transports, "time", clock)
    monkeypatch.setattr(transports.anyio, "sleep", clock.sleep)
    return clock


class Session:
    """Takes messages."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    async def send(self, message: Any) -> None:
        self.taken.append(message)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: Any) -> None:
        pass


async def test_a_burst_goes_through_and_then_so_many_a_second(clock: Clock) -> None:
    pace = _RateLimiter(3, 2)
    for _ in range(3):
        await pace.acquire()
    assert (clock.slept, pace.get_remaining()) == ([], 0)
    await pace.acquire()
    await pace.acquire(2.0)
    assert clock.slept == [0.5, 1.0]
    clock.now += 1.0
    assert pace.get_remaining() == 2.0
    clock.now += 100.0
    assert pace.get_remaining() == 3.0


async def test_a_thousand_lines_go_through_and_then_200_a_second(clock: Clock) -> None:
    reading: Any = Reading(*[ANSWER + b"\n"] * 1_001)
    session: Any = Session()
    await transports._read_messages(reading, session, ProcessExit(lambda: None))
    assert len(session.taken) == 1_001
    assert clock.slept == [1 / 200]


class Reading:
    """A process that writes these chunks."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = [*chunks]
        self.stdout = self.stderr = self

    async def read(self, _: int) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""


async def read(*chunks: bytes) -> tuple[Session, ProcessExit]:
    session, ending = Session(), ProcessExit(lambda: None)
    process: Any = Reading(*chunks)
    await transports._read_messages(process, session, ending)
    return session, ending


@pytest.mark.parametrize(
    ("chunks", "taken", "garbage", "reason"),
    [
        ((), 0, 0, "the server's process ended"),
        ((ANSWER + b"\n" + ANSWER + b"\n",), 2, 0, "the server's process ended"),
        ((ANSWER[:5], ANSWER[5:], b"\n" + ANSWER), 1, 0, "the server's process ended"),
        ((b"noise\n\n  \n" + ANSWER + b"\n",), 1, 1, "the server's process ended"),
        ((b"x\n" * 999 + ANSWER + b"\n",), 1, 999, "the server's process ended"),
        (
            (b"x\n" * 1_000 + ANSWER + b"\n",),
            0,
            1_000,
            "the server sent 1000 lines that are not messages",
        ),
    ],
)
async def test_lines_are_messages_or_noise(
    clock: Clock, chunks: Any, taken: int, garbage: int, reason: str
) -> None:
    session, ending = await read(*chunks)
    assert (len(session.taken), ending.invalid_lines, ending.reason) == (
        taken,
        garbage,
        reason,
    )


async def test_a_message_has_so_many_bytes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "MAX_MESSAGE_BYTES", 1 << 20)
    for more, reason in (
        (0, "the server's process ended"),
        (1, "the server sent a message of more than 1 MiB"),
    ):
        _, ending = await read(b"x" * ((1 << 20) + more))
        assert ending.reason == reason


@pytest.mark.parametrize(
    ("left", "line", "is_passed_on", "cost", "changes"),
    [
        (500, REPORT, True, 1, 0),
        (499, REPORT, False, len(REPORT) / 10_000, 0),
        (500, CHANGE, True, 1, 0),
        (499, CHANGE, False, len(CHANGE) / 10_000, 1),
        (499, ANSWER, True, 1, 0),
    ],
)
async def test_half_of_the_burst_is_for_answers(
    clock: Clock, left: int, line: bytes, is_passed_on: bool, cost: float, changes: int
) -> None:
    changed: list[int] = []
    ending = ProcessExit(lambda: None, lambda: changed.append(1))
    pace = _RateLimiter(1_000, 200)
    pace._remaining = left
    session: Any = Session()
    assert await transports._forward_line(line, session, ending, pace)
    assert (len(session.taken), len(changed)) == (int(is_passed_on), changes)
    assert left - pace._remaining == pytest.approx(cost)


async def test_the_last_words_are_two_thousand_bytes(clock: Clock) -> None:
    ending = ProcessExit(lambda: None)
    process: Any = Reading(b"a", b"b" * 1_999, b"c")
    await transports._read_stderr(process, ending)
    assert bytes(ending.stderr) == b"b" * 1_999 + b"c"
    assert clock.slept == [0.01] * 3


def test_the_first_reason_counts() -> None:
    told: list[int] = []
    ending = ProcessExit(lambda: told.append(1))
    for reason in ("one", "two"):
        ending.set_reason(reason)
    assert (ending.reason, told) == ("one", [1])


def test_a_message_has_sixteen_mebibytes_at_most() -> None:
    assert server_process.MAX_MESSAGE_BYTES == 16 << 20


class Answers(httpx2.AsyncBaseTransport):
    """Gives this answer, or fails like this."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.packed = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.packed = request.headers["accept-encoding"]
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Chunks(httpx2.AsyncByteStream):
    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes

    async def __aiter__(self) -> Any:
        for size in self.sizes:
            yield b"x" * size


async def asked(answer: Any) -> int:
    """How much is read of an answer."""
    request = httpx2.Request(
        "POST", "http://far.test", headers={"accept-encoding": "gzip"}
    )
    inner = Answers(answer)
    found = await _BoundedTransport(inner).handle_async_request(request)
    assert inner.packed == "identity"
    return (
        found.status_code if isinstance(answer, Exception) else len(await found.aread())
    )


@pytest.mark.parametrize(
    ("kind", "more", "is_read"),
    [
        ("application/json", 0, True),
        ("application/json", 1, False),
        ("text/event-stream; charset=utf-8", 1, True),
    ],
)
async def test_an_answer_that_is_no_stream_of_events_is_bounded(
    monkeypatch: pytest.MonkeyPatch, kind: str, more: int, is_read: bool
) -> None:
    monkeypatch.setattr(transports, "MAX_MESSAGE_BYTES", 1_000)
    answer = httpx2.Response(
        200, headers={"content-type": kind}, stream=Chunks(600, 400 + more)
    )
    if is_read:
        assert await asked(answer) == 1_000 + more
        return
    with pytest.raises(httpx2.ReadError, match="the response has more than 1000 bytes"):
        await asked(answer)


async def test_an_answer_that_is_packed_or_does_not_come() -> None:
    packed = httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=Chunks())
    with pytest.raises(httpx2.ReadError, match="the response is compressed"):
        await asked(packed)
    plain = httpx2.Response(
        200, headers={"content-encoding": "identity"}, stream=Chunks(1)
    )
    assert await asked(plain) == 1
    for late in (httpx2.PoolTimeout("late"), httpx2.ReadTimeout("late")):
        assert await asked(late) == 504
    with pytest.raises(httpx2.ConnectError):
        await asked(httpx2.ConnectError("no"))


async def test_a_client_follows_no_proxy_and_has_fifty_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {}

    class HandlerError(Exception):
        pass

    def client(**words: Any) -> Any:
        given.update(words)
        raise HandlerError

    monkeypatch.setattr(httpx2, "AsyncHTTPTransport", lambda limits: limits)
    monkeypatch.setattr(httpx2, "AsyncClient", client)
    with pytest.raises(HandlerError):
        async with transports.http_transport(ResolvedServer(headers={"a": "b"})):
            pass
    assert (given["headers"], given["trust_env"]) == ({"a": "b"}, False)
    assert given["transport"]._transport.max_connections == 50
    assert given["timeout"] == httpx2.Timeout(10.0, read=300.0)


async def test_pauses_double_up_to_a_minute_until_a_connection_was_steady(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steady is one that lasted for more than thirty seconds."""
    clock = Clock()
    pauses: list[float] = []
    lasts = [0.0] * 8 + [30.0, 31.0, 0.0]

    class StopServerError(Exception):
        pass

    async def connected(_: Connection) -> str:
        if len(pauses) == len(lasts):
            raise StopServerError
        clock.now += lasts[len(pauses)]
        return "it went away"

    loop = SimpleNamespace(time=clock.monotonic)
    fake = SimpleNamespace(get_running_loop=lambda: loop, sleep=clock.sleep)
    one = Connection(ExternalServer("far"), frozenset(), lambda: None)
    monkeypatch.setattr(connections, "asyncio", fake)
    monkeypatch.setattr(connections.random, "uniform", lambda least, most: most)
    monkeypatch.setattr(Connection, "_connect", connected)
    monkeypatch.setattr(
        Connection, "_set_down", lambda _, why, delay: pauses.append(delay)
    )
    with pytest.raises(StopServerError):
        await one._run()
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 0.5, 1.0]
    assert clock.slept == pauses


async def test_a_list_is_asked_for_every_five_minutes_and_once_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    up: list[Any] = []
    clock = Clock()

    class There:
        is_lost = False

        async def wait_for_change(self, seconds: float) -> None:
            waited.append(seconds)
            self.is_lost = len(waited) == 3

        def describe_loss(self) -> str:
            return "it went away"

    @asynccontextmanager
    async def opened(*_: Any) -> AsyncIterator[There]:
        yield There()

    async def is_up(_: Connection, session: Any) -> None:
        up.append(session)

    async def to_thread(*_: Any) -> None:
        pass

    changed: list[int] = []
    one = Connection(ExternalServer("far"), frozenset(), lambda: changed.append(1))
    fake = SimpleNamespace(to_thread=to_thread, sleep=clock.sleep)
    monkeypatch.setattr(connections, "asyncio", fake)
    monkeypatch.setattr(sessions, "open_session", opened)
    monkeypatch.setattr(Connection, "_update_tools", is_up)
    assert await one._connect() == "it went away"
    assert (waited, clock.slept, len(up)) == ([300.0] * 3, [1.0] * 2, 3)
    assert changed == [1]


async def test_a_server_that_was_never_there_has_lost_no_tools(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one = Connection(ExternalServer("far"), frozenset(), lambda: None)
    one._set_down("no", 0.5)
    assert caplog.messages == [
        "external server far: not connected: no; next attempt in 0.5 s"
    ]
    assert one.state == "down"
