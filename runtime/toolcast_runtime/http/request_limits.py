"""Checks of the host, origin, token and size of HTTP requests.

Plain ASGI, because Starlette's `TrustedHostMiddleware` supports neither ports, IPv6 addresses
nor origins. Error responses state how to fix the request; its content is not logged.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic_core import from_json
from starlette.responses import JSONResponse

from ..core.calls.untrusted_text import escape_excerpt
from ..core.context import TURNS
from .fairness import Turns

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .endpoints import Tokens

_logger = logging.getLogger("toolcast.http")

MAX_LEVELS = 200
"""Maximum nesting of a request's JSON. Deeper JSON overflows the stack of parsers."""

ADMITTED = "toolcast.admitted"
"""ASGI extension: a function that admits the request's connection, or returns False.

Also a key of the scope, which is set once a request has passed the checks of its head.
"""

ARRIVED = "toolcast.arrived"
"""ASGI extension: a function that returns whether the complete body has arrived."""

BODY_TIMEOUT_S = 30.0
"""Time from the end of a request's head to the end of its body."""

MAX_VALUES = 10_000
"""Maximum number of values in a request's JSON.

Processing takes some microseconds for each value.
"""

_MAX_SMALL_BODY_BYTES = 10_000
"""Size up to which a request's JSON is measured in the event loop, not in a thread."""

_MAX_SMALL_PART_BYTES = 262_144
"""Size up to which a part of a response is sent without waiting for a turn."""

# White space that HTTP allows around header values (RFC 9110, section 5.6.3). `str.strip`
# without an argument removes more characters.
_WHITE_SPACE = " \t"
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_SEPARATORS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[,\[{]', re.DOTALL)
_QUOTE = ord('"')
_PORT = re.compile(r":\d{1,5}\Z")
# The dot at the end of an absolute domain name (RFC 1034, section 3.1), before a port.
_ROOT_DOT = re.compile(r"(?<=[^.])\.(?=(?::\d{1,5})?\Z)")
_Result = TypeVar("_Result")
_TO_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class AllowedHosts:
    """The values of `Host` and `Origin` that a server accepts.

    This protects from DNS rebinding: a web page can make its own host name resolve to this
    machine, but the browser still sends that name in `Host`.

    Args:
        hosts: `name` for any port, `name:port`, or `*` for any name.
        origins: the origins of web pages that may send requests, in addition to the pages
            of the hosts themselves.
        variable: the environment variable that adds hosts, for the message about others.
    """

    def __init__(
        self,
        hosts: Iterable[str],
        origins: Iterable[str] = (),
        variable: str = "allowed_hosts",
    ) -> None:
        self.variable = variable
        self._hosts = frozenset(_normalize_host(host) for host in hosts)
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        # Cache the results, because every request is checked and clients use few host names.
        self._is_allowed = lru_cache(maxsize=64)(self._matches_host)

    def allows_host(self, header: str | None) -> bool:
        """Return whether the value of a request's `Host` header is allowed."""
        if not header:
            return False
        return self._is_allowed(header)

    def _matches_host(self, header: str) -> bool:
        host = _normalize_host(header)
        return bool({"*", host, _PORT.sub("", host)} & self._hosts)

    def allows_origin(self, header: str | None) -> bool:
        """Return whether a request's `Origin` is allowed; requests without one are."""
        if header is None or self._is_declared_origin(header):
            return True
        host = _get_page_host(header)
        return host is not None and self.allows_host(host)

    def allows_page(self, origin: str) -> bool:
        """Return whether web pages of an origin may read responses.

        The host `*` does not allow all pages: otherwise any web page could call the tools of
        a server without tokens.
        """
        if self._is_declared_origin(origin):
            return True
        host = _normalize_host(_get_page_host(origin) or "")
        return not self._hosts.isdisjoint({host, _PORT.sub("", host)} - {"*"})

    def _is_declared_origin(self, origin: str) -> bool:
        return origin.rstrip("/").lower() in self._origins


def _get_page_host(origin: str) -> str | None:
    """Return the host and port of a web page's origin; None for other schemes."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc if parts.scheme in ("http", "https") else None


def _normalize_host(host: str) -> str:
    """Return a host in lower case, with an IPv6 address in brackets.

    `name.` is the absolute form of `name`, so the dot is removed.
    """
    lowered = _ROOT_DOT.sub("", host.strip(_WHITE_SPACE).translate(_TO_LOWER))
    return f"[{lowered}]" if lowered.count(":") > 1 and "[" not in lowered else lowered


class TokenVerifier(Protocol):
    """Validates the OAuth access tokens of an endpoint."""

    def build_challenge(self, realm: str, **more: str) -> str:
        """Return the value of a response's `WWW-Authenticate` header."""

    async def check_token(
        self, token: str, scope: Scope, realm: str
    ) -> Response | None:
        """Return the error response for a token, or None if the endpoint accepts it."""


class Guard:
    """ASGI application that checks requests before it passes them on.

    Args:
        app: the application that gets the requests that pass, with their complete body.
        hosts: the hosts and origins that the server accepts.
        tokens: the tokens that `Authorization: Bearer` may contain; None if there are none.
        realm: the realm in `WWW-Authenticate`.
        methods: the allowed HTTP methods.
        max_body: the maximum size of a body in bytes.
        turns: the turns that large bodies wait for.
        oauth: the verifier of other tokens. Without it and `tokens`, no token is required.
        is_rpc: whether bodies are JSON-RPC messages, so that a request must get a response.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: AllowedHosts,
        tokens: Tokens | None,
        realm: str,
        methods: Sequence[str],
        max_body: int,
        turns: Turns | None = None,
        oauth: TokenVerifier | None = None,
        *,
        is_rpc: bool = False,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._tokens = tokens
        self._oauth = oauth
        self._realm = realm.encode("latin-1", "replace").decode("latin-1")
        self._methods = tuple(methods)
        self._max_body = max_body
        self._turns = turns or Turns()
        self._is_rpc = is_rpc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with an error, or pass it with its body to the application."""
        head = _read_head(scope)
        extensions = scope.get("extensions", {})
        error = self._check_host_and_origin(head)
        if error is None and self._oauth is not None:
            check = self._check_token(head, scope)
            outcome = await _run_while_connected(check, receive)
            if outcome is None:
                # The client has disconnected. Send a response anyway, because some middleware
                # reports a missing response as an error.
                closed = error_response(408, "the caller closed the connection")
                with suppress(OSError):
                    await closed(scope, receive, send)
                return
            error, receive = outcome
        elif error is None and self._tokens is not None:
            error = await self._check_token(head, scope)
        if error is None:
            error = self._check_method_and_length(head, scope)
        if error is None:
            scope[ADMITTED] = True
            admit = extensions.get(ADMITTED)
            if admit is not None and not admit():
                error = error_response(503, "the server is full", {"retry-after": "1"})
        if error is not None:
            await error(scope, receive, send)
            return
        has_arrived = extensions.get(ARRIVED)
        try:
            # Start no timer if the body is already complete.
            is_complete = has_arrived is not None and has_arrived()
            async with asyncio.timeout(None if is_complete else BODY_TIMEOUT_S):
                body = await self._read_body(receive)
        except TimeoutError:
            message = f"the body did not arrive within {BODY_TIMEOUT_S:g} s"
            error = error_response(408, message, {"connection": "close"})
            await error(scope, receive, send)
            return
        if body is None:
            return
        TURNS.set(self._turns)
        error = await self._check_body(body)
        if error is not None:
            await error(scope, receive, send)
            return
        send = self._wrap_send(body, scope, receive, send)
        await self._app(scope, replay_body(body, receive), send)

    def _check_host_and_origin(self, head: _Head) -> Response | None:
        if not self._hosts.allows_host(_get_single(head, b"host")):
            variable = self._hosts.variable
            host = escape_excerpt(", ".join(head.get(b"host", ())))
            _logger.warning(
                "rejected a request to the host `%s`; help: if clients use this host, add it"
                " to %s",
                host,
                variable,
                extra={"kind": "host"},
            )
            message = f"the server does not accept this `Host`; help: set {variable}"
            return error_response(421, message)
        origins = head.get(b"origin", ())
        if not all(map(self._hosts.allows_origin, origins)) or len(origins) > 1:
            return error_response(403, "the server does not accept this `Origin`")
        return None

    async def _check_token(self, head: _Head, scope: Scope) -> Response | None:
        query = scope.get("query_string", b"")
        if query and b"access_token" in unquote_to_bytes(query):
            # Reject tokens in URLs, because proxies and servers log URLs (RFC 6750, section
            # 5.3).
            message = "a URL must not contain a token: send it as `Authorization`"
            challenge = {"www-authenticate": self._challenge(error="invalid_request")}
            return error_response(400, message, challenge)
        authorization = _get_single(head, b"authorization")
        if authorization is None:
            challenge = {"www-authenticate": self._challenge()}
            return error_response(401, "a bearer token is required", challenge)
        scheme, _, rest = authorization.partition(" ")
        token = rest.strip(_WHITE_SPACE)
        if scheme.lower() == "bearer":
            if self._tokens is not None and self._tokens.contains(token):
                return None
            if self._oauth is not None:
                return await self._oauth.check_token(token, scope, self._realm)
        challenge = {"www-authenticate": self._challenge(error="invalid_token")}
        return error_response(
            401, "the token is not valid for this endpoint", challenge
        )

    def _challenge(self, **more: str) -> str:
        if self._oauth is not None:
            return self._oauth.build_challenge(self._realm, **more)
        values = {"realm": self._realm, **more}
        return "Bearer " + ", ".join(f'{key}="{values[key]}"' for key in values)

    def _check_method_and_length(self, head: _Head, scope: Scope) -> Response | None:
        if scope["method"] not in self._methods:
            allowed = {"allow": ", ".join(self._methods)}
            return error_response(405, "this path does not support the method", allowed)
        declared = _get_single(head, b"content-length") or "0"
        # Convert only 20 digits, which exceed every limit: `int` raises for very long strings.
        if declared.isdecimal() and int(declared[:20]) > self._max_body:
            return self._too_large_response()
        return None

    async def _check_body(self, body: bytes) -> Response | None:
        if len(body) > self._max_body:
            return self._too_large_response()
        if len(body) > _MAX_SMALL_BODY_BYTES:
            problem = await self._turns.run_in_thread(lambda: _find_json_problem(body))
            await self._turns.wait()
        else:
            problem = _find_json_problem(body)
        return None if problem is None else error_response(400, f"the body {problem}")

    def _wrap_send(
        self, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> Send:
        """Return a `send` that waits for turns, and replaces a wrong 202 by an error.

        Each large part of the response waits for its turn. 202 means that the SDK took the
        message for a notification.
        """
        is_replaced = False

        async def checked_send(message: Message) -> None:
            nonlocal is_replaced
            if len(message.get("body", b"")) > _MAX_SMALL_PART_BYTES:
                await self._turns.wait()
            elif message.get("status") == 202 and self._is_rpc:
                # The SDK answers 202 to a request with an invalid id, because it parses the
                # request as a notification. The client would wait for a response.
                is_replaced = {"id", "method"} <= parse_message(body).keys()
                if is_replaced:
                    invalid_id = "`id` of a request must be a string or a number"
                    await error_response(400, invalid_id)(scope, receive, send)
            if not is_replaced:
                await send(message)

        return checked_send

    def _too_large_response(self) -> Response:
        return error_response(413, f"the body is larger than {self._max_body} bytes")

    async def _read_body(self, receive: Receive) -> bytes | None:
        """Read the body until it is complete or too large; None if the client left."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_body or not message.get("more_body", False):
                # Ignore a byte order mark, as RFC 8259, section 8.1, allows.
                return bytes(body).removeprefix(b"\xef\xbb\xbf")


_Head = Mapping[bytes, Sequence[str]]
"""The checked headers of a request: each header's values, in the order received."""

_CHECKED_HEADERS = {b"host", b"origin", b"authorization", b"content-length"}


def _read_head(scope: Scope) -> _Head:
    head: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        if name in _CHECKED_HEADERS:
            head.setdefault(name, []).append(value.decode("latin-1"))
    return head


def _get_single(head: _Head, name: bytes) -> str | None:
    """Return the value of a header; None if it is absent or occurs more than once."""
    values = head.get(name, ())
    return values[0] if len(values) == 1 else None


async def _run_while_connected(
    work: Coroutine[Any, Any, _Result], receive: Receive
) -> tuple[_Result, Receive] | None:
    """Run a coroutine, but cancel it and return None if the client disconnects first.

    Returns:
        The coroutine's result, and a `receive` that first repeats the messages that arrived
        meanwhile.
    """
    pending: list[asyncio.Task[Message]] = []

    async def receive_pending() -> Message:
        return await pending.pop(0) if pending else await receive()

    task = asyncio.create_task(work)
    try:
        while not task.done():
            # Do not cancel a pending `receive`: with some middleware, a message that has
            # already arrived would be lost.
            pending.append(asyncio.ensure_future(receive()))
            pending[-1].add_done_callback(_consume_exception)
            await asyncio.wait((task, pending[-1]), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                break
            message = pending[-1].result()
            if message["type"] != "http.request":
                return None
            if message.get("more_body", False):
                # Do not buffer the rest of the body before the request is accepted.
                await asyncio.wait((task,))
        return task.result(), receive_pending
    finally:
        task.cancel()


def _consume_exception(received: asyncio.Task[Message]) -> None:
    """Mark a task's exception as retrieved, because the task may never be awaited."""
    if not received.cancelled():
        received.exception()


def _find_json_problem(body: bytes) -> str | None:
    if measure_nesting(body) > MAX_LEVELS:
        return f"has more than {MAX_LEVELS} levels of nesting"
    # Each value has at least one character, so a body with fewer characters than the limit
    # needs no counting.
    if len(body) >= MAX_VALUES and count_values(body) > MAX_VALUES:
        return f"has more than {MAX_VALUES:,} values"
    return None


def count_values(body: bytes) -> int:
    """Return an upper bound of the number of values in JSON, without parsing it.

    Counting stops above `MAX_VALUES`.
    """
    bound = 1 + sum(map(body.count, (b",", b"[", b"{")))
    if bound <= MAX_VALUES:
        return bound
    values = 1
    for match in _SEPARATORS.finditer(body):
        values += body[match.start()] != _QUOTE
        if values > MAX_VALUES:
            break
    return values


def measure_nesting(body: bytes) -> int:
    """Return an upper bound of the nesting depth of JSON, without parsing it.

    Counting stops above `MAX_LEVELS`.
    """
    opening_brackets = body.count(b"[") + body.count(b"{")
    if opening_brackets <= MAX_LEVELS:
        return opening_brackets
    deepest = level = 0
    for match in _TOKENS.finditer(body):
        first = body[match.start()]
        if first in b"[{":
            level += 1
            deepest = max(deepest, level)
            if level > MAX_LEVELS:
                break
        elif first in b"]}":
            level -= 1
    return deepest


def error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an HTTP response whose body is a JSON-RPC error without a request id."""
    error = {"code": -32600, "message": message}
    value = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(value, status, headers)


def parse_message(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; an empty one if the body is not an object.

    The MCP SDK uses the same parser, so both agree on which bodies are calls.
    """
    try:
        message = from_json(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first returns a body that was already read."""
    unread = [body]

    async def receive_again() -> Message:
        if unread:
            content = unread.pop()
            return {"type": "http.request", "body": content, "more_body": False}
        return await receive()

    return receive_again
