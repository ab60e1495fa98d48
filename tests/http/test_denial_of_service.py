"""`/health` and honest callers are answered beside callers that mean harm."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.http.serving import RunningServer, rpc, run_server
from toolcast_runtime.http import request_limits
from toolcast_runtime.http.connections import HEAD_TIMEOUT_S
from toolcast_runtime.http.endpoints import Tokens
from toolcast_runtime.http.fairness import Turns
from toolcast_runtime.http.request_limits import AllowedHosts, Guard

DESCRIPTORS = 256
# The promise is 100 ms; the machine may have other work.
MOST_SECONDS = 0.5
TOKENS = {
    "KIRISHIMA_TOKEN_INTERNAL": "internal-token",
    "KIRISHIMA_TOKEN_COPILOT": "copilot-token",
    "KIRISHIMA_TOKEN_EXTERNAL": "external-token",
}


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with run_server("--local-tools", env=TOKENS) as running:
        if sys.platform == "linux":
            import resource

            few = (DESCRIPTORS, DESCRIPTORS)
            resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, few)
        yield running


def median_of_health(server: RunningServer, times: int = 15) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        assert server.send("/health", method="GET").status == 200
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


@contextlib.contextmanager
def attacked(attack: Callable[[], None], threads: int = 4) -> Iterator[None]:
    """While callers do something again and again."""
    is_over = threading.Event()

    def run() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError):
                attack()

    runs = [threading.Thread(target=run, daemon=True) for _ in range(threads)]
    for each in runs:
        each.start()
    try:
        yield
    finally:
        is_over.set()
        for each in runs:
            each.join(60)


@contextlib.contextmanager
def opened(
    server: RunningServer, count: int, text: bytes, pause: float = 0.0
) -> Iterator[list[socket.socket]]:
    """Connections that have sent a text and wait, one after the other."""
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", server.port), 10)
            stack.enter_context(one)
            with contextlib.suppress(OSError):
                one.sendall(text)
            connections.append(one)
            time.sleep(pause)
        yield connections


HALF = {
    "nothing": b"",
    "half a head": b"POST /mcp/ HTTP/1.1\r\nHost: loc",
    "half a body without a token": (
        b"POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
    ),
    "half a body for health": (
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
    ),
}


# What all have in common is a connection that is kept; the slow tests have each.
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=[] if what == "half a head" else [pytest.mark.slow])
        for what in HALF
    ],
)
def test_more_half_open_requests_than_descriptors(
    server: RunningServer, what: str
) -> None:
    with opened(server, DESCRIPTORS + 44, HALF[what]):
        assert median_of_health(server) < MOST_SECONDS
    assert server.process.poll() is None


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_more_half_bodies_of_known_callers_than_descriptors(
    server: RunningServer,
) -> None:
    """Slowly, so that each is let in before the next one comes."""
    text = HALF["half a body without a token"].replace(
        b"Content-Length", b"Authorization: Bearer internal-token\r\nContent-Length"
    )
    with opened(server, DESCRIPTORS + 44, text, 0.005):
        assert median_of_health(server, 1) < MOST_SECONDS
        asked = server.request("/mcp/", "tools/list", token="internal-token")
        assert asked.status == 200


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_head_that_does_not_end_is_given_up(server: RunningServer) -> None:
    with opened(server, 1, HALF["half a head"]) as (one,):
        one.settimeout(HEAD_TIMEOUT_S + 20)
        start = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert one.recv(1) == b""
        assert HEAD_TIMEOUT_S - 1 < time.monotonic() - start < HEAD_TIMEOUT_S + 15


@pytest.mark.timeout(180)
def test_health_beside_floods(server: RunningServer) -> None:
    """Bad tokens, bodies that are too large, and arguments that take long to check."""

    def bad_token() -> None:
        assert server.request("/mcp/", "tools/list", token="wrong").status == 401

    def large() -> None:
        headers = {"Authorization": "Bearer internal-token"}
        server.send("/mcp/", b"[" * 5_000_000, headers)

    numbers = [10**20 + number for number in range(20_000)]
    call = {"name": "memory", "arguments": {"action": "list", "limit": numbers}}
    body, headers = rpc("tools/call", call)

    def costly() -> None:
        server.send(
            "/mcp/", body, {**headers, "Authorization": "Bearer internal-token"}
        )

    with attacked(bad_token, 2), attacked(large, 1), attacked(costly, 1):
        assert median_of_health(server, 25) < MOST_SECONDS
    assert server.process.poll() is None


CHUNKED = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECES = {
    "chunks for health": (CHUNKED % b"/health", b"1\r\nx\r\n"),
    "chunks without a token": (CHUNKED % b"/mcp/", b"1\r\nx\r\n"),
}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("what", PIECES)
def test_health_beside_floods_of_short_pieces(server: RunningServer, what: str) -> None:
    """Some bytes each, and as much work as for a long text."""
    head, piece = PIECES[what]

    def pieces() -> None:
        with socket.create_connection(("127.0.0.1", server.port), 10) as one:
            one.sendall(head)
            end = time.monotonic() + 20
            while time.monotonic() < end and not is_over:
                one.sendall(piece * 10_000)

    is_over: list[bool] = []
    with attacked(pieces, 4):
        try:
            time.sleep(0.5)
            assert median_of_health(server, 5) < MOST_SECONDS
        finally:
            is_over.append(True)


@pytest.mark.rows(2)
@pytest.mark.parametrize("size", [1, 7, 1_000, 200_000])
def test_bodies_of_short_pieces_are_read_whole(
    server: RunningServer, size: int
) -> None:
    """Chunk by chunk, line by line, in one piece and in many, and one behind the other."""
    text = b'{"jsonrpc": "2.0", "id": 1,%b"method": "ping"}' % (b"\n" * 3_000)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in text) + b"0\r\n\r\n"
    more = (
        b"Authorization: Bearer internal-token\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\n\r\n"
    )
    chunked = (CHUNKED % b"/mcp/")[:-2] + more + chunks
    plain = b"POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%b%b"
    last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    sent = chunked + plain % (len(text), more, text) + chunked + last
    sent = sent if size > 1 else plain % (len(text), more, text) + last
    with socket.create_connection(("127.0.0.1", server.port), 10) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        for at in range(0, len(sent), size):
            one.sendall(sent[at : at + size])
        answers = b""
        while part := one.recv(100_000):
            answers += part
    assert answers.count(b"HTTP/1.1 200 OK") == (4 if size > 1 else 2), answers
    assert answers.endswith(b'{"status":"ok"}')


def test_a_head_of_too_many_lines_is_refused(server: RunningServer) -> None:
    for count, status in ((150, b"200"), (500, b"400")):
        with opened(
            server,
            1,
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + b"a:\r\n" * count
            + b"\r\n",
        ) as (one,):
            assert one.recv(12) == b"HTTP/1.1 " + status


async def test_a_body_that_does_not_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import asyncio

    monkeypatch.setattr(request_limits, "BODY_TIMEOUT_S", 0.05)
    sent: list[int] = []

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        if message["type"] == "http.response.start":
            sent.append(message["status"])

    async def app(*_: object) -> None:
        raise AssertionError("it was let through")

    scope = {"type": "http", "method": "POST", "headers": [(b"host", b"a")]}
    guarded = Guard(app, AllowedHosts(["a"]), None, "tests", ("POST",), 1_000)
    await guarded(scope, receive, send)
    assert sent == [408]


@pytest.mark.parametrize(
    ("header", "is_right"),
    [
        (b"Bearer t0k", True),
        (b"bearer   t0k ", True),
        (b"Bearer t0k\xa0", False),
        (b"Bearer \xa0t0k", False),
        (b"Bearer t0k\x85", False),
        (b"Bearer\xa0t0k", False),
        (b"Bearer t0k\x1f", False),
        (b"Bearer \xff\xfe", False),
        (b"Bearer ", False),
        (b"Bearer", False),
        (b"", False),
        (b"Bearer " + b"t" * 60_000, False),
    ],
)
async def test_a_token_is_taken_as_it_is(header: bytes, is_right: bool) -> None:
    sent: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message.get("status", 0))

    async def app(*_: object) -> None:
        sent.append(200)

    headers = [(b"host", b"a"), (b"authorization", header)]
    scope = {"type": "http", "method": "POST", "headers": headers}
    guarded = Guard(
        app, AllowedHosts(["a"]), Tokens("T", ("t0k",)), "tests", ("POST",), 1_000
    )
    await guarded(scope, receive, send)
    assert sent[0] == (200 if is_right else 401)


def test_a_host_is_taken_as_it_is() -> None:
    hosts = AllowedHosts(["localhost"])
    assert hosts.allows_host("localhost:80")
    assert not hosts.allows_host("localhost\xa0")


@pytest.mark.parametrize(
    ("body", "is_too_many"),
    [
        (b"[" + b"0," * 9_900 + b"0]", False),
        (b"[" + b"0," * 10_001 + b"0]", True),
        (b"[" + b"[]," * 6_000 + b"0]", True),
        (b"{" + b'"a":{"b":1},' * 6_000 + b'"c":1}', True),
        (b'["' + b"a,b;[{" * 200_000 + b'"]', False),
        (b'["' + b'\\",' * 200_000 + b'"]', False),
    ],
    ids=["many", "too many", "lists", "objects", "text", "escaped text"],
)
def test_values_of_a_body_are_counted_before_it_is_read(
    body: bytes, is_too_many: bool
) -> None:
    assert (
        request_limits.count_values(body) > request_limits.MAX_VALUES
    ) == is_too_many


def test_a_body_of_too_many_values_is_refused(server: RunningServer) -> None:
    given = {"name": "memory", "arguments": {"action": "list", "x": [[]] * 20_000}}
    body, headers = rpc("tools/call", given)
    answer = server.send(
        "/mcp/", body, {**headers, "Authorization": "Bearer internal-token"}
    )
    assert answer.status == 400
    assert "more than 10,000 values" in answer.message["error"]["message"]


async def test_large_bodies_wait_for_no_name_that_is_not_resolved() -> None:
    """The loop's own threads look names up, and whoever asks an issuer has one looked up."""
    answers = threading.Event()
    many = (os.cpu_count() or 1) + 8
    waiting = (asyncio.to_thread(answers.wait, 20) for _ in range(many))
    lookups = [asyncio.ensure_future(each) for each in waiting]
    try:
        await asyncio.sleep(0.1)
        async with asyncio.timeout(5):
            assert await Turns().run_in_thread(lambda: "read") == "read"
    finally:
        answers.set()
        await asyncio.gather(*lookups)
