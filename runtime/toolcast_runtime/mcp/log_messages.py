"""Messages of handlers to MCP clients, and resources that handlers read from their server.

With a handshake version (up to 2025-11-25) the client sets a level for its connection. With
2026-07-28 each request states its level, and without one the client gets no messages.

Source: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import secrets
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.shared.exceptions import MCPError

from ..core.context import CALLER, LogLevel, ToolError
from .results import escape_surrogates

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

_logger = logging.getLogger("toolcast")

MAX_BURST = 500
"""Messages that a request may send at once, and messages that wait to be sent."""
MESSAGES_PER_S = 50
"""Further messages that a request may send in a second."""
MAX_CHARACTERS = 20_000
"""Characters of a message."""
_SEND_TIMEOUT_S = 1.0
"""How long a finished request waits until its last message is sent."""
_LEVELS = get_args(LogLevel)
_LEVEL_KEY = "toolcast.log_level"
"""The key of the client's level in the state of its connection."""
_SESSION_KEY = "toolcast.session_id"
"""The key of the id that handlers get for a connection without a session."""


def set_level(context: ServerRequestContext[Any, Any], level: LogLevel) -> None:
    """Set the lowest level of the messages that a connection gets."""
    _get_state(context)[_LEVEL_KEY] = level


class LogMessages:
    """Sends the log messages of one request without blocking its handler.

    `send` may be called from any thread. Messages beyond the limits are dropped and counted.

    Args:
        context: the SDK's context of the request.
        loop: the event loop of the request.
    """

    def __init__(
        self, context: ServerRequestContext[Any, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._context = context
        self._loop = loop
        self._allowed = allowed_log_levels(context.protocol_version, context.meta)
        self._lock = threading.Lock()
        self._waiting: deque[types.LoggingMessageNotificationParams] = deque()
        self._allowance = float(MAX_BURST)
        self._updated_at = time.monotonic()
        self._dropped_count = 0
        self._is_closed = False
        self._is_wake_scheduled = False
        self._sender: asyncio.Task[None] | None = None

    def send(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Queue a message, if the client wants its level."""
        minimum = _get_state(self._context).get(_LEVEL_KEY, _LEVELS[0])
        is_wanted = _LEVELS.index(level) >= _LEVELS.index(minimum)
        if level not in self._allowed or not is_wanted:
            return
        message = types.LoggingMessageNotificationParams(
            level=level, data=_shorten(data), logger=logger
        )
        with self._lock:
            if self._is_closed or not self._take_allowance():
                return
            self._waiting.append(message)
            is_wake_scheduled, self._is_wake_scheduled = self._is_wake_scheduled, True
        if not is_wake_scheduled:
            # The loop may have been closed while the handler's thread continued.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._start_sender)

    async def flush(self) -> None:
        """Wait until the queued messages are sent."""
        self._start_sender()
        if self._sender is not None:
            await asyncio.wait({self._sender})

    async def close(self) -> None:
        """Send what is queued, and the number of dropped messages; drop later messages."""
        with self._lock:
            self._is_closed = True
        if self._dropped_count:
            text = f"{self._dropped_count} log messages were dropped: too many at once"
            self._waiting.append(
                types.LoggingMessageNotificationParams(level="warning", data=text)
            )
        self._start_sender()
        if self._sender is not None:
            try:
                await asyncio.wait({self._sender}, timeout=_SEND_TIMEOUT_S)
            finally:
                self._sender.cancel()

    def _take_allowance(self) -> bool:
        """Return whether another message may be sent now; otherwise count it as dropped."""
        now = time.monotonic()
        refill = (now - self._updated_at) * MESSAGES_PER_S
        self._allowance = min(MAX_BURST, self._allowance + refill)
        self._updated_at = now
        if self._allowance < 1 or len(self._waiting) >= MAX_BURST:
            self._dropped_count += 1
            return False
        self._allowance -= 1
        return True

    def _start_sender(self) -> None:
        if self._waiting and (self._sender is None or self._sender.done()):
            self._sender = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while True:
                with self._lock:
                    if not self._waiting:
                        self._is_wake_scheduled = False
                        return
                    message = self._waiting.popleft()
                await self._context.session.send_notification(
                    types.LoggingMessageNotification(params=message),
                    related_request_id=self._context.request_id,
                )
        except Exception:
            # The client may have disconnected: lost messages must not fail the call.
            _logger.warning("a log message of a call cannot be sent", exc_info=True)
            with self._lock:
                self._is_closed = True
                self._waiting.clear()


def get_session_id(context: ServerRequestContext[Any, Any]) -> str:
    """Return the id of the session; where the transport has none, that of the connection."""
    session = CALLER.get().session
    own_id: str = _get_state(context).setdefault(_SESSION_KEY, secrets.token_hex(16))
    return own_id if session is None else session


async def read_resource(
    server: Server[Any], context: ServerRequestContext[Any, Any], uri: str
) -> list[tuple[str | bytes, str | None]]:
    """Return the contents of a resource; see `McpRequest.read_resource`."""
    entry = server.get_request_handler("resources/read")
    if entry is None:
        raise ToolError("the server has no resources")
    try:
        params = types.ReadResourceRequestParams(uri=uri)
        result = await entry.handler(context, params)
    except MCPError as error:
        raise ToolError(f"the resource {uri} cannot be read: {error}") from None
    if not isinstance(result, types.ReadResourceResult):
        raise ToolError(f"the resource {uri} has to ask the user first")
    return [
        (
            (
                content.text
                if isinstance(content, types.TextResourceContents)
                else base64.b64decode(content.blob)
            ),
            content.mime_type,
        )
        for content in result.contents
    ]


def _get_state(context: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    # The SDK builds a session for each request. Only its connection outlives the request.
    return context.session._connection.state


def _shorten(data: Any) -> Any:
    """Return a message within the limit; a longer JSON value becomes the start of its text."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if len(text) > MAX_CHARACTERS:
        data = f"{text[: MAX_CHARACTERS - 1]}…"
    return escape_surrogates(data) if isinstance(data, str) else data
