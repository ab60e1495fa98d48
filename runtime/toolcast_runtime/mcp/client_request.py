"""MCP request behind a call: log messages to its client, and data for handlers.

With a handshake version (up to 2025-11-25) the client sets a log level for its connection. With
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

from ..core.calls.worker_threads import run_in_loop
from ..core.context import CALLER, LogLevel, ToolError
from .results import escape_surrogates

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

_logger = logging.getLogger("toolcast")

MAX_BURST = 500
"""Maximum number of log messages in a burst of one request, and of unsent messages."""
MESSAGES_PER_S = 50
"""Log messages per second that a request may send after a burst."""
MAX_CHARACTERS = 20_000
"""Maximum length of a log message."""
_SEND_TIMEOUT_S = 1.0
"""How long a finished request waits until its last message is sent."""
_LEVELS = get_args(LogLevel)
# Keys in the state of a connection: the client's log level, and a generated session id.
_LEVEL_KEY, _SESSION_KEY = "toolcast.log_level", "toolcast.session_id"

# All requests share one lock instead of creating their own: it is held only for microseconds,
# and most requests send no messages.
_lock = threading.Lock()


class McpRequest:
    """The MCP request behind a call, which its handler can use from any thread.

    Log messages beyond the limits are dropped and counted.

    Args:
        context: the SDK's context of the request.
        server: the SDK's server.
    """

    def __init__(
        self, context: ServerRequestContext[Any, Any], server: Server[Any]
    ) -> None:
        self._context = context
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[types.LoggingMessageNotificationParams] = deque()
        self._allowance = float(MAX_BURST)
        self._updated_at = 0.0
        self._dropped_count = 0
        self._has_ended = self._is_wake_scheduled = False
        self._sender: asyncio.Task[None] | None = None

    @property
    def server_name(self) -> str:
        """Name of the server in `serverInfo`."""
        return self._server.name

    @property
    def client_id(self) -> Any:
        """The `client_id` in the metadata of the request; None without it."""
        return (self._context.meta or {}).get("client_id")

    @property
    def session_id(self) -> str:
        """Id of the MCP session; a generated id of the connection if there is no session."""
        state = _get_state(self._context)
        own_id: str = state.setdefault(_SESSION_KEY, secrets.token_hex(16))
        return CALLER.get().session or own_id

    async def read_resource(self, uri: str) -> list[tuple[str | bytes, str | None]]:
        """Return the contents of a resource of the server, each with its media type.

        Raises:
            ToolError: the client has no such resource, or its handler failed.
        """
        entry = self._server.get_request_handler("resources/read")
        if entry is None:
            raise ToolError("the server has no resources")
        params = types.ReadResourceRequestParams(uri=uri)
        try:
            reading: Any = entry.handler(self._context, params)
            result = await run_in_loop(self._loop, reading)
        except MCPError as error:
            raise ToolError(f"the resource {uri} cannot be read: {error}") from None
        if not isinstance(result, types.ReadResourceResult):
            raise ToolError(f"the resource {uri} has to ask the user first")
        contents: list[tuple[str | bytes, str | None]] = []
        for item in result.contents:
            if isinstance(item, types.TextResourceContents):
                contents.append((item.text, item.mime_type))
            else:
                contents.append((base64.b64decode(item.blob), item.mime_type))
        return contents

    def send_log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """Queue a log message, if the client wants its level; see `CallContext.log`.

        Args:
            level: the message's level.
            data: the message, a JSON value.
            logger: the name of the logger.
        """
        context = self._context
        minimum = _get_state(context).get(_LEVEL_KEY, _LEVELS[0])
        allowed = allowed_log_levels(context.protocol_version, context.meta)
        if _LEVELS.index(level) < _LEVELS.index(minimum) or level not in allowed:
            return
        message = types.LoggingMessageNotificationParams(
            level=level, data=_shorten(data), logger=logger
        )
        with _lock:
            if self._has_ended or not self._take_allowance():
                return
            self._waiting.append(message)
            is_wake_scheduled, self._is_wake_scheduled = self._is_wake_scheduled, True
        if not is_wake_scheduled:
            # `call_soon_threadsafe` raises RuntimeError if the event loop was closed while the
            # handler's thread continued.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._start_sender)

    async def flush(self) -> None:
        """Wait until the queued messages are sent, from any event loop."""
        await run_in_loop(self._loop, self._wait_until_sent(None))

    async def end(self) -> None:
        """End the request: send the queued messages for up to a second, and drop later ones.

        If messages were dropped, a last message states their number.
        """
        with _lock:
            self._has_ended = True
        if self._dropped_count:
            text = f"{self._dropped_count} log messages were dropped: too many at once"
            dropped = types.LoggingMessageNotificationParams(level="warning", data=text)
            self._waiting.append(dropped)
        if self._waiting or self._sender is not None:
            try:
                await self._wait_until_sent(_SEND_TIMEOUT_S)
            finally:
                if self._sender is not None:
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

    async def _wait_until_sent(self, timeout: float | None) -> None:
        self._start_sender()
        if self._sender is not None:
            await asyncio.wait({self._sender}, timeout=timeout)

    async def _send_all(self) -> None:
        try:
            while True:
                with _lock:
                    if not self._waiting:
                        self._is_wake_scheduled = False
                        return
                    message = self._waiting.popleft()
                await self._context.session.send_notification(
                    types.LoggingMessageNotification(params=message),
                    related_request_id=self._context.request_id,
                )
        except Exception:
            # Sending fails, for example, after the client disconnected. The call continues,
            # and further messages are dropped.
            _logger.warning("a log message of a call cannot be sent", exc_info=True)
            with _lock:
                self._has_ended = True
                self._waiting.clear()


async def set_log_level(
    context: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
) -> types.EmptyResult:
    """Answer `logging/setLevel`, which handshake versions have."""
    _get_state(context)[_LEVEL_KEY] = params.level
    return types.EmptyResult()


def _get_state(context: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    # The SDK creates a session object for each request; only its private connection object
    # has a state that outlives the request.
    return context.session._connection.state


def _shorten(data: Any) -> Any:
    """Return a log message; a message beyond the limit becomes the start of its JSON text."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if len(text) > MAX_CHARACTERS:
        data = f"{text[: MAX_CHARACTERS - 1]}…"
    return escape_surrogates(data) if isinstance(data, str) else data
