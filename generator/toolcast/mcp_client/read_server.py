"""Read the lists of a live MCP server with raw JSON-RPC, so that no SDK changes them.

The stateless protocol version (`server/discover`, no session) is tried first, then the initialize
handshake. A server's process gets the environment that servers in `mcp_servers` get at run time.
https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
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

from .connections import HttpConnection, StdioConnection
from .contents import encode_content, list_requests
from .server_listing import (
    KINDS,
    ContentKey,
    ListingError,
    ServerListing,
    build_listing,
    format_duplicate_keys,
    list_variations,
    parse_entries,
)

_STATELESS_VERSION = "2026-07-28"
_HANDSHAKE_VERSION = "2025-11-25"
_META_PREFIX = "io.modelcontextprotocol/"
_CLIENT_INFO = {"name": "toolcast", "version": "1"}
_MAX_PAGES = 1_000
"""The maximum number of pages of one list."""
_MAX_ENTRIES = 50_000
"""The maximum number of entries of one list."""
_MAX_READ_ATTEMPTS = 3
"""The maximum number of times that a list is read while it keeps changing."""
_DISCOVER_TIMEOUT_S = 10.0
_METHOD_NOT_FOUND = -32601

Connection = StdioConnection | HttpConnection
ListAndEnvelope = tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any]]
"""The entries of a list, and the other members of the first page's result."""


def read_server(
    server: ExternalServer,
    *,
    twice: bool = False,
    environment: Mapping[str, str] | None = None,
    handshake_only: bool = False,
    with_contents: bool = False,
) -> ServerListing:
    """Connect to a live server and return its lists.

    Each reading starts a new process or session and ends it with all child processes. It is
    limited by `connect_timeout` for the handshake, by `list_timeout` for each list, and by
    the number of bytes, lines, pages and entries.

    Args:
        server: the command or URL, the timeouts, and the name for messages. Settings such as
            `prefix` and `allow` are ignored.
        twice: read the lists twice, and set `second_reading` and `variations`.
        environment: variables for references such as `${TOKEN}`; by default `os.environ`.
        handshake_only: connect with `initialize`, also to a server of the stateless version.
        with_contents: read the contents of resources and prompts, too.

    Raises:
        ListingError: the server cannot be started or reached, does not answer in time, exceeds
            a limit, or returns something that is not a listing.
    """
    variables = os.environ if environment is None else environment
    try:
        resolved = resolve_server(server, variables)
    except MissingVariableError as error:
        raise ListingError(f"{server.name}: {error}") from None
    read = partial(_read_once, server, resolved, handshake_only, with_contents)
    return asyncio.run(_read(server, resolved, read, twice))


async def _read(
    server: ExternalServer,
    resolved: ResolvedServer,
    read: Callable[[], Awaitable[ServerListing]],
    twice: bool,
) -> ServerListing:
    try:
        listing = await read()
        if twice:
            second_reading = await read()
            listing = replace(
                listing,
                variations=list_variations(listing, second_reading),
                second_reading=second_reading,
            )
        notes = tuple(redact_text(note, resolved.secrets) for note in listing.notes)
        listing = replace(listing, notes=notes)
    except ListingError as error:
        text = escape_excerpt(redact_text(str(error), resolved.secrets))
        raise ListingError(f"{server.name}: {text}") from None
    return listing


async def _read_once(
    server: ExternalServer,
    resolved: ResolvedServer,
    handshake_only: bool,
    with_contents: bool,
) -> ServerListing:
    """Return the lists, read in a new process or session.

    If the server ends during `server/discover`, it is started again without that
    request: some servers end at an unknown method.
    """
    connection_type = StdioConnection if server.command is not None else HttpConnection
    for is_discover_tried in (False,) if handshake_only else (True, False):
        async with connection_type(resolved) as connection:
            reader = _ListReader(server, connection, resolved.secrets)
            if await reader.connect(is_discover_tried):
                listing = await reader.read_lists()
                contents = await reader.read_contents(listing) if with_contents else {}
                return replace(listing, contents=contents)
            if not is_discover_tried:
                raise ListingError(connection.describe_failure())
    # The last attempt returns or raises, so this line is never reached.
    raise AssertionError


@dataclass
class _ListReader:
    """The handshake with a server, and the reading of its lists over a connection.

    Attributes:
        server: the server's settings.
        connection: the open connection.
        secrets: values that the server was sent, which are removed from its responses.
        protocol: the protocol version of the messages.
        server_result: the result of `server/discover` or `initialize`.
        has_returned_secret: whether a response contained a secret.
    """

    server: ExternalServer
    connection: Connection
    secrets: tuple[str, ...]
    protocol: str = _STATELESS_VERSION
    server_result: Mapping[str, Any] | None = None
    has_returned_secret: bool = False

    async def _request(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return the response to a request, with secrets redacted; None without one.

        Raises:
            ListingError: the response is nested too deeply.
        """
        response = await self.connection.request(method, params)
        try:
            redacted: Mapping[str, Any] | None = redact_value(response, self.secrets)
        except RecursionError:
            raise ListingError("the response is nested too deeply") from None
        self.has_returned_secret |= redacted != response
        return redacted

    async def connect(self, is_discover_tried: bool) -> bool:
        """Agree on a protocol version; return False if the connection ended.

        Args:
            is_discover_tried: send `server/discover` before `initialize`.

        Raises:
            ListingError: the server did not answer in time, or rejected `initialize`.
        """
        seconds = self.server.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                if is_discover_tried and await self._discover():
                    return True
                try:
                    return await self._initialize()
                except ListingError:
                    # A server that starts slowly may read `server/discover` after its timeout,
                    # and then accepts only the stateless version.
                    if is_discover_tried and await self._discover():
                        return True
                    raise
        except TimeoutError:
            raise ListingError(
                f"the server did not answer within {seconds:g} s;"
                f" {self._describe_invalid_lines()}{self.connection.describe_failure()}"
            ) from None

    async def _discover(self) -> bool:
        """Return whether the server supports the stateless protocol version.

        False also if the server does not answer `server/discover` in time.
        """
        self.protocol = _STATELESS_VERSION
        self.connection.set_protocol(_STATELESS_VERSION)
        try:
            # A server of an older version may never answer an unknown method. A server
            # that only starts slowly needs the rest of the timeout for `initialize`.
            async with asyncio.timeout(
                min(_DISCOVER_TIMEOUT_S, self.server.connect_timeout / 2)
            ):
                response = await self._request(
                    "server/discover", self._build_params({})
                )
        except TimeoutError:
            return False
        result = _get_result(response)
        if result is None or _STATELESS_VERSION not in _filter_strings(
            result.get("supportedVersions")
        ):
            return False
        self.server_result = result
        return True

    async def _initialize(self) -> bool:
        """Do the initialize handshake; return False if the connection ended.

        Raises:
            ListingError: the server rejected `initialize`.
        """
        self.protocol = _HANDSHAKE_VERSION
        self.connection.set_protocol(_HANDSHAKE_VERSION)
        params = {
            "protocolVersion": _HANDSHAKE_VERSION,
            "capabilities": {},
            "clientInfo": _CLIENT_INFO,
        }
        response = await self._request("initialize", params)
        if response is None:
            return False
        result = _get_result(response)
        if result is None:
            raise ListingError(
                f"the server rejected `initialize`: {_get_error_message(response)}"
            )
        version = result.get("protocolVersion")
        self.protocol = version if isinstance(version, str) else _HANDSHAKE_VERSION
        self.connection.set_protocol(self.protocol)
        self.server_result = result
        await self.connection.notify("notifications/initialized")
        return True

    async def read_lists(self) -> ServerListing:
        """Return all lists of the server's declared capabilities, and always its tools.

        A rejected list is empty, with a note if the server declares it.

        Raises:
            ListingError: the server rejects `tools/list` although it declares tools,
                exceeds a limit, or returns something that is not a listing.
        """
        server_result = self.server_result or {}
        capabilities = server_result.get("capabilities")
        declared = capabilities if isinstance(capabilities, dict) else {}
        entries: dict[str, tuple[Mapping[str, Any], ...]] = {}
        envelopes: dict[str, Mapping[str, Any]] = {}
        notes = []
        for kind, (method, _) in KINDS.items():
            capability = "resources" if kind == "resourceTemplates" else kind
            entries[kind] = ()
            if capability not in declared and capability != "tools":
                continue
            try:
                entries[kind], envelopes[kind] = await self._read_list(kind, capability)
            except _ErrorResponseError as error:
                if capability == "tools" and "tools" in declared:
                    message = f"the server rejected `tools/list`: {error}"
                    raise ListingError(message) from None
                # `Method not found` is normal for a list that the server does not
                # declare, and for resource templates, which have no capability of their
                # own.
                is_declared = kind == capability and capability in declared
                if error.code != _METHOD_NOT_FOUND or is_declared:
                    message = escape_excerpt(str(error))
                    notes.append(f"the server rejected `{method}`: {message}")
        if self.has_returned_secret:
            notes.append(
                "the server returned a secret that it was sent; it is redacted here"
            )
        if self.connection.invalid_lines:
            lines = self._describe_invalid_lines().removesuffix("; ")
            notes.append(escape_excerpt(lines))
        notes += format_duplicate_keys(list(self.connection.duplicate_keys))
        meta = server_result.get("_meta")
        # In the stateless version, the server's name and version are in `_meta`.
        server_info = (
            meta.get(f"{_META_PREFIX}serverInfo") if isinstance(meta, dict) else None
        )
        members = {
            "serverInfo": server_info,
            **server_result,
            "protocolVersion": self.protocol,
        }
        return build_listing(
            self.server.name, members, entries, envelopes, tuple(notes)
        )

    async def read_contents(
        self, listing: ServerListing
    ) -> dict[ContentKey, str | None]:
        """Return the contents of a listing's resources and prompts; see `ServerListing`.

        No answer within `call_timeout` is an error.
        """
        requests = list(list_requests(listing))
        contents: dict[ContentKey, str | None] = dict.fromkeys(
            request.key for request in requests
        )
        for key, method, params in requests:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.server.call_timeout):
                    response = await self._request(method, self._build_params(params))
                contents[key] = encode_content(_get_result(response) or {})
        return contents

    async def _read_list(self, kind: str, capability: str) -> ListAndEnvelope:
        """Return a list; read it again if the server reports a change meanwhile.

        After `_MAX_READ_ATTEMPTS` readings, the last one is returned.

        Raises:
            ListingError: the server did not answer in time, or a response is not valid.
        """
        seconds = self.server.list_timeout
        change = f"notifications/{capability}/list_changed"
        try:
            async with asyncio.timeout(seconds):
                for _ in range(_MAX_READ_ATTEMPTS):
                    self.connection.notifications.discard(change)
                    result = await self._read_pages(kind)
                    if change not in self.connection.notifications:
                        break
                return result
        except TimeoutError:
            message = (
                f"the server did not answer `{KINDS[kind][0]}` within {seconds:g} s"
            )
            lines = f"; {self._describe_invalid_lines()}".removesuffix("; ")
            raise ListingError(message + lines) from None

    async def _read_pages(self, kind: str) -> ListAndEnvelope:
        method = KINDS[kind][0]
        entries: list[Mapping[str, Any]] = []
        envelope: Mapping[str, Any] = {}
        params: Mapping[str, Any] = {}
        for page in range(_MAX_PAGES):
            response = await self._request(method, self._build_params(params))
            if response is None:
                raise ListingError(self.connection.describe_failure())
            result = _get_result(response)
            if result is None:
                raise _ErrorResponseError(
                    _get_error_code(response), _get_error_message(response)
                )
            if kind not in result:
                raise ListingError(f"the response to `{method}` has no `{kind}`")
            entries += parse_entries(kind, result[kind])
            if len(entries) > _MAX_ENTRIES:
                raise ListingError(
                    f"the server lists more than {_MAX_ENTRIES:,} {kind}"
                )
            if page == 0:
                envelope = {
                    key: value
                    for key, value in result.items()
                    if key not in (kind, "nextCursor")
                }
            cursor = result.get("nextCursor")
            # An empty string is a valid cursor: only a missing one ends the list.
            if not isinstance(cursor, str):
                return tuple(entries), envelope
            params = {"cursor": cursor}
        raise ListingError(
            f"the server's list of {kind} has more than {_MAX_PAGES:,} pages"
        )

    def _build_params(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return params with `_meta`, if the protocol version requires it.

        Each request of the stateless version contains the version and the client's
        information.
        """
        if self.protocol != _STATELESS_VERSION:
            return params
        meta = {
            f"{_META_PREFIX}protocolVersion": _STATELESS_VERSION,
            f"{_META_PREFIX}clientInfo": _CLIENT_INFO,
            f"{_META_PREFIX}clientCapabilities": {},
        }
        return {**params, "_meta": meta}

    def _describe_invalid_lines(self) -> str:
        """Return a clause on stdout lines that are not messages, followed by `; `.

        Empty without such lines.
        """
        lines = self.connection.invalid_lines
        if not lines:
            return ""
        return f"stdout has lines that are not JSON-RPC ({len(lines)}): `{lines[0]}`; "


class _ErrorResponseError(Exception):
    """JSON-RPC error response of the server, raised for a request.

    Attributes:
        code: the error code, or None if the response has none.
    """

    def __init__(self, code: int | None, message: str) -> None:
        super().__init__(message)
        self.code = code


def _get_result(response: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    result = None if response is None else response.get("result")
    return result if isinstance(result, dict) else None


def _get_error_code(response: Mapping[str, Any]) -> int | None:
    error = response.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


def _get_error_message(response: Mapping[str, Any]) -> str:
    error = response.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else "the response has no `result`"


def _filter_strings(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
