"""A call over HTTP is answered with one document, and keeps what a stream is good for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolcast_runtime.http import short_answers as http_answers
from toolcast_runtime.http.short_answers import ShortAnswers

BOTH = b"application/json, text/event-stream"
CALL = b'{"method":"tools/call","params":{"name":"x"}}'
Work = Callable[[Callable[[Any], Awaitable[None]]], Awaitable[None]]


class Exchange:
    """One request to an application whose document is made by a function."""

    def __init__(self, body: bytes = CALL, accept: bytes = BOTH) -> None:
        self.sent: list[dict[str, Any]] = []
        self.streamed = False
        self.has_left = asyncio.Event()
        self._scope = {
            "type": "http",
            "method": "POST",
            "headers": [(b"accept", accept)],
        }
        self._body: bytes | None = body

    async def receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def run(self, work: Work) -> None:
        async def single(scope: Any, receive: Any, send: Any) -> None:
            assert (await receive())["type"] == "http.request"
            await work(send)

        async def streaming(scope: Any, receive: Any, send: Any) -> None:
            assert (await receive())["type"] == "http.request"
            self.streamed = True

        await ShortAnswers(streaming, single)(self._scope, self.receive, self.send)


async def document(send: Callable[[Any], Awaitable[None]]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'{"a":1}'})


async def test_a_plain_call_is_answered_with_a_document() -> None:
    exchange = Exchange()
    await exchange.run(document)
    assert [message.get("body") for message in exchange.sent] == [None, b'{"a":1}']


@pytest.mark.parametrize(
    ("body", "accept"),
    [
        (b'{"method":"tools/list"}', BOTH),
        (b'{"method":"tools/call","params":{"_meta":{"progressToken":1}}}', BOTH),
        (CALL[:-1] + b',"_meta":{"\\u0070rogressToken":1}}', BOTH),
        (CALL[:-1] + b',"_meta":{"io.modelcontextprotocol/logLevel":"info"}}', BOTH),
        (CALL, b"application/json"),
        (CALL, b"text/event-stream"),
        (CALL, b"*/*"),
        (CALL, b"application/jsonx, text/event-stream"),
    ],
)
async def test_what_may_want_more_gets_a_stream(body: bytes, accept: bytes) -> None:
    exchange = Exchange(body, accept)
    await exchange.run(document)
    assert exchange.streamed


async def test_a_client_that_leaves_ends_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_answers, "_SHORT", 0.0)
    exchange = Exchange()
    ended: list[str] = []

    async def work(send: Any) -> None:
        exchange.has_left.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    await exchange.run(work)
    assert ended == ["cancelled"]
    assert exchange.sent == []


async def test_a_server_that_ends_cancels_a_call_as_ever() -> None:
    begun = asyncio.Event()

    async def work(send: Any) -> None:
        begun.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(Exchange().run(work))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_long_call_becomes_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_answers, "_SHORT", 0.0)
    monkeypatch.setattr(http_answers, "_QUIET", 0.01)
    exchange = Exchange()

    async def work(send: Any) -> None:
        while len(exchange.sent) < 3:
            await asyncio.sleep(0.01)
        await document(send)

    await exchange.run(work)
    start, *events, last = exchange.sent
    assert (b"content-type", b"text/event-stream") in start["headers"]
    assert all(each["body"] == b": ping\r\n\r\n" for each in events)
    assert all(each["more_body"] for each in events)
    assert last["body"] == b'event: message\r\ndata: {"a":1}\r\n\r\n'
    assert not last.get("more_body", False)
