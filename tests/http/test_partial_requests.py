"""Requests that arrive in parts, late or never, and responses written in few parts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from toolcast_runtime.http import connections, request_limits
from toolcast_runtime.http.app import _PathRouter
from toolcast_runtime.http.connections import BoundedProtocol
from toolcast_runtime.http.endpoints import Tokens
from toolcast_runtime.http.request_limits import (
    ADMITTED,
    ARRIVED,
    AllowedHosts,
    Guard,
)

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


class GuardedApp:
    """An application behind a guard that records the body and the response statuses."""

    def __init__(self, *pieces: dict[str, Any], answer: int = 200) -> None:
        self._pieces = list(pieces)
        self._answer = answer
        self.body: bytes | None = None
        self.sent: list[int] = []

    async def receive(self) -> dict[str, Any]:
        assert self._pieces, "the guard must not wait for more of the body"
        await asyncio.sleep(0)
        return self._pieces.pop(0)

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.sent.append(message["status"])

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.body = (await receive())["body"]
        await send({"type": "http.response.start", "status": self._answer})
        await send({"type": "http.response.body"})

    async def handle(self, *headers: tuple[bytes, bytes], **scope: Any) -> list[int]:
        """Send a request through a guard with one token; return the response statuses."""
        guarded = Guard(
            self.app, AllowedHosts(["a"]), Tokens("T", ("t0k",)), "tests", ("POST",), 10
        )
        scope = {"type": "http", "method": "POST", "headers": list(headers), **scope}
        await guarded(scope, self.receive, self.send)
        return self.sent


HOST = (b"host", b"a")
VALID_TOKEN = (b"authorization", b"Bearer t0k")
WRONG_TOKEN = (b"authorization", b"Bearer t1k")
TOO_LONG = (b"content-length", b"11")
TOO_SHORT = (b"content-length", b"2")


def body_message(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([HOST], 401),
        ([HOST, WRONG_TOKEN, TOO_LONG], 401),
        ([HOST, VALID_TOKEN, WRONG_TOKEN], 401),
        ([HOST, VALID_TOKEN, VALID_TOKEN], 401),
        ([HOST, HOST, VALID_TOKEN], 421),
        ([VALID_TOKEN], 421),
        ([HOST, (b"host", b"b"), VALID_TOKEN], 421),
        ([HOST, (b"origin", b"http://a"), (b"origin", b"http://a"), WRONG_TOKEN], 403),
        ([HOST, VALID_TOKEN, TOO_LONG], 413),
    ],
)
async def test_http_request_with_invalid_headers_is_refused_without_reading_the_body(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    app = GuardedApp()
    assert await app.handle(*headers) == [status]
    assert app.body is None


async def test_http_request_gets_503_if_its_connection_is_not_admitted() -> None:
    app = GuardedApp()
    extensions = {ADMITTED: lambda: False}
    assert await app.handle(HOST, WRONG_TOKEN, extensions=extensions) == [401]
    app = GuardedApp()
    assert await app.handle(HOST, VALID_TOKEN, extensions=extensions) == [503]
    assert app.body is None


async def test_http_method_is_checked_between_token_and_content_length() -> None:
    assert await GuardedApp().handle(HOST, WRONG_TOKEN, method="PUT") == [401]
    assert await GuardedApp().handle(HOST, VALID_TOKEN, TOO_LONG, method="PUT") == [405]


@pytest.mark.parametrize("length", [TOO_SHORT, (b"content-length", b"x")])
async def test_http_body_size_is_measured_even_if_content_length_is_wrong(
    length: tuple[bytes, bytes],
) -> None:
    app = GuardedApp(body_message(b"123456", more=True), body_message(b"78901"))
    assert await app.handle(HOST, VALID_TOKEN, length) == [413]
    app = GuardedApp(body_message(b"12"))
    assert await app.handle(HOST, VALID_TOKEN, length, length) == [200]


async def test_http_request_body_received_in_ten_parts_is_joined() -> None:
    app = GuardedApp(*(body_message(b"%d" % n, more=n < 9) for n in range(10)))
    assert await app.handle(HOST, VALID_TOKEN) == [200]
    assert app.body == b"0123456789"


async def test_disconnected_http_client_gets_no_response() -> None:
    app = GuardedApp(body_message(b"1", more=True), {"type": "http.disconnect"})
    assert await app.handle(HOST, VALID_TOKEN) == []
    assert app.body is None


@pytest.mark.parametrize("has_arrived", [None, False])
@pytest.mark.parametrize("pause", [0.02, 60])
async def test_http_request_whose_body_never_ends_gets_408(
    monkeypatch: pytest.MonkeyPatch, has_arrived: bool | None, pause: float
) -> None:
    monkeypatch.setattr(request_limits, "BODY_TIMEOUT_S", 0.05)
    app = GuardedApp()

    async def receive_part() -> dict[str, Any]:
        await asyncio.sleep(pause)
        return body_message(b"1", more=True)

    app.receive = receive_part  # type: ignore[method-assign]
    extensions = {} if has_arrived is None else {ARRIVED: lambda: has_arrived}
    async with asyncio.timeout(5):
        assert await app.handle(HOST, VALID_TOKEN, extensions=extensions) == [408]
    assert app.body is None


@pytest.mark.parametrize(
    ("authorization", "is_valid"),
    [
        (b"Bearer t0k", True),
        (b"bEARER   t0k ", True),
        (b"Bearer t0", False),
        (b"Bearer t0kk", False),
        (b"Bearer T0K", False),
        (b"Basic t0k", False),
        (b"t0k", False),
        (b"Bearer t0k, Bearer t0k", False),
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
async def test_bearer_token_must_match_without_stripping_unicode_spaces(
    authorization: bytes, is_valid: bool
) -> None:
    app = GuardedApp(body_message(b"{}"))
    sent = await app.handle(HOST, (b"authorization", authorization))
    assert sent == [200 if is_valid else 401]


async def test_json_rpc_request_with_null_id_is_rejected_only_at_rpc_paths() -> None:
    """A JSON-RPC notification, which has no id, is accepted."""
    null = b'{"id":null,"method":"x"}'
    for is_rpc, body, status in (
        (True, null, 400),
        (True, b'{"method":"x"}', 202),
        (False, null, 202),
    ):
        app = GuardedApp(body_message(body), answer=202)
        guarded = Guard(
            app.app, AllowedHosts(["a"]), None, "t", ("POST",), 99, is_rpc=is_rpc
        )
        scope = {"type": "http", "method": "POST", "headers": [HOST]}
        await guarded(scope, app.receive, app.send)
        assert app.sent == [status]


App = Callable[[Any, Any, Any], Awaitable[None]]


@asynccontextmanager
async def connect(
    app: App,
) -> AsyncIterator[tuple[BoundedProtocol, asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection to an application; yield its protocol, reader and writer."""
    protocols: list[BoundedProtocol] = []

    def protocol() -> BoundedProtocol:
        protocols.append(BoundedProtocol(config, ServerState(), {}))
        return protocols[-1]

    config = uvicorn.Config(app, ws="none", log_config=None, access_log=False)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield protocols[0], reader, writer
        finally:
            writer.close()
            protocols[0].transport.abort()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Respond with the body and whether it had arrived before the first read."""
    has_arrived = scope["extensions"][ARRIVED]()
    body = b""
    while True:
        message = await receive()
        body += message["body"]
        if not message["more_body"]:
            break
    response = b"%d %b" % (has_arrived, body)
    length = (b"content-length", b"%d" % len(response))
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": response})


def record_writes(
    protocol: BoundedProtocol, monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Return a list that receives the size of each later write to the socket."""
    transport: Any = protocol.transport
    inner = transport._transport
    sizes: list[int] = []
    write = inner.write

    def count(data: bytes) -> None:
        if data:
            sizes.append(len(data))
        write(data)

    monkeypatch.setattr(inner, "write", count)
    return sizes


async def test_http_response_head_and_body_are_sent_in_one_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with connect(echo) as (protocol, reader, writer):
        writer.write(HEAD % 3 + b"abc")
        assert (await reader.readuntil(b"1 abc")).startswith(b"HTTP/1.1 200 ")
        sizes = record_writes(protocol, monkeypatch)
        for _ in range(2):
            writer.write(HEAD % 3 + b"abc")
            await reader.readuntil(b"1 abc")
        assert len(sizes) == 2


async def test_http_app_receives_a_body_only_after_its_last_part() -> None:
    async with connect(echo) as (_, reader, writer):
        for end in (b"", b"c"):
            writer.write(HEAD % (2 + len(end)) + b"a")
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(b"b" + end)
            assert (await reader.readuntil(b"ab" + end)).endswith(b"0 ab" + end)


async def test_http_response_without_body_is_sent_immediately() -> None:
    async def empty(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body"})

    async with connect(empty) as (_, reader, writer):
        for _ in range(2):
            writer.write(HEAD % 1 + b"a")
            async with asyncio.timeout(5):
                head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 202 ")


async def test_expect_continue_header_is_answered_before_the_body_is_sent() -> None:
    async with connect(echo) as (_, reader, writer):
        head = (HEAD % 3).removesuffix(b"\r\n") + b"Expect: 100-continue\r\n\r\n"
        writer.write(head)
        async with asyncio.timeout(5):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
            writer.write(b"abc")
            assert (await reader.readuntil(b" abc")).startswith(b"HTTP/1.1 200 ")


async def test_streamed_http_response_head_is_sent_before_its_body() -> None:
    may_continue = asyncio.Event()

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await may_continue.wait()
        await send({"type": "http.response.body", "body": b"end"})

    async with connect(streaming) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        async with asyncio.timeout(5):
            await reader.readuntil(b"\r\n\r\n")
            may_continue.set()
            await reader.readuntil(b"end")


async def test_http_response_head_is_sent_even_if_the_asgi_app_then_fails() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"9")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        raise ValueError

    async with connect(failing) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        async with asyncio.timeout(5):
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")


async def test_http_request_head_must_be_complete_within_ten_seconds() -> None:
    async with connect(echo) as (protocol, _, _):
        assert protocol._deadline is not None
        remaining = protocol._deadline.when() - asyncio.get_running_loop().time()
        assert 5 < remaining <= 10


async def measure_incomplete_head(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> float:
    """Send an incomplete head; return the seconds until the server closes the connection."""
    start = time.monotonic()
    writer.write(HEAD[:9])
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    return time.monotonic() - start


@pytest.mark.slow
async def test_timeout_for_the_next_request_head_starts_after_each_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.6)
    async with connect(echo) as (_, reader, writer):
        for _ in range(3):
            # The three pauses together exceed the timeout of one head.
            await asyncio.sleep(0.3)
            writer.write(HEAD % 1 + b"a")
            await reader.readuntil(b"1 a")
        assert 0.55 < await measure_incomplete_head(reader, writer) < 1.5


async def test_timeout_for_request_heads_does_not_run_while_a_response_is_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.2)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.7)
        await echo(scope, receive, send)

    async with connect(slow) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        await reader.readuntil(b"1 a")
        assert 0.15 < await measure_incomplete_head(reader, writer) < 1.0


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
async def test_root_path_option_with_or_without_slash_finds_the_mcp_endpoint(
    root: str, path: str, status: int
) -> None:
    """The value of `--root-path` is added before the path by uvicorn, unchanged."""
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
