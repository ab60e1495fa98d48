"""Who gets past the door of an HTTP endpoint, and with how much.

Plain ASGI. A refusal tells the caller what to change and the log nothing that the caller
sent.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

__all__ = ["MOST_LEVELS", "AllowedHosts", "Guard", "nesting", "refuse"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

MOST_LEVELS = 200
"""Of the JSON in a request; more overflow the stack of what reads them."""

_LARGE = 65_536
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_PORT = re.compile(r":\d{1,5}\Z")
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
        self._answers_to = functools.lru_cache(maxsize=64)(self._is_name)

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
    lowered = host.strip().translate(_LOWERED)
    return f"[{lowered}]" if lowered.count(":") > 1 and "[" not in lowered else lowered


class Guard:
    """An ASGI application behind checks of host, origin, token, method and body.

    Args:
        app: what is guarded; it gets requests whose body was read and found small.
        hosts: the names that the server answers to.
        token: what `Authorization: Bearer` must carry; None when no token is asked for.
        realm: the name that a refusal gives to what is guarded.
        methods: the methods that it takes.
        max_body: bytes of the largest body.
    """

    def __init__(
        self,
        app: AsgiApp,
        hosts: AllowedHosts,
        token: str | None,
        realm: str,
        methods: Sequence[str],
        max_body: int,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._token = None if token is None else _digest(token.encode())
        self._realm = realm
        self._methods = tuple(methods)
        self._max_body = max_body

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            await refuse(send, *refusal)
            return
        body = await self._body(scope, receive)
        if body is None:
            return
        if len(body) > self._max_body:
            await refuse(send, 413, f"the body is larger than {self._max_body} bytes")
            return
        levels = (
            await asyncio.to_thread(nesting, body)
            if len(body) > _LARGE
            else nesting(body)
        )
        if levels > MOST_LEVELS:
            await refuse(send, 400, f"the body is more than {MOST_LEVELS} levels deep")
            return
        waiting = [body]

        async def again() -> Message:
            if waiting:
                return {
                    "type": "http.request",
                    "body": waiting.pop(),
                    "more_body": False,
                }
            return await receive()

        await self._app(scope, again, send)

    def _refusal(
        self, scope: MutableMapping[str, Any]
    ) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if not self._hosts.allows_host(_only(headers, b"host")):
            return 421, "the server does not answer to this host", []
        origins = [value for name, value in headers if name == b"origin"]
        if origins and not self._hosts.allows_origin(_only(headers, b"origin")):
            return 403, "pages of this origin may not send requests", []
        if self._token is not None:
            given = _only(headers, b"authorization")
            challenge = f'Bearer realm="{self._realm}"'
            if given is None:
                return 401, "a bearer token is required", [_challenge(challenge)]
            scheme, _, token = given.partition(" ")
            right = hmac.compare_digest(
                _digest(token.strip().encode("latin-1")), self._token
            )
            if scheme.lower() != "bearer" or not right:
                wrong = f'{challenge}, error="invalid_token"'
                return 401, "the token is not valid here", [_challenge(wrong)]
        if scope["method"] not in self._methods:
            allow = ", ".join(self._methods).encode()
            return 405, "the method is not taken here", [(b"allow", allow)]
        declared = _only(headers, b"content-length") or "0"
        if declared.isdecimal() and int(declared[:20]) > self._max_body:
            return 413, f"the body is larger than {self._max_body} bytes", []
        return None

    async def _body(
        self, scope: MutableMapping[str, Any], receive: Receive
    ) -> bytes | None:
        """The whole body, or one byte too many; None when the caller has gone."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_body or not message.get("more_body", False):
                return bytes(body)


def nesting(body: bytes) -> int:
    """How deep the brackets of a JSON text go; a bound, found without reading it."""
    opened = body.count(b"[") + body.count(b"{")
    if opened <= MOST_LEVELS:
        return opened
    deepest = level = 0
    for match in _TOKENS.finditer(body):
        first = body[match.start()]
        if first in b"[{":
            level += 1
            deepest = max(deepest, level)
            if level > MOST_LEVELS:
                break
        elif first in b"]}":
            level -= 1
    return deepest


async def refuse(
    send: Send, status: int, message: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Answers with a JSON-RPC error that belongs to no request."""
    error = {"code": -32600, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    start = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


def _digest(token: bytes) -> bytes:
    """Of one length for every token, so that comparing takes one time."""
    return hashlib.sha256(token).digest()


def _challenge(value: str) -> tuple[bytes, bytes]:
    return b"www-authenticate", value.encode("latin-1", "replace")


def _only(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str | None:
    """A header that stands there once; None when it is absent or ambiguous."""
    values = [value for key, value in headers if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else None
