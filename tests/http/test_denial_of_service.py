"""Denial of service: slow, large, malformed or numerous requests do not block others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.http.serving import Server, rpc, run_server
from toolcast_runtime.http.connections import HEAD_TIMEOUT_S
from toolcast_runtime.http.fairness import Turns

SLOW = pytest.mark.slow
DESCRIPTORS = 256
# The documented limit is 100 ms; the machine may be busy with other work.
MAX_HEALTH_SECONDS = 0.5
TOKENS = {
    "KIRISHIMA_TOKEN_INTERNAL": "internal-token",
    "KIRISHIMA_TOKEN_COPILOT": "copilot-token",
    "KIRISHIMA_TOKEN_EXTERNAL": "external-token",
}


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server("--local-tools", env=TOKENS) as running:
        if sys.platform == "linux":
            import resource

            limits = (DESCRIPTORS, DESCRIPTORS)
            resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, limits)
        yield running


def median_health_seconds(server: Server, times: int = 15) -> float:
    """Return the median duration of sequential `/health` requests."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        assert server.send("/health", method="GET").status == 200
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


@contextlib.contextmanager
def repeat_in_threads(attack: Callable[[], None], threads: int = 4) -> Iterator[None]:
    """Repeat an attack in some threads until the end of the context."""
    stopped = threading.Event()

    def run() -> None:
        while not stopped.is_set():
            with contextlib.suppress(OSError):
                attack()

    attackers = [threading.Thread(target=run, daemon=True) for _ in range(threads)]
    for thread in attackers:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in attackers:
            thread.join(60)


@contextlib.contextmanager
def open_connections(
    server: Server, count: int, text: bytes, pause: float = 0.0
) -> Iterator[list[socket.socket]]:
    """Yield open connections, opened one after the other, that have sent these bytes."""
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", server.port), 10)
            stack.enter_context(connection)
            with contextlib.suppress(OSError):
                connection.sendall(text)
            connections.append(connection)
            time.sleep(pause)
        yield connections


INCOMPLETE = {
    "nothing": b"",
    "incomplete head": b"POST /mcp/ HTTP/1.1\r\nHost: loc",
    "incomplete body without a token": (
        b"POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
    ),
    "incomplete body for health": (
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
    ),
}


OTHER_CASES = [name for name in INCOMPLETE if name != "incomplete head"]


# All cases hold a connection open; the fast suite runs one of them.
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "case",
    ["incomplete head", *(pytest.param(name, marks=SLOW) for name in OTHER_CASES)],
)
def test_health_endpoint_responds_despite_more_incomplete_requests_than_descriptors(
    server: Server, case: str
) -> None:
    with open_connections(server, DESCRIPTORS + 44, INCOMPLETE[case]):
        assert median_health_seconds(server) < MAX_HEALTH_SECONDS
    assert server.process.poll() is None


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_tools_list_works_despite_more_incomplete_bodies_than_file_descriptors(
    server: Server,
) -> None:
    """The incomplete requests have valid tokens; pauses let the server admit each."""
    text = INCOMPLETE["incomplete body without a token"].replace(
        b"Content-Length", b"Authorization: Bearer internal-token\r\nContent-Length"
    )
    with open_connections(server, DESCRIPTORS + 44, text, 0.005):
        assert median_health_seconds(server, 1) < MAX_HEALTH_SECONDS
        response = server.request("/mcp/", "tools/list", token="internal-token")
        assert response.status == 200


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_http_connection_with_incomplete_head_is_closed_after_head_timeout(
    server: Server,
) -> None:
    with open_connections(server, 1, INCOMPLETE["incomplete head"]) as (connection,):
        connection.settimeout(HEAD_TIMEOUT_S + 20)
        start = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        assert HEAD_TIMEOUT_S - 1 < time.monotonic() - start < HEAD_TIMEOUT_S + 15


@pytest.mark.timeout(180)
def test_health_endpoint_responds_during_bad_token_and_large_body_floods(
    server: Server,
) -> None:
    """The bodies exceed the size limit or are slow to validate."""

    def send_bad_token() -> None:
        assert server.request("/mcp/", "tools/list", token="wrong").status == 401

    def send_large_body() -> None:
        headers = {"Authorization": "Bearer internal-token"}
        server.send("/mcp/", b"[" * 5_000_000, headers)

    numbers = [10**20 + number for number in range(20_000)]
    call = {"name": "memory", "arguments": {"action": "list", "limit": numbers}}
    body, headers = rpc("tools/call", call)

    def send_slow_arguments() -> None:
        authorized = {**headers, "Authorization": "Bearer internal-token"}
        server.send("/mcp/", body, authorized)

    with (
        repeat_in_threads(send_bad_token, 2),
        repeat_in_threads(send_large_body, 1),
        repeat_in_threads(send_slow_arguments, 1),
    ):
        assert median_health_seconds(server, 25) < MAX_HEALTH_SECONDS
    assert server.process.poll() is None


CHUNKED = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK_FLOODS = {
    "chunks for health": (CHUNKED % b"/health", b"1\r\nx\r\n"),
    "chunks without a token": (CHUNKED % b"/mcp/", b"1\r\nx\r\n"),
}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("case", CHUNK_FLOODS)
def test_health_endpoint_responds_during_one_byte_body_chunk_floods(
    server: Server, case: str
) -> None:
    """Tiny chunks cost as much work as a long body."""
    head, piece = CHUNK_FLOODS[case]

    def send_chunks() -> None:
        with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
            connection.sendall(head)
            end = time.monotonic() + 20
            while time.monotonic() < end and not stopped:
                connection.sendall(piece * 10_000)

    stopped: list[bool] = []
    with repeat_in_threads(send_chunks, 4):
        try:
            time.sleep(0.5)
            assert median_health_seconds(server, 5) < MAX_HEALTH_SECONDS
        finally:
            stopped.append(True)


@pytest.mark.rows(2)
@pytest.mark.parametrize("size", [1, 7, 1_000, 200_000])
def test_http_bodies_with_and_without_chunks_are_read_at_any_tcp_segment_size(
    server: Server, size: int
) -> None:
    """The requests are pipelined on one connection."""
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
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        for start in range(0, len(sent), size):
            connection.sendall(sent[start : start + size])
        answers = b""
        while part := connection.recv(100_000):
            answers += part
    assert answers.count(b"HTTP/1.1 200 OK") == (4 if size > 1 else 2), answers
    assert answers.endswith(b'{"status":"ok"}')


async def test_large_http_bodies_are_parsed_while_the_loop_executor_is_busy() -> None:
    """Host name lookups for an issuer use the threads of the event loop's executor."""
    executor = ThreadPoolExecutor(2)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(executor)
    busy, lookups_may_end = threading.Barrier(3), threading.Event()

    def look_up() -> None:
        busy.wait(60)
        lookups_may_end.wait(60)

    lookups = [loop.run_in_executor(None, look_up) for _ in range(2)]
    try:
        # Both threads of the executor have started when the third party arrives.
        busy.wait(60)
        async with asyncio.timeout(30):
            assert await Turns().run_in_thread(lambda: "read") == "read"
    finally:
        lookups_may_end.set()
        await asyncio.gather(*lookups)
