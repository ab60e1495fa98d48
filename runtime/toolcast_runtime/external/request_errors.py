"""Errors of requests to external servers, with the HTTP responses that explain them."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus

import anyio
import httpx2
import mcp_types as types

_ERROR_BODY_TIMEOUT_S = 5.0
"""Timeout for reading the body of an HTTP error; the error is then reported without it."""
_MAX_ERROR_CHARACTERS = 500
"""Maximum number of reported characters of an HTTP error's body."""
_MCP_ERROR_STATUSES = (400, 404)
"""HTTP statuses with which MCP 2026-07-28 sends ordinary JSON-RPC errors."""
# Older servers answer requests without a session with these codes, or without JSON-RPC.
_VERSION_ERROR_CODES = frozenset(
    [None, -32000, -32001, types.INVALID_REQUEST, types.METHOD_NOT_FOUND]
)


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """HTTP response with an error status, or a redirect that is not followed.

    Attributes:
        status: the HTTP status.
        message: the server's explanation; empty if there is none.
        retry_after: the header `Retry-After`; None if it is missing.
        has_session: whether the request had a session id.
        code: the code of the JSON-RPC error in the body; None if the body is none.
    """

    status: int
    message: str
    retry_after: str | None
    has_session: bool
    code: int | None

    @property
    def is_session_rejected(self) -> bool:
        """Whether the status may mean that the server rejected the session id.

        Such a request was not run.
        """
        return self.has_session and self.status in _MCP_ERROR_STATUSES

    @property
    def is_version_rejected(self) -> bool:
        """Whether the server may no longer have the protocol version of the request."""
        is_status = not self.has_session and self.status in _MCP_ERROR_STATUSES
        return is_status and self.code in _VERSION_ERROR_CODES

    @property
    def is_mcp_error(self) -> bool:
        """Whether the status only repeats what the JSON-RPC error states."""
        return self.code is not None and self.status in _MCP_ERROR_STATUSES

    def __str__(self) -> str:
        names = {status.value: f" {status.phrase}" for status in HTTPStatus}
        text = f"HTTP {self.status}{names.get(self.status, '')}"
        if self.message:
            text += f": {self.message}"
        if self.retry_after is not None:
            unit = " s" if self.retry_after.isdecimal() else ""
            text += f"; retry after {self.retry_after}{unit}"
        return text


HTTP_FAILURES: ContextVar[list[HttpFailure] | None] = ContextVar(
    "http_failures", default=None
)
"""List for the HTTP error of the current task's last response; empty after a success.

The SDK's exceptions do not contain the HTTP status. The SDK sends each request in the context of
its caller, so a context variable identifies the request.
"""


async def record_failure(response: httpx2.Response) -> None:
    """Store the HTTP error of a request, or that the response is not an error."""
    failures = HTTP_FAILURES.get()
    if failures is None or response.request.method != "POST":
        return
    # A redirect that is followed is removed by the next response.
    failures.clear()
    if not (response.is_error or response.has_redirect_location):
        return
    # Ignore errors while reading the body, because an exception in this hook would end the
    # session.
    body = b""
    with suppress(httpx2.HTTPError, httpx2.StreamError, TimeoutError):
        with anyio.fail_after(_ERROR_BODY_TIMEOUT_S):
            body = await response.aread()
    message = None
    with suppress(ValueError):
        message = types.jsonrpc_message_adapter.validate_json(body, by_name=False)
    if response.has_redirect_location:
        # A login page, for example, after the session of a proxy has expired.
        text = f"redirect to {response.headers['location']}"
    elif isinstance(message, types.JSONRPCError):
        text = message.error.message
    elif response.headers.get("content-type", "").startswith("text/html"):
        # An HTML page, usually of a reverse proxy, is no useful error message.
        text = ""
    else:
        text = body.decode("utf-8", "replace").strip()
    failure = HttpFailure(
        response.status_code,
        (text or response.headers.get("www-authenticate", ""))[:_MAX_ERROR_CHARACTERS],
        response.headers.get("retry-after") or None,
        has_session="mcp-session-id" in response.request.headers,
        code=message.error.code if isinstance(message, types.JSONRPCError) else None,
    )
    failures.append(failure)


@dataclass(eq=False)
class RequestRefusedError(Exception):
    """Error response, or an invalid response, of an MCP server.

    Attributes:
        message: the error.
        code: the code of the JSON-RPC error; None if there is none.
        failure: the HTTP error; None if the HTTP status is not an error, or only repeats the
            JSON-RPC error.
        is_session_lost: whether the server no longer knows the session.
        can_repeat: whether the server rejected the request without running it.
    """

    message: str
    code: int | None = None
    failure: HttpFailure | None = None
    is_session_lost: bool = False
    can_repeat: bool = False

    def __str__(self) -> str:
        return self.message
