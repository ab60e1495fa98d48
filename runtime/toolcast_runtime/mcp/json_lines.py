"""JSON-RPC messages as lines of bytes: taken apart, written, and refused with an answer."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .listing import RawJson

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

__all__ = ["MOST_BYTES", "LineSplitter", "RawJson", "has_id", "line_of", "refusal"]

_logger = logging.getLogger("toolcast")

MOST_BYTES = 1 << 24
"""Of one incoming line; longer ones are refused without being kept."""

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_INTERNAL_ERROR = -32603
# Nobody can guess it, so that no text of a message can stand for it.
_PLACE = secrets.token_hex(16)


class LineSplitter:
    """Cuts a stream of bytes into lines, whatever pieces it comes in."""

    def __init__(self, most: int = MOST_BYTES) -> None:
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
            line = parts[0] if len(parts) == 1 else b"".join(parts)
            if line and not line.isspace():
                yield line

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            self._parts.clear()
        elif part:
            self._parts.append(part)


def line_of(message: JSONRPCMessage) -> bytes:
    """The line that the SDK would send, with `RawJson` tools as they are."""
    result: Any = getattr(message, "result", None)
    tools = result.get("tools") if isinstance(result, dict) else None
    try:
        if isinstance(tools, RawJson):
            shown = message.model_copy(update={"result": {**result, "tools": _PLACE}})
            head, _, tail = _dumped(shown).partition(f'"{_PLACE}"'.encode())
            return b"".join((head, tools.text, tail, b"\n"))
        return _dumped(message) + b"\n"
    except ValueError:
        # A client that waits for an answer gets one.
        _logger.exception("a message cannot be sent")
        number = getattr(message, "id", None)
        return _error(number, _INTERNAL_ERROR, "the answer cannot be sent")


def has_id(line: bytes) -> bool:
    """Whether JSON that the SDK takes for a notification is a request with a wrong `id`."""
    return b'"id"' in line and "id" in json.loads(line)


def refusal(line: bytes | None) -> bytes | None:
    """The answer to a line that is no message; None where the protocol has none.

    Args:
        line: None for one that is too long.
    """
    if line is None:
        _logger.warning("a message of more than %d bytes was not read", MOST_BYTES)
        text = f"the message is longer than {MOST_BYTES} bytes"
        return _error(None, _INVALID_REQUEST, text)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        _logger.warning("a line of %d bytes is not JSON", len(line))
        return _error(None, _PARSE_ERROR, "the message is not JSON in UTF-8")
    _logger.warning("a message is refused: it is not JSON-RPC as MCP has it")
    if isinstance(value, list):
        return _error(None, _INVALID_REQUEST, "a message is an object, not a batch")
    number = value.get("id") if isinstance(value, dict) else None
    if isinstance(value, dict) and ("id" not in value or "method" not in value):
        # A notification has no answer, and neither has an answer.
        return None
    if isinstance(number, bool) or not isinstance(number, (int, str)):
        number = None
    text = "the message is not a JSON-RPC request, or not in Unicode"
    return _error(number, _INVALID_REQUEST, text)


def _dumped(message: JSONRPCMessage) -> bytes:
    text = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode("utf-8")


def _error(number: object, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    value = {"jsonrpc": "2.0", "id": number, "error": error}
    # ASCII, so that an id which is not Unicode comes back as it came.
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"
