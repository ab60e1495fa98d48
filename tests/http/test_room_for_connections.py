"""How many connections there is room for, and who is asked to come again."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from tests.http.test_http_pieces import HEAD, answering, connected
from toolcast_runtime.http import connections
from toolcast_runtime.http.request_limits import ADMITTED

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("descriptors", "most", "admitted"),
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
def test_there_is_room_as_there_are_descriptors(
    monkeypatch: pytest.MonkeyPatch, descriptors: int, most: int, admitted: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, -1))
    assert connections.get_connection_limit() == most
    assert connections.get_admission_limit() == admitted


async def test_who_waits_among_many_gets_a_last_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than a quarter of all; the others may go on as they are."""
    monkeypatch.setattr(connections, "get_connection_limit", lambda: 4)
    async with connected(answering) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        alone = await reader.readuntil(b" a")
        async with connected(answering) as (_, other, begun):
            begun.write(HEAD % 1 + b"a")
            among = await other.readuntil(b" a")
    assert b"connection: close" not in alone
    assert b"connection: close" in among


def _is_kept(protocol: connections.BoundedProtocol) -> tuple[bool, bool]:
    return protocol in connections._waiting, protocol in connections._admitted


async def _admitting(scope: Any, receive: Any, send: Any) -> None:
    """Answers whether there is room for its request."""
    is_let_in = scope["extensions"][ADMITTED]()
    await receive()
    said = b"1" if is_let_in else b"0"
    length = (b"content-length", b"1")
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": said})


async def _said(reader: Any, writer: Any) -> bytes:
    writer.write(HEAD % 1 + b"a")
    await reader.readuntil(b"\r\n\r\n")
    return cast(bytes, await reader.readexactly(1))


async def test_who_is_let_in_waits_no_more() -> None:
    async with connected(_admitting) as (protocol, reader, writer):
        assert _is_kept(protocol) == (True, False)
        assert await _said(reader, writer) == b"1"
        assert _is_kept(protocol) == (False, True)
        assert await _said(reader, writer) == b"1"


async def test_who_is_quiet_makes_room_for_who_is_let_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "get_admission_limit", lambda: 1)
    async with connected(_admitting) as (first, reader, writer):
        assert await _said(reader, writer) == b"1"
        async with connected(_admitting) as (second, other, begun):
            assert await _said(other, begun) == b"0"
            assert (_is_kept(first), _is_kept(second)) == ((False, True), (True, False))
            await asyncio.sleep(0.06)
            assert await _said(other, begun) == b"1"
            assert (_is_kept(first), _is_kept(second)) == (
                (False, False),
                (False, True),
            )
        assert await reader.read() == b""


async def test_who_comes_to_a_full_house_makes_the_first_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "get_connection_limit", lambda: 1)
    async with (
        connected(answering) as (first, reader, _),
        connected(answering) as (second, other, begun),
    ):
        assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
        assert (_is_kept(first), _is_kept(second)) == ((False, False), (True, False))
        begun.write(HEAD % 1 + b"a")
        assert await other.readuntil(b" a")


@pytest.mark.parametrize(("headers", "status"), [(198, b"200"), (199, b"400")])
async def test_a_head_has_two_hundred_lines(headers: int, status: bytes) -> None:
    """With those of its request and its host."""
    async with connected(answering) as (_, reader, writer):
        more = b"".join(b"X-%d: a\r\n" % number for number in range(headers))
        head = b"POST / HTTP/1.1\r\nHost: a\r\n" + more
        for line in head.splitlines(keepends=True):
            writer.write(line)
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 " + status)


async def test_many_short_chunks_are_read_whole() -> None:
    async with connected(answering) as (_, reader, writer):
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"1\r\na\r\n" * 500 + b"0\r\n\r\n")
        answer = await reader.readuntil(b"a" * 500)
        assert answer.startswith(b"HTTP/1.1 200 ")
