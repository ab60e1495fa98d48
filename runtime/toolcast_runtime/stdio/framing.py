"""MCP messages as lines of JSON, in whatever pieces they come in.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

_logger = logging.getLogger("toolcast")

MAX_LINE_BYTES = 1 << 24
"""Size of one incoming line; a longer one is rejected without being stored."""
# Nobody can guess it, so that no text of a message can stand for it.
_PLACE = secrets.token_hex(16)


class RawJson:
    """A value inside of a result that is JSON text already."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def line_of(message: JSONRPCMessage) -> bytes:
    """The line that the SDK would send, with `RawJson` tools as they are."""
    result: Any = getattr(message, "result", None)
    tools = result.get("tools") if isinstance(result, dict) else None
    try:
        if isinstance(tools, RawJson):
            shown = {**result, "tools": _PLACE}
            message = message.model_copy(update={"result": shown})
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(tools, RawJson):
            line = line.replace(f'"{_PLACE}"'.encode(), tools.text, 1)
        return line + b"\n"
    except ValueError:
        # A client that waits for an answer gets one.
        _logger.exception("a message cannot be sent")
        number = getattr(message, "id", None)
        return _error(number, INTERNAL_ERROR, "the answer cannot be sent")


def message_of(line: bytes) -> JSONRPCMessage | None:
    """The message of a line; None when it is none."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    # The SDK takes a request for a notification when its `id` is no text and no number.
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        return None if "id" in json.loads(line) else message
    return message


def refusal(line: bytes | None) -> bytes | None:
    """The answer to a line that is no message; None where the protocol has none.

    Args:
        line: None for one that is too long.
    """
    if line is None:
        _logger.warning("a message of more than %d bytes was not read", MAX_LINE_BYTES)
        text = f"the message is longer than {MAX_LINE_BYTES} bytes"
        return _error(None, INVALID_REQUEST, text)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        _logger.warning("a line of %d bytes is not JSON", len(line))
        return _error(None, PARSE_ERROR, "the message is not JSON in UTF-8")
    _logger.warning("a message is refused: it is not JSON-RPC as MCP has it")
    if isinstance(value, list):
        return _error(None, INVALID_REQUEST, "a message is an object, not a batch")
    if isinstance(value, dict) and not {"id", "method"} <= value.keys():
        # A notification has no answer, and neither has an answer.
        return None
    number = value["id"] if isinstance(value, dict) else None
    if isinstance(number, bool) or not isinstance(number, (int, str)):
        number = None
    text = "the message is not a JSON-RPC request, or not in Unicode"
    return _error(number, INVALID_REQUEST, text)


def _error(number: object, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    value = {"jsonrpc": "2.0", "id": number, "error": error}
    # ASCII, so that an id which is not Unicode comes back as it came.
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


class LineSplitter:
    """Cuts a stream of bytes into lines, whatever pieces it comes in."""

    def __init__(self, most: int = MAX_LINE_BYTES) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that end in this piece, without blank ones; None for one too long."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            start = end + 1
            yield from self.end()
        self._keep(data[start:])

    def end(self) -> Iterator[bytes | None]:
        """The line that was begun, if there is one."""
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        if size > self._most:
            yield None
        else:
            line = b"".join(parts)
            if line and not line.isspace():
                yield line

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            self._parts.clear()
        elif part:
            self._parts.append(part)
