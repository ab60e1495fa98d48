"""Sessions for handshake clients that can ask their user a question.

During a call the server sends its question on the call's stream. The answer arrives in a
separate request, whose session id identifies the call. A session exists in one process only.

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

from .request_limits import error_response, parse_message, replay_body

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Message, Receive, Scope, Send

MAX_SESSIONS = 200
"""Maximum number of concurrent sessions of a client; others are served without a session."""

MAX_CALLS = 100
"""Maximum number of concurrent calls in a client's sessions; others have no session."""

_SHUTDOWN_TIMEOUT_S = 1.0
"""Time that cancelled calls have to end when the server shuts down."""


class Sessions:
    """ASGI application that opens a session only for clients that can show questions.

    Args:
        stateful: the manager of requests with a session.
        stateless: the manager of all other requests.
    """

    def __init__(
        self,
        stateful: StreamableHTTPSessionManager,
        stateless: StreamableHTTPSessionManager,
    ) -> None:
        self._stateful = stateful
        self._stateless = stateless
        self._calls: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request with or without a session."""
        headers = Headers(scope=scope)
        body = (await receive()).get("body", b"")
        receive = replay_body(body, receive)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        has_handshake = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        has_session = has_handshake and MCP_SESSION_ID_HEADER in headers
        if scope["method"] == "DELETE":
            if has_session:
                await self._stateful.handle_request(scope, receive, send)
            else:
                message = "DELETE requires a session id"
                error = error_response(405, message, {"allow": "POST"})
                await error(scope, receive, send)
        elif has_session:
            rpc_message = parse_message(body)
            # Notifications and responses of the client get no response, so they need no slot
            # among the concurrent calls.
            request_id = rpc_message.get("id") if "method" in rpc_message else None
            if request_id is None:
                await self._stateful.handle_request(scope, receive, send)
            elif len(self._calls) < MAX_CALLS:
                await self._call(request_id, scope, receive, send)
            else:
                await self._stateless.handle_request(scope, receive, send)
        elif has_handshake and _needs_session(body):
            if not await self._open_session(scope, receive, send):
                receive = replay_body(body, receive)
                await self._stateless.handle_request(scope, receive, send)
        else:
            await self._stateless.handle_request(scope, receive, send)

    async def wait_for_calls(self) -> None:
        """Wait up to a second for cancelled calls to end, before their managers stop."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=_SHUTDOWN_TIMEOUT_S)

    async def _open_session(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Open a session and answer; return False if there are too many sessions."""
        is_full = False

        async def send_unless_full(message: Message) -> None:
            nonlocal is_full
            if message["type"] == "http.response.start" and message["status"] == 503:
                is_full = True
            if not is_full:
                await send(message)

        await self._stateful.handle_request(scope, receive, send_unless_full)
        return not is_full

    async def _call(
        self, request_id: Any, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Handle a request of a session; cancel its call if the client disconnects."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        is_answered = False

        async def send_and_note_end(message: Message) -> None:
            nonlocal is_answered
            await send(message)
            if message["type"] == "http.response.body":
                is_answered = not message.get("more_body", False)

        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        try:
            await self._stateful.handle_request(scope, receive, send_and_note_end)
        except asyncio.CancelledError:
            # The server shuts down. Delete the session, because the SDK would wait for calls
            # of open sessions.
            deletion = {**scope, "method": "DELETE"}
            empty = replay_body(b"", receive)
            await self._stateful.handle_request(deletion, empty, _discard)
            raise
        finally:
            self._calls.discard(task)
        if not is_answered:
            params = {"requestId": request_id, "reason": "its connection was closed"}
            cancellation = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": params,
            }
            body = replay_body(json.dumps(cancellation).encode(), receive)
            await self._stateful.handle_request(scope, body, _discard)


def _needs_session(body: bytes) -> bool:
    """Return whether a body is the `initialize` of a client that can show a form."""
    # Search for two strings first, so that the JSON of other requests is not parsed.
    if b'"initialize"' not in body or b'"elicitation"' not in body:
        return False
    message = parse_message(body)
    if message.get("method") != "initialize":
        return False
    params = message.get("params")
    capabilities = params.get("capabilities") if isinstance(params, dict) else None
    if not isinstance(capabilities, dict):
        return False
    modes = capabilities.get("elicitation")
    # An empty `elicitation` object declares forms (MCP 2025-11-25, client/elicitation,
    # capabilities).
    return isinstance(modes, dict) and ("form" in modes or "url" not in modes)


async def _discard(message: Message) -> None:
    """Ignore a message of a response that no client reads."""
