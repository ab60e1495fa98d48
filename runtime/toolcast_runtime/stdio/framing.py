"""Convert MCP messages to and from lines of JSON, and split input into lines.

Requires `mcp` 2.x.
Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
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
"""Maximum size of one incoming line; a longer line is rejected without being stored."""
# The placeholder is random, so that no string in a message contains it by chance or intent.
_PLACEHOLDER = secrets.token_hex(16)


class RawJson:
    """Part of a result that is already encoded as JSON."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def encode_message(message: JSONRPCMessage) -> bytes:
    """Encode a message as one line of JSON, like the SDK, and insert `RawJson` for `tools`.

    A message that cannot be encoded is logged; the line is then an error response.
    """
    result: Any = getattr(message, "result", None)
    tools = result.get("tools") if isinstance(result, dict) else None
    try:
        if isinstance(tools, RawJson):
            marked_result = {**result, "tools": _PLACEHOLDER}
            message = message.model_copy(update={"result": marked_result})
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(tools, RawJson):
            line = line.replace(f'"{_PLACEHOLDER}"'.encode(), tools.text, 1)
        return line + b"\n"
    except ValueError:
        # Send an error response: without any response the client would wait until its timeout.
        _logger.exception("a message cannot be encoded")
        request_id = getattr(message, "id", None)
        return _encode_error(
            request_id, INTERNAL_ERROR, "the response cannot be encoded"
        )


def parse_line(line: bytes) -> JSONRPCMessage | None:
    """Return the message in a line; None if the line is not a valid message.

    A byte order mark is ignored, as RFC 8259, section 8.1, allows.
    """
    line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
    # The SDK parses a request with an invalid `id` (not a string or number) as a notification,
    # so it would get no response. Such a line is rejected.
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        return None if "id" in json.loads(line) else message
    return message


def reject_line(line: bytes | None) -> bytes | None:
    """Log an invalid message, and return the line with the error response to it.

    Args:
        line: the invalid line; None for a line that is too long.

    Returns:
        The response; None for an invalid notification or response, which get none.
    """
    if line is None:
        _logger.warning("rejected a message longer than %d bytes", MAX_LINE_BYTES)
        text = f"the message is longer than {MAX_LINE_BYTES} bytes"
        return _encode_error(None, INVALID_REQUEST, text)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        _logger.warning("rejected a line of %d bytes: it is not JSON", len(line))
        return _encode_error(None, PARSE_ERROR, "the message is not JSON in UTF-8")
    _logger.warning("rejected a message: it is not a JSON-RPC message of MCP")
    if isinstance(value, list):
        text = "a message must be an object: MCP does not support batches"
        return _encode_error(None, INVALID_REQUEST, text)
    if isinstance(value, dict) and not {"id", "method"} <= value.keys():
        # Only requests get a response (JSON-RPC 2.0, section 4.1).
        return None
    request_id = value["id"] if isinstance(value, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, (int, str)):
        request_id = None
    text = "the message is not a JSON-RPC request, or contains invalid Unicode"
    return _encode_error(request_id, INVALID_REQUEST, text)


def _encode_error(request_id: object, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    value = {"jsonrpc": "2.0", "id": request_id, "error": error}
    # Encode as ASCII: escapes can represent an id with a lone surrogate, and UTF-8 cannot.
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


class LineSplitter:
    """Splitter of a byte stream into lines; the bytes may arrive in arbitrary pieces."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that a piece completes; None for a line that is too long.

        Blank lines are skipped. The rest of the piece is stored for the next call.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._append(data[start:end])
            start = end + 1
            yield from self.finish()
        self._append(data[start:])

    def finish(self) -> Iterator[bytes | None]:
        """Yield the stored rest as a line, at the end of input; None if it is too long.

        A blank rest is skipped.
        """
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        if size > self._max_bytes:
            yield None
        else:
            line = b"".join(parts)
            if line and not line.isspace():
                yield line

    def _append(self, part: bytes) -> None:
        self._size += len(part)
        # Once a line is too long, only its size is counted, so that memory stays bounded.
        if self._size > self._max_bytes:
            self._parts.clear()
        elif part:
            self._parts.append(part)
