"""Limits on open connections, and which connections are closed when a limit is reached."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from tests.http.test_partial_requests import HEAD, connect, echo
from toolcast_runtime.http import connections
from toolcast_runtime.http.request_limits import ADMITTED

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("descriptors", "connection_limit", "admission_limit"),
    [
        (-1, 1_200, 1_000),
        (100_000, 1_200, 1_000),
        (1_600, 1_200, 800),
        (1_596, 1_197, 798),
        (100, 75, 50),
        (22, 16, 16),
        (23, 17, 16),
        (0, 16, 16),
    ],
)
def test_http_connection_limits_depend_on_the_file_descriptor_limit(
    monkeypatch: pytest.MonkeyPatch,
    descriptors: int,
    connection_limit: int,
    admission_limit: int,
) -> None:
    """Connections may use three quarters, at most 1,200; admitted ones half, at most 1,000."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, -1))
    assert connections.get_connection_limit() == connection_limit
    assert connections.get_admission_limit() == admission_limit


async def test_unadmitted_connections_over_limit_divided_by_four_close_after_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A connection is admitted when the token of its request is valid."""
    monkeypatch.setattr(connections, "get_connection_limit", lambda: 4)
    async with connect(echo) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        first_answer = await reader.readuntil(b" a")
        async with connect(echo) as (_, other_reader, other_writer):
            other_writer.write(HEAD % 1 + b"a")
            second_answer = await other_reader.readuntil(b" a")
    assert b"connection: close" not in first_answer
    assert b"connection: close" in second_answer


def is_waiting_and_admitted(protocol: connections.BoundedProtocol) -> tuple[bool, bool]:
    return protocol in connections._waiting, protocol in connections._admitted


async def admission_app(scope: Any, receive: Any, send: Any) -> None:
    """Request admission for the connection and answer `1` if it was granted."""
    is_admitted = scope["extensions"][ADMITTED]()
    await receive()
    body = b"1" if is_admitted else b"0"
    length = (b"content-length", b"1")
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


async def request_admission(reader: Any, writer: Any) -> bytes:
    writer.write(HEAD % 1 + b"a")
    await reader.readuntil(b"\r\n\r\n")
    return cast(bytes, await reader.readexactly(1))


async def test_connection_counts_as_admitted_after_a_request_with_valid_token() -> None:
    async with connect(admission_app) as (protocol, reader, writer):
        assert is_waiting_and_admitted(protocol) == (True, False)
        assert await request_admission(reader, writer) == b"1"
        assert is_waiting_and_admitted(protocol) == (False, True)
        assert await request_admission(reader, writer) == b"1"


async def test_idle_authenticated_connection_is_closed_to_admit_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "get_admission_limit", lambda: 1)
    async with connect(admission_app) as (first, reader, writer):
        assert await request_admission(reader, writer) == b"1"
        async with connect(admission_app) as (second, other_reader, other_writer):
            assert await request_admission(other_reader, other_writer) == b"0"
            assert (
                is_waiting_and_admitted(first),
                is_waiting_and_admitted(second),
            ) == ((False, True), (True, False))
            await asyncio.sleep(0.06)
            assert await request_admission(other_reader, other_writer) == b"1"
            assert (
                is_waiting_and_admitted(first),
                is_waiting_and_admitted(second),
            ) == ((False, False), (False, True))
        assert await reader.read() == b""


async def test_connection_with_a_running_call_is_not_closed_to_admit_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_running, can_answer = asyncio.Event(), asyncio.Event()

    async def slow_app(scope: Any, receive: Any, send: Any) -> None:
        scope["extensions"][ADMITTED]()
        is_running.set()
        await can_answer.wait()
        await echo(scope, receive, send)

    monkeypatch.setattr(connections, "get_admission_limit", lambda: 1)
    monkeypatch.setattr(connections, "_QUIET_S", 0.0)
    async with (
        connect(slow_app) as (_, reader, writer),
        connect(admission_app) as (_, other_reader, other_writer),
    ):
        writer.write(HEAD % 1 + b"a")
        await is_running.wait()
        assert await request_admission(other_reader, other_writer) == b"0"
        can_answer.set()
        assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")


async def test_connection_over_the_limit_makes_the_oldest_one_end_with_503(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "get_connection_limit", lambda: 1)
    async with (
        connect(echo) as (first, reader, _),
        connect(echo) as (second, other_reader, other_writer),
    ):
        assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
        assert (is_waiting_and_admitted(first), is_waiting_and_admitted(second)) == (
            (False, False),
            (True, False),
        )
        other_writer.write(HEAD % 1 + b"a")
        assert await other_reader.readuntil(b" a")


async def test_connection_in_shutdown_answers_a_request_and_closes_with_one_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Connections share their default headers; idle ones are closed without a request."""
    monkeypatch.setattr(connections, "IDLE_SHUTDOWN_S", 0.05)
    async with (
        connect(echo) as (first, idle_reader, _),
        connect(echo) as (second, reader, writer),
    ):
        second.server_state = first.server_state
        first.shutdown()
        second.shutdown()
        writer.write(HEAD % 1 + b"a")
        answer = await reader.read()
        assert answer.count(b"connection: close") == 1 and answer.endswith(b"1 a")
        async with asyncio.timeout(5):
            assert await idle_reader.read() == b""


@pytest.mark.parametrize(("headers", "status"), [(198, b"200"), (199, b"400")])
async def test_http_request_head_may_have_at_most_200_lines(
    headers: int, status: bytes
) -> None:
    """The request line and the host header count."""
    async with connect(echo) as (_, reader, writer):
        more = b"".join(b"X-%d: a\r\n" % number for number in range(headers))
        head = b"POST / HTTP/1.1\r\nHost: a\r\n" + more
        for line in head.splitlines(keepends=True):
            writer.write(line)
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 " + status)


async def test_http_request_body_in_500_one_byte_chunks_is_read_completely() -> None:
    async with connect(echo) as (_, reader, writer):
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"1\r\na\r\n" * 500 + b"0\r\n\r\n")
        answer = await reader.readuntil(b"a" * 500)
        assert answer.startswith(b"HTTP/1.1 200 ")
        writer.write(HEAD % 1 + b"b")
        async with asyncio.timeout(5):
            await reader.readuntil(b" b")
