"""JSON-RPC 2.0: parse requests and build responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "INVALID_PARAMS",
    "METHOD_NOT_FOUND",
    "TASK_NOT_FOUND",
    "UNSUPPORTED_OPERATION",
    "Request",
    "RpcError",
    "build_error_response",
    "parse_request",
    "build_response",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
# A2A defines these codes.
TASK_NOT_FOUND = -32001
UNSUPPORTED_OPERATION = -32004


class RpcError(Exception):
    """An error that is returned to the client as a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Request:
    """A valid JSON-RPC request."""

    id: str | int | None
    method: str
    params: Mapping[str, Any]


def parse_request(body: bytes) -> Request:
    """Parse a request.

    Raises:
        RpcError: the body is not a valid JSON-RPC 2.0 request.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "The body is not JSON.") from error
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body is not a JSON-RPC 2.0 request.")
    request_id = value.get("id")
    method = value.get("method")
    params = value.get("params", {})
    if not isinstance(method, str) or not isinstance(request_id, str | int | None):
        raise RpcError(INVALID_REQUEST, "`method` or `id` is not well-formed.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "`params` is not an object.")
    return Request(request_id, method, params)


def build_response(request: Request, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response to a request with its result."""
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def build_error_response(request: Request | None, error: RpcError) -> dict[str, Any]:
    """Return the response for an error; `request` is None if it could not be parsed."""
    return {
        "jsonrpc": "2.0",
        "id": None if request is None else request.id,
        "error": {"code": error.code, "message": error.message},
    }
