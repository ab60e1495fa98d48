"""What comes in pieces, late or never, and answers in as few pieces as can be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from toolcast_runtime.http import connections, request_limits
from toolcast_runtime.http.app import _PathRouter
from toolcast_runtime.http.connections import BoundedProtocol
from toolcast_runtime.http.endpoints import Tokens
from toolcast_runtime.http.request_limits import ARRIVED, AllowedHosts, Guard

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


class Asked:
    """What a guarded application got, and what was answered."""

    def __init__(self, *pieces: dict[str, Any], answer: int = 200) -> None:
        self._pieces = list(pieces)
        self._answer = answer
        self.body: bytes | None = None
        self.sent: list[int] = []

    async def receive(self) -> dict[str, Any]:
        assert self._pieces, "nobody may wait for a body here"
        await asyncio.sleep(0)
        return self._pieces.pop(0)

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.sent.append(message["status"])

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.body = (await receive())["body"]
        await send({"type": "http.response.start", "status": self._answer})
        await send({"type": "http.response.body"})

    async def by(self, *headers: tuple[bytes, bytes], **given: Any) -> list[int]:
        """The statuses that a guard answers, which knows one token."""
        guarded = Guard(
            self.app,
            AllowedHosts(["a"]),
            Tokens("T", ("t0k",)),
            "tests",
            ("POST",),
            10,
        )
        scope = {"type": "http", "method": "POST", "headers": list(headers), **given}
        await guarded(scope, self.receive, self.send)
        return self.sent


HOST = (b"host", b"a")
RIGHT = (b"authorization", b"Bearer t0k")
WRONG = (b"authorization", b"Bearer t1k")
LONG = (b"content-length", b"11")
SHORT = (b"content-length", b"2")


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([HOST], 401),
        ([HOST, WRONG, LONG], 401),
        ([HOST, RIGHT, WRONG], 401),
        ([HOST, RIGHT, RIGHT], 401),
        ([HOST, HOST, RIGHT], 421),
        ([RIGHT], 421),
        ([HOST, (b"host", b"b"), RIGHT], 421),
        ([HOST, (b"origin", b"http://a"), (b"origin", b"http://a"), WRONG], 403),
        ([HOST, RIGHT, LONG], 413),
    ],
)
async def test_a_head_is_refused_before_anybody_waits_for_the_body(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    asked = Asked()
    assert await asked.by(*headers) == [status]
    assert asked.body is None


async def test_a_method_is_refused_after_the_token_and_before_the_body() -> None:
    assert await Asked().by(HOST, WRONG, method="PUT") == [401]
    assert await Asked().by(HOST, RIGHT, LONG, method="PUT") == [405]


@pytest.mark.parametrize("length", [SHORT, (b"content-length", b"x")])
async def test_a_length_that_is_not_right_is_not_believed(
    length: tuple[bytes, bytes],
) -> None:
    asked = Asked(piece(b"123456", more=True), piece(b"78901"))
    assert await asked.by(HOST, RIGHT, length) == [413]
    asked = Asked(piece(b"12"))
    assert await asked.by(HOST, RIGHT, length, length) == [200]


async def test_a_body_of_many_pieces_is_read_whole() -> None:
    asked = Asked(*(piece(b"%d" % n, more=n < 9) for n in range(10)))
    assert await asked.by(HOST, RIGHT) == [200]
    assert asked.body == b"0123456789"


async def test_of_a_caller_that_goes_nothing_is_answered() -> None:
    asked = Asked(piece(b"1", more=True), {"type": "http.disconnect"})
    assert await asked.by(HOST, RIGHT) == []
    assert asked.body is None


@pytest.mark.parametrize("has_arrived", [None, False])
async def test_a_body_that_never_comes_is_given_up(
    monkeypatch: pytest.MonkeyPatch, has_arrived: bool | None
) -> None:
    monkeypatch.setattr(request_limits, "BODY_TIMEOUT_S", 0.05)
    asked = Asked()

    async def never() -> dict[str, Any]:
        return cast(dict[str, Any], await asyncio.Future())

    asked.receive = never  # type: ignore[method-assign]
    told = {} if has_arrived is None else {ARRIVED: lambda: has_arrived}
    async with asyncio.timeout(5):
        assert await asked.by(HOST, RIGHT, extensions=told) == [408]


async def test_only_what_is_rpc_owes_a_request_its_answer() -> None:
    null = b'{"id":null,"method":"x"}'
    for is_rpc, body, status in (
        (True, null, 400),
        (True, b'{"method":"x"}', 202),
        (False, null, 202),
    ):
        asked = Asked(piece(body), answer=202)
        guarded = Guard(
            asked.app, AllowedHosts(["a"]), None, "t", ("POST",), 99, is_rpc=is_rpc
        )
        scope = {"type": "http", "method": "POST", "headers": [HOST]}
        await guarded(scope, asked.receive, asked.send)
        assert asked.sent == [status]


App = Callable[[Any, Any, Any], Awaitable[None]]


@asynccontextmanager
async def connected(
    app: App,
) -> AsyncIterator[tuple[BoundedProtocol, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to the application, from both sides."""
    made: list[BoundedProtocol] = []

    def protocol() -> BoundedProtocol:
        made.append(BoundedProtocol(config, ServerState(), {}))
        return made[-1]

    config = uvicorn.Config(app, ws="none", log_config=None, access_log=False)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield made[0], reader, writer
        finally:
            writer.close()
            made[0].transport.abort()


async def answering(scope: Any, receive: Any, send: Any) -> None:
    """Answers with what was sent, and tells whether it was there from the beginning."""
    has_arrived = scope["extensions"][ARRIVED]()
    body = b""
    while True:
        message = await receive()
        body += message["body"]
        if not message["more_body"]:
            break
    said = b"%d %b" % (has_arrived, body)
    length = (b"content-length", b"%d" % len(said))
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": said})


def pieces_of(protocol: BoundedProtocol, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what is written from now on, each of which may wake the caller up."""
    transport: Any = protocol.transport
    below = transport._transport
    sizes: list[int] = []
    write = below.write

    def counted(data: bytes) -> None:
        if data:
            sizes.append(len(data))
        write(data)

    monkeypatch.setattr(below, "write", counted)
    return sizes


async def test_an_answer_goes_out_as_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(answering) as (protocol, reader, writer):
        writer.write(HEAD % 3 + b"abc")
        assert (await reader.readuntil(b"1 abc")).startswith(b"HTTP/1.1 200 ")
        sizes = pieces_of(protocol, monkeypatch)
        for _ in range(2):
            writer.write(HEAD % 3 + b"abc")
            await reader.readuntil(b"1 abc")
        assert len(sizes) == 2


async def test_the_body_is_not_there_while_a_part_of_it_is_missing() -> None:
    async with connected(answering) as (_, reader, writer):
        for end in (b"", b"c"):
            writer.write(HEAD % (2 + len(end)) + b"a")
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(b"b" + end)
            assert (await reader.readuntil(b"ab" + end)).endswith(b"0 ab" + end)


async def test_an_answer_without_a_body_is_sent() -> None:
    async def empty(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body"})

    async with connected(empty) as (_, reader, writer):
        for _ in range(2):
            writer.write(HEAD % 1 + b"a")
            async with asyncio.timeout(5):
                head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 202 ")


async def test_who_asks_whether_to_go_on_is_told_at_once() -> None:
    async with connected(answering) as (_, reader, writer):
        head = (HEAD % 3).removesuffix(b"\r\n") + b"Expect: 100-continue\r\n\r\n"
        writer.write(head)
        async with asyncio.timeout(5):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
            writer.write(b"abc")
            assert (await reader.readuntil(b" abc")).startswith(b"HTTP/1.1 200 ")


async def test_the_head_of_a_stream_is_sent_at_once() -> None:
    go_on = asyncio.Event()

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await go_on.wait()
        await send({"type": "http.response.body", "body": b"end"})

    async with connected(streaming) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        async with asyncio.timeout(5):
            await reader.readuntil(b"\r\n\r\n")
            go_on.set()
            await reader.readuntil(b"end")


async def test_an_answer_that_breaks_off_has_its_head() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"9")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        raise ValueError

    async with connected(failing) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        async with asyncio.timeout(5):
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")


async def seconds_with_half_a_head(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> float:
    """Until the server has closed the connection."""
    begun = time.monotonic()
    writer.write(HEAD[:9])
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    return time.monotonic() - begun


async def test_a_head_is_late_when_it_is_after_the_last_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.6)
    async with connected(answering) as (_, reader, writer):
        for _ in range(3):
            # Longer by themselves than a head may take alone.
            await asyncio.sleep(0.3)
            writer.write(HEAD % 1 + b"a")
            await reader.readuntil(b"1 a")
        assert 0.55 < await seconds_with_half_a_head(reader, writer) < 1.5


async def test_no_head_is_late_while_an_answer_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.2)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.7)
        await answering(scope, receive, send)

    async with connected(slow) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        await reader.readuntil(b"1 a")
        assert 0.15 < await seconds_with_half_a_head(reader, writer) < 1.0


@pytest.mark.parametrize(
    ("root", "path", "status"),
    [
        ("", "/mcp/", 200),
        ("/svc", "/svc/mcp/", 200),
        ("/svc/", "/svc//mcp/", 200),
        ("/svc/", "/svc/mcp/", 200),
        ("/svc/", "/mcp/", 200),
        ("/", "/mcp/", 200),
        ("/a/b/", "/a/b//mcp/", 200),
        ("/svc", "/svcmcp/", 404),
        ("/svc", "/svc/other/", 404),
    ],
)
async def test_root_path_with_or_without_slash_finds_the_endpoint(
    root: str, path: str, status: int
) -> None:
    """uvicorn puts `--root-path` before the path as it is given."""
    sent: list[Any] = []

    async def endpoint(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    @asynccontextmanager
    async def no_lifespan(app: Any) -> AsyncIterator[None]:
        yield

    hosts = AllowedHosts(["a"])
    router = _PathRouter({"/mcp/": endpoint}, no_lifespan, hosts)
    scope = {"type": "http", "method": "POST", "path": path, "root_path": root}
    await router({**scope, "headers": []}, receive, send)
    assert sent[0]["status"] == status
