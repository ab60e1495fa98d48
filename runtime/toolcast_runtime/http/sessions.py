"""Sessions of the older era, for clients that let their person answer in the middle of a call.

The server sends its question on the stream of the call, and the answer comes in a request of its
own, which the session leads to the call. Such a session is one process's: others do not know it.

Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers

from .request_limits import put_back, read_message, refusal

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Message, Receive, Scope, Send

MAX_SESSIONS = 200
"""Concurrent sessions of one client; further callers are served without a session."""

MAX_CALLS = 100
"""Concurrent calls in a client's sessions; further ones are served without a session."""

_ENDING_SECONDS = 1.0


class Sessions:
    """An ASGI application that keeps sessions only where a question needs one.

    Args:
        kept: serves requests of a session.
        alone: serves each request for itself.
    """

    def __init__(
        self, kept: StreamableHTTPSessionManager, alone: StreamableHTTPSessionManager
    ) -> None:
        self._kept = kept
        self._alone = alone
        self._calls: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        body = (await receive()).get("body", b"")
        receive = put_back(body, receive)
        era = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        is_older = era is None or era in HANDSHAKE_PROTOCOL_VERSIONS
        is_of_session = is_older and MCP_SESSION_ID_HEADER in headers
        if scope["method"] == "DELETE":
            if is_of_session:
                await self._kept.handle_request(scope, receive, send)
            else:
                error = refusal(405, "only a session is deleted", {"allow": "POST"})
                await error(scope, receive, send)
        elif is_of_session:
            message = read_message(body)
            # None for notifications and answers, which wait for no answer.
            number = message.get("id") if "method" in message else None
            if number is None:
                await self._kept.handle_request(scope, receive, send)
            elif len(self._calls) < MAX_CALLS:
                await self._call(number, scope, receive, send)
            else:
                await self._alone.handle_request(scope, receive, send)
        elif is_older and _asks_for_session(body):
            if not await self._is_opened(scope, receive, send):
                await self._alone.handle_request(scope, put_back(body, receive), send)
        else:
            await self._alone.handle_request(scope, receive, send)

    async def ended(self) -> None:
        """Waits for calls that are cancelled, before what serves them is."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=_ENDING_SECONDS)

    async def _is_opened(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether there was room for one session more; nothing is sent when there was none."""
        is_full = False

        async def unless_full(message: Message) -> None:
            nonlocal is_full
            if message["type"] == "http.response.start" and message["status"] == 503:
                is_full = True
            if not is_full:
                await send(message)

        await self._kept.handle_request(scope, receive, unless_full)
        return not is_full

    async def _call(
        self, number: Any, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A call of a session; it is cancelled when nobody is there to read its end."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        is_answered = False

        async def watched(message: Message) -> None:
            nonlocal is_answered
            await send(message)
            if message["type"] == "http.response.body":
                is_answered = not message.get("more_body", False)

        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        try:
            await self._kept.handle_request(scope, receive, watched)
        except asyncio.CancelledError:
            # The server ends; the SDK would wait for calls of sessions that are still there.
            ended = {**scope, "method": "DELETE"}
            await self._kept.handle_request(ended, put_back(b"", receive), _nowhere)
            raise
        finally:
            self._calls.discard(task)
        if not is_answered:
            params = {"requestId": number, "reason": "its connection was closed"}
            left = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": params,
            }
            body = put_back(json.dumps(left).encode(), receive)
            await self._kept.handle_request(scope, body, _nowhere)


def _asks_for_session(body: bytes) -> bool:
    """Whether this begins the session of a client that can show a form."""
    if b'"initialize"' not in body or b'"elicitation"' not in body:
        return False
    message = read_message(body)
    if message.get("method") != "initialize":
        return False
    params = message.get("params")
    can = params.get("capabilities") if isinstance(params, dict) else None
    forms = can.get("elicitation") if isinstance(can, dict) else None
    return isinstance(forms, dict) and ("form" in forms or "url" not in forms)


async def _nowhere(message: Message) -> None:
    """Where an answer goes that nobody reads."""
