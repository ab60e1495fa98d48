"""Who gets past the door of an HTTP endpoint, and with how much.

Plain ASGI, because Starlette's own middleware for hosts knows no ports, no IPv6 and no
origins. A refusal tells the caller what to change and the log nothing that the caller sent.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic_core import from_json
from starlette.responses import JSONResponse

from ..core.context import TURNS
from .fairness import Turns

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .endpoints import Tokens

MAX_LEVELS = 200
"""Levels of the JSON in a request. Deeper JSON overflows the stack of its parsers."""

ADMITTED = "toolcast.admitted"
"""In the scope of a request that was let in; the extension by which its server finds room."""

ARRIVED = "toolcast.arrived"
"""The extension by which its server tells whether the whole body is here."""

BODY_SECONDS = 30.0
"""From the end of a request's head to the end of its body."""

MAX_VALUES = 10_000
"""Values of the JSON in a request; processing takes some microseconds for each."""

_LARGE = 10_000
_LARGE_PART = 262_144
# Of HTTP (RFC 9110, section 5.6.3); `str.strip` takes others away as well.
_BLANKS = " \t"
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_SEPARATORS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[,\[{]', re.DOTALL)
_QUOTE = ord('"')
_PORT = re.compile(r":\d{1,5}\Z")
_Result = TypeVar("_Result")
_LOWERED = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class AllowedHosts:
    """The names that a server answers to.

    A page that a browser shows can make its own name resolve to this machine; its requests
    still carry that name.

    Args:
        hosts: `name` for every port, `name:port`, or `*` for every name.
        origins: origins of pages that may send requests, besides those at the hosts.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._hosts = frozenset(_host(host) for host in hosts)
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        # A server is asked for under few names, and each request carries one.
        self._answers_to = lru_cache(maxsize=64)(self._is_name)

    def allows_host(self, header: str | None) -> bool:
        """Whether a request's Host is one of the names."""
        if not header:
            return False
        return self._answers_to(header)

    def _is_name(self, header: str) -> bool:
        host = _host(header)
        return bool({"*", host, _PORT.sub("", host)} & self._hosts)

    def allows_origin(self, header: str | None) -> bool:
        """Whether a request's Origin may send requests; those without one may."""
        if header is None:
            return True
        if header.rstrip("/").lower() in self._origins:
            return True
        try:
            parts = urlsplit(header)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and self.allows_host(parts.netloc)


def _host(host: str) -> str:
    """`[::1]`, `::1` and `::1` in capitals are one host."""
    lowered = host.strip(_BLANKS).translate(_LOWERED)
    return f"[{lowered}]" if lowered.count(":") > 1 and "[" not in lowered else lowered


class TakesTokens(Protocol):
    """Who says whether other tokens than those of the settings are good here."""

    def challenge(self, realm: str, **more: str) -> str:
        """What a 401 tells a client to do, for `WWW-Authenticate`."""

    async def refusal(self, token: str, scope: Scope, realm: str) -> Response | None:
        """Why the token does not open the endpoint; None when it does."""


class Guard:
    """An ASGI application behind checks of host, origin, token, method and body.

    Args:
        app: what is guarded; it gets requests whose body was read and found small.
        hosts: the names that the server answers to.
        tokens: one of them `Authorization: Bearer` must carry; None when there are none.
        realm: the name that a refusal gives to what is guarded.
        methods: the methods that it takes.
        max_body: bytes of the largest body.
        turns: what requests with large bodies take turns by.
        oauth: takes other tokens; without it and `tokens`, none is asked for.
        is_rpc: what is sent are messages of JSON-RPC, of which a request is owed an answer.
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
        oauth: TakesTokens | None = None,
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
        head = _head(scope)
        extensions = scope.get("extensions", {})
        refused = self._refusal(head)
        if refused is None and self._oauth is not None:
            work = self._refusal_of_token(head, scope)
            found = await _while_there(work, receive)
            if found is None:
                # Nobody reads it, but a middleware makes a traceback of no answer.
                with suppress(OSError):
                    await refusal(408, "the caller has gone")(scope, receive, send)
                return
            refused, receive = found
        elif refused is None and self._tokens is not None:
            refused = await self._refusal_of_token(head, scope)
        if refused is None:
            refused = self._refusal_of_kind(head, scope)
        if refused is None:
            scope[ADMITTED] = True
            admitted = extensions.get(ADMITTED)
            if admitted is not None and not admitted():
                refused = refusal(503, "the server is full", {"retry-after": "1"})
        if refused is not None:
            await refused(scope, receive, send)
            return
        arrived = extensions.get(ARRIVED)
        try:
            # What is here already needs no timer.
            is_here = arrived is not None and arrived()
            async with asyncio.timeout(None if is_here else BODY_SECONDS):
                body = await self._body(receive)
        except TimeoutError:
            late = f"the body did not arrive within {BODY_SECONDS:g} s"
            await refusal(408, late, {"connection": "close"})(scope, receive, send)
            return
        if body is None:
            return
        TURNS.set(self._turns)
        refused = await self._refusal_of_body(body)
        if refused is not None:
            await refused(scope, receive, send)
            return
        again = put_back(body, receive)
        await self._app(scope, again, self._watched(body, scope, receive, send))

    def _refusal(self, head: _Head) -> Response | None:
        """The answer to a request of a host or page that is not served."""
        if not self._hosts.allows_host(_only(head, b"host")):
            return refusal(421, "the server does not answer to this host")
        origins = head.get(b"origin", ())
        if not all(map(self._hosts.allows_origin, origins)) or len(origins) > 1:
            return refusal(403, "pages of this origin may not send requests")
        return None

    async def _refusal_of_token(self, head: _Head, scope: Scope) -> Response | None:
        """The answer to a request that nobody may send who is known here."""
        query = scope.get("query_string", b"")
        if query and b"access_token" in unquote_to_bytes(query):
            why = (
                "a token does not belong in a URL, which is logged: send it as a header"
            )
            asked = {"www-authenticate": self._challenge(error="invalid_request")}
            return refusal(400, why, asked)
        given = _only(head, b"authorization")
        if given is None:
            asked = {"www-authenticate": self._challenge()}
            return refusal(401, "a bearer token is required", asked)
        scheme, _, rest = given.partition(" ")
        token = rest.strip(_BLANKS)
        if scheme.lower() == "bearer":
            if self._tokens is not None and self._tokens.holds(token):
                return None
            if self._oauth is not None:
                return await self._oauth.refusal(token, scope, self._realm)
        asked = {"www-authenticate": self._challenge(error="invalid_token")}
        return refusal(401, "the token is not valid here", asked)

    def _challenge(self, **more: str) -> str:
        if self._oauth is not None:
            return self._oauth.challenge(self._realm, **more)
        said = {"realm": self._realm, **more}
        return "Bearer " + ", ".join(f'{key}="{said[key]}"' for key in said)

    def _refusal_of_kind(self, head: _Head, scope: Scope) -> Response | None:
        """The answer to a request that is not one of the kind that is taken."""
        if scope["method"] not in self._methods:
            allowed = {"allow": ", ".join(self._methods)}
            return refusal(405, "the method is not taken here", allowed)
        declared = _only(head, b"content-length") or "0"
        if declared.isdecimal() and int(declared[:20]) > self._max_body:
            return self._too_large()
        return None

    async def _refusal_of_body(self, body: bytes) -> Response | None:
        """The answer to a request whose body is refused."""
        if len(body) > self._max_body:
            return self._too_large()
        if len(body) > _LARGE:
            problem = await self._turns.in_thread(lambda: _problem_with_json(body))
            await self._turns.wait()
        else:
            problem = _problem_with_json(body)
        return None if problem is None else refusal(400, f"the body {problem}")

    def _watched(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> Send:
        """Sends large parts of an answer each in its turn, and no 202 that owes an answer."""
        is_refused = False

        async def sent(message: Message) -> None:
            nonlocal is_refused
            if len(message.get("body", b"")) > _LARGE_PART:
                await self._turns.wait()
            elif message.get("status") == 202 and self._is_rpc:
                # The SDK takes a request for a notification when its id is none.
                is_refused = {"id", "method"} <= read_message(body).keys()
                if is_refused:
                    error = refusal(400, "the id of a request is text or a number")
                    await error(scope, receive, send)
            if not is_refused:
                await send(message)

        return sent

    def _too_large(self) -> Response:
        return refusal(413, f"the body is larger than {self._max_body} bytes")

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or one byte too many; None when the caller has gone."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_body or not message.get("more_body", False):
                return bytes(body)


_Head = Mapping[bytes, Sequence[str]]
"""What is looked at of a request's head: each header's values, in their order."""

_LOOKED_AT = {b"host", b"origin", b"authorization", b"content-length"}


def _head(scope: Scope) -> _Head:
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        if name in _LOOKED_AT:
            found.setdefault(name, []).append(value.decode("latin-1"))
    return found


def _only(head: _Head, name: bytes) -> str | None:
    """A header that stands there once; None when it is absent or ambiguous."""
    values = head.get(name, ())
    return values[0] if len(values) == 1 else None


async def _while_there(
    work: Coroutine[Any, Any, _Result], receive: Receive
) -> tuple[_Result, Receive] | None:
    """What the work gives, and what the caller sends; None when they leave before that."""
    coming: list[asyncio.Task[Message]] = []

    async def heard() -> Message:
        return await coming.pop(0) if coming else await receive()

    working = asyncio.create_task(work)
    try:
        while not working.done():
            # It is never given up: what has come by then would be lost behind a middleware.
            coming.append(asyncio.ensure_future(receive()))
            coming[-1].add_done_callback(_told)
            await asyncio.wait(
                (working, coming[-1]), return_when=asyncio.FIRST_COMPLETED
            )
            if working.done():
                break
            message = coming[-1].result()
            if message["type"] != "http.request":
                return None
            if message.get("more_body", False):
                # The rest of a body is not heard before somebody asks for it.
                await asyncio.wait((working,))
        return working.result(), heard
    finally:
        working.cancel()


def _told(received: asyncio.Task[Message]) -> None:
    """Nobody may wait any more for what was received."""
    if not received.cancelled():
        received.exception()


def _problem_with_json(body: bytes) -> str | None:
    if nesting(body) > MAX_LEVELS:
        return f"has more than {MAX_LEVELS} levels of nesting"
    # Each value takes a character at least.
    if len(body) >= MAX_VALUES and crowding(body) > MAX_VALUES:
        return f"has more than {MAX_VALUES:,} values"
    return None


def crowding(body: bytes) -> int:
    """How many values a JSON text has; a bound, found without reading it."""
    most = 1 + sum(map(body.count, (b",", b"[", b"{")))
    if most <= MAX_VALUES:
        return most
    values = 1
    for match in _SEPARATORS.finditer(body):
        values += body[match.start()] != _QUOTE
        if values > MAX_VALUES:
            break
    return values


def nesting(body: bytes) -> int:
    """How deep the brackets of a JSON text go; a bound, found without reading it."""
    opened = body.count(b"[") + body.count(b"{")
    if opened <= MAX_LEVELS:
        return opened
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


def refusal(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A JSON-RPC error that belongs to no request."""
    error = {"code": -32600, "message": message}
    value = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(value, status, headers)


def read_message(body: bytes) -> dict[str, Any]:
    """The JSON object of a body as the SDK reads it: what it takes for a call is one here, too.

    It is empty for what is none, which whoever answers refuses.
    """
    try:
        message = from_json(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def put_back(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read, and then what comes after it."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            whole = waiting.pop()
            return {"type": "http.request", "body": whole, "more_body": False}
        return await receive()

    return again
