"""Reads a live MCP server: raw JSON-RPC in its newest revision, every page of every list.

No SDK stands between: what the server sends is what the listing holds. The environment of
a server's process is the one that `mcp_servers` have at run time. The newest revision asks
`server/discover` and has no session; a server that does not know it is asked `initialize`:
https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import (
    escape_excerpt,
    redact_text,
    redact_value,
)
from toolcast_runtime.core.server_settings import (
    ExternalServer,
    MissingVariableError,
    ResolvedServer,
    resolve_server,
)

from .messages import HttpMessages, StdioMessages
from .server_listing import (
    KINDS,
    ListingError,
    ServerListing,
    checked_entries,
    duplicate_notes,
    told_listing,
    variations,
)

_NEWEST = "2026-07-28"
_OLDER = "2025-11-25"
_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "toolcast", "version": "1"}
_MAX_PAGES = 1_000
"""Pages of one list."""
_MAX_ENTRIES = 50_000
"""Entries of one list."""
_MAX_READ_ATTEMPTS = 3
"""Attempts to read the lists of a server."""
_DISCOVER_SECONDS = 10.0
_METHOD_NOT_FOUND = -32601

Messages = StdioMessages | HttpMessages


def read_server(
    server: ExternalServer, *, twice: bool = False, environment: Any = None
) -> ServerListing:
    """What a live server lists.

    It is started anew for each reading, and ended with all that it started. A reading is
    bounded: by `connect_timeout` for the handshake, by `list_timeout` for each list, and
    in bytes, lines, pages and entries.

    Args:
        server: a command or a URL; its timeouts bound the reading, what it is called
            stands in messages. `prefix`, `allow` and the like are not heeded.
        twice: reads it twice, and fills in `again`, and `varying` with what is not the same.
        environment: what fills in references like `${TOKEN}`; by default the process's.

    Raises:
        ListingError: it cannot be started or reached, does not answer in time, sends
            too much, or answers what is no listing.
    """
    return asyncio.run(_read(server, twice, environment))


async def _read(
    server: ExternalServer, twice: bool, environment: Mapping[str, str] | None
) -> ServerListing:
    try:
        resolved = resolve_server(
            server, os.environ if environment is None else environment
        )
    except MissingVariableError as error:
        raise ListingError(f"{server.name}: {error}") from None
    try:
        listing = await _once(server, resolved)
        if twice:
            again = await _once(server, resolved)
            varying = variations(listing, again)
            listing = replace(listing, varying=varying, again=again)
        notes = tuple(redact_text(words, resolved.secrets) for words in listing.notes)
        listing = replace(listing, notes=notes)
    except ListingError as error:
        text = escape_excerpt(redact_text(str(error), resolved.secrets))
        raise ListingError(f"{server.name}: {text}") from None
    return listing


async def _once(server: ExternalServer, resolved: ResolvedServer) -> ServerListing:
    """One reading, by a process of its own. One that ends at `server/discover` gets another."""
    for is_newest_tried in (True, False):
        kind = StdioMessages if server.command is not None else HttpMessages
        async with kind(resolved) as messages:
            reading = _Reading(server, messages, resolved.secrets)
            if await reading.connect(is_newest_tried):
                return await reading.listing()
            if not is_newest_tried:
                raise ListingError(messages.why_lost())
    raise AssertionError


@dataclass
class _Reading:
    """One reading of one server."""

    server: ExternalServer
    messages: Messages
    secrets: tuple[str, ...]
    protocol: str = _NEWEST
    hello: Mapping[str, Any] | None = None
    has_echoed: bool = False

    async def _ask(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """An answer, without what the server was sent as a secret and says back."""
        answer = await self.messages.ask(method, params)
        try:
            shown: Mapping[str, Any] | None = redact_value(answer, self.secrets)
        except RecursionError:
            raise ListingError("it answers what is nested too deep") from None
        self.has_echoed |= shown != answer
        return shown

    async def connect(self, is_newest_tried: bool) -> bool:
        """Whether the server said hello, in the newest revision that it speaks."""
        seconds = self.server.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                if is_newest_tried and await self._discovered():
                    return True
                return await self._initialized()
        except TimeoutError:
            raise ListingError(
                f"it did not answer within {seconds:g} s; {self._noise()}"
                f"{self.messages.why_lost()}"
            ) from None

    async def _discovered(self) -> bool:
        self.messages.adopt(_NEWEST)
        try:
            # A server of an older revision may leave a method that it does not know
            # without an answer; one that starts slowly is asked again below.
            async with asyncio.timeout(
                min(_DISCOVER_SECONDS, self.server.connect_timeout / 2)
            ):
                answer = await self._ask("server/discover", self._params({}))
        except TimeoutError:
            return False
        result = _result(answer)
        if result is None or _NEWEST not in _texts(result.get("supportedVersions")):
            return False
        self.hello = result
        return True

    async def _initialized(self) -> bool:
        self.protocol = _OLDER
        self.messages.adopt(_OLDER)
        params = {"protocolVersion": _OLDER, "capabilities": {}, "clientInfo": _CLIENT}
        answer = await self._ask("initialize", params)
        if answer is None:
            return False
        result = _result(answer)
        if result is None:
            raise ListingError(f"it refused `initialize`: {_said(answer)}")
        agreed = result.get("protocolVersion")
        self.protocol = agreed if isinstance(agreed, str) else _OLDER
        self.messages.adopt(self.protocol)
        self.hello = result
        await self.messages.tell("notifications/initialized")
        return True

    async def listing(self) -> ServerListing:
        """Every list that the server declares; tools in any case."""
        hello = self.hello or {}
        capabilities = hello.get("capabilities")
        declared = capabilities if isinstance(capabilities, dict) else {}
        entries: dict[str, tuple[Mapping[str, Any], ...]] = {}
        envelopes: dict[str, Mapping[str, Any]] = {}
        notes = []
        for kind in KINDS:
            family = "resources" if kind == "resourceTemplates" else kind
            entries[kind] = ()
            if family not in declared and family != "tools":
                continue
            try:
                entries[kind], envelopes[kind] = await self._steady(kind, family)
            except _ErrorResponseError as refusal:
                if family == "tools" and "tools" in declared:
                    raise ListingError(f"it refused `tools/list`: {refusal}") from None
                if refusal.code != _METHOD_NOT_FOUND or kind == family in declared:
                    words = escape_excerpt(str(refusal))
                    notes.append(f"it refused `{KINDS[kind][0]}`: {words}")
        if self.has_echoed:
            notes.append("it says back a secret that it was sent, which is hidden here")
        if self.messages.noise:
            notes.append(escape_excerpt(self._noise().removesuffix("; ")))
        notes += duplicate_notes(list(self.messages.twice))
        meta = hello.get("_meta")
        stamped = meta.get(f"{_META}serverInfo") if isinstance(meta, dict) else None
        told = {"serverInfo": stamped, **hello, "protocolVersion": self.protocol}
        return told_listing(self.server.name, told, entries, envelopes, tuple(notes))

    async def _steady(
        self, kind: str, family: str
    ) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any]]:
        """A list that did not change while it was read, or what it was at last."""
        seconds = self.server.list_timeout
        change = f"notifications/{family}/list_changed"
        try:
            async with asyncio.timeout(seconds):
                for _ in range(_MAX_READ_ATTEMPTS):
                    self.messages.changed.discard(change)
                    found = await self._pages(kind)
                    if change not in self.messages.changed:
                        break
                return found
        except TimeoutError:
            late = f"it did not answer `{KINDS[kind][0]}` within {seconds:g} s"
            noise = f"; {self._noise()}".removesuffix("; ")
            raise ListingError(late + noise) from None

    async def _pages(
        self, kind: str
    ) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any]]:
        method = KINDS[kind][0]
        entries: list[Mapping[str, Any]] = []
        envelope: Mapping[str, Any] = {}
        params: Mapping[str, Any] = {}
        for number in range(_MAX_PAGES):
            answer = await self._ask(method, self._params(params))
            if answer is None:
                raise ListingError(self.messages.why_lost())
            result = _result(answer)
            if result is None:
                raise _ErrorResponseError(_code(answer), _said(answer))
            if kind not in result:
                raise ListingError(f"its answer to `{method}` has no `{kind}`")
            entries += checked_entries(kind, result[kind])
            if len(entries) > _MAX_ENTRIES:
                raise ListingError(f"it lists more than {_MAX_ENTRIES:,} {kind}")
            if number == 0:
                own = (kind, "nextCursor")
                envelope = {k: v for k, v in result.items() if k not in own}
            cursor = result.get("nextCursor")
            # An empty text is a cursor, too.
            if not isinstance(cursor, str):
                return tuple(entries), envelope
            params = {"cursor": cursor}
        raise ListingError(
            f"its answer to `{method}` has more than {_MAX_PAGES:,} pages"
        )

    def _params(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.protocol != _NEWEST:
            return params
        meta = {
            f"{_META}protocolVersion": _NEWEST,
            f"{_META}clientInfo": _CLIENT,
            f"{_META}clientCapabilities": {},
        }
        return {**params, "_meta": meta}

    def _noise(self) -> str:
        lines = self.messages.noise
        if not lines:
            return ""
        return f"{len(lines)} of its lines on stdout are no messages: `{lines[0]}`; "


class _ErrorResponseError(Exception):
    """JSON-RPC error response of the server, with its error code."""

    def __init__(self, code: int | None, words: str) -> None:
        super().__init__(words)
        self.code = code


def _result(answer: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    result = None if answer is None else answer.get("result")
    return result if isinstance(result, dict) else None


def _code(answer: Mapping[str, Any]) -> int | None:
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


def _said(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    words = error.get("message") if isinstance(error, dict) else None
    return words if isinstance(words, str) else "an answer without a result"


def _texts(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
