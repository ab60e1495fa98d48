"""JSON-RPC 2.0: reading a request and shaping its answer."""

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
    "failure",
    "read",
    "success",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
TASK_NOT_FOUND = -32001  # this one and the next are A2A's own
UNSUPPORTED_OPERATION = -32004


class RpcError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Request:
    """A well-formed request."""

    id: str | int | None
    method: str
    params: Mapping[str, Any]


def read(body: bytes) -> Request:
    """The request in `body`; raises RpcError where it is none."""
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


def success(request: Request, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer that carries a result."""
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def failure(request: Request | None, error: RpcError) -> dict[str, Any]:
    """The answer that carries an error."""
    return {
        "jsonrpc": "2.0",
        "id": None if request is None else request.id,
        "error": {"code": error.code, "message": error.message},
    }
