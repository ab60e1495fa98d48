"""What a request is answered that is not let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from collections.abc import Mapping


def refusal(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A JSON-RPC error that belongs to no request."""
    error = {"code": -32600, "message": message}
    value = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(value, status, headers)
