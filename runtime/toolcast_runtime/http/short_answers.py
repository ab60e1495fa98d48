"""Calls over HTTP whose answer is all that they ask for.

The SDK answers a call with a stream of events, for what a tool may have to tell before its
answer, or with one JSON document, which takes it much less. Here a call gets the document when
nothing could come before it: it names no progress token and no level of logs. What a stream is
good for besides is kept. A client that leaves ends its call, and a call that takes long becomes
a stream, so that no proxy on the way takes the connection for dead.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import MutableMapping
from typing import Any

from .guard import AsgiApp, Message, Receive, Send

__all__ = ["ShortAnswers"]

_SHORT = 0.1
"""Seconds of a call before anybody looks whether its client is still there."""
_QUIET = 15.0
"""Seconds of silence on a connection."""
_TELLS_MORE = (b"progressToken", b"logLevel", b"\\u")
"""What may ask for messages before the answer, spelled out or escaped."""
_STREAM = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]


class ShortAnswers:
    """An ASGI application that chooses between two, by what a request asks for.

    Args:
        streaming: answers with a stream of events.
        single: answers with one JSON document.
    """

    def __init__(self, streaming: AsgiApp, single: AsgiApp) -> None:
        self._streaming = streaming
        self._single = single

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        waiting = [await receive()]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        if not _is_plain_call(scope, waiting[0].get("body", b"")):
            await self._streaming(scope, again, send)
            return
        answer = _Answer(receive, send)
        try:
            await self._single(scope, again, answer.send)
        except asyncio.CancelledError:
            if not answer.is_unwanted:
                raise
        finally:
            answer.end()


class _Answer:
    """The way back to the client of one call.

    Attributes:
        is_unwanted: the client has left, and the call was cancelled for that.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self.is_unwanted = False
        self._receive, self._send = receive, send
        self._is_stream = self._is_begun = self._is_over = False
        self._call = asyncio.current_task()
        self._watching: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_SHORT, self._begin)

    async def send(self, message: Message) -> None:
        """Sends what the application answers, as an event where a stream has begun."""
        self._is_begun = True
        if not self._is_stream:
            await self._send(message)
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            event = b"event: message\r\ndata: " + body + b"\r\n\r\n"
            await self._send({"type": "http.response.body", "body": event})

    def end(self) -> None:
        """Looks after the client no more."""
        self._is_over = True
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        leaving = asyncio.ensure_future(self._left())
        try:
            while not (await asyncio.wait({leaving}, timeout=_QUIET))[0]:
                await self._say_something()
        finally:
            leaving.cancel()
        if not self._is_over and self._call is not None:
            self.is_unwanted = True
            self._call.cancel()

    async def _left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _say_something(self) -> None:
        if self._is_begun:
            return
        if not self._is_stream:
            self._is_stream = True
            start = {"type": "http.response.start", "status": 200, "headers": _STREAM}
            await self._send(start)
        comment = {"body": b": ping\r\n\r\n", "more_body": True}
        await self._send({"type": "http.response.body", **comment})


def _is_plain_call(scope: MutableMapping[str, Any], body: bytes) -> bool:
    """Whether the answer is all that a request asks for; in doubt it is not."""
    if b'"tools/call"' not in body or any(word in body for word in _TELLS_MORE):
        return False
    accepted = [value for name, value in scope["headers"] if name == b"accept"]
    return len(accepted) == 1 and _takes_both(accepted[0])


@functools.lru_cache(maxsize=64)
def _takes_both(accept: bytes) -> bool:
    """Whether a client takes a document and a stream, as it has to."""
    kinds = {kind.partition(b";")[0].strip().lower() for kind in accept.split(b",")}
    return {b"application/json", b"text/event-stream"} <= kinds
