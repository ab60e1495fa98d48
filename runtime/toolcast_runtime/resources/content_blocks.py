"""MCP content blocks for the results of handlers, and the store for content behind links.

A handler returns a block, or a `ToolResponse` with several. The runtime validates them against the
types of all supported protocol versions when it answers the call. Content behind a link is stored
until it expires or newer content replaces it.

Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

from __future__ import annotations

import base64
import mimetypes
import re
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from ..core.context import CURRENT_CALL, Block, ToolError
from ..core.toolset_settings import LinkLimits

_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;.*)?")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
# URI schemes whose link would run a script in a client that opens it.
_SCRIPT = re.compile(r"(javascript|vbscript|data):", re.IGNORECASE)


def text(text: str) -> Block:
    """Return a text content block; handlers use it to combine text with other blocks."""
    return Block(type="text", text=text)


def image(data: bytes, mime_type: str = "image/png") -> Block:
    """Return an image content block with base64 data.

    Raises:
        ValueError: the media type is not an image type.
    """
    return _media_block("image", data, mime_type)


def audio(data: bytes, mime_type: str = "audio/wav") -> Block:
    """Return an audio content block with base64 data.

    Raises:
        ValueError: the media type is not an audio type.
    """
    return _media_block("audio", data, mime_type)


def file(name: str, content: str | bytes, mime_type: str | None = None) -> Block:
    """Return an embedded resource, which sends a file as part of the result.

    Args:
        name: the file's name, without a path.
        content: the file's content.
        mime_type: the media type; by default guessed from the name.

    Raises:
        ValueError: the media type is invalid.
    """
    uri = f"attachment:///{quote(name, safe='')}"
    contents = build_resource_contents(
        uri, content, _resolve_mime_type(name, mime_type)
    )
    return Block(type="resource", resource=contents)


def link(
    name: str,
    uri: str | None = None,
    *,
    content: str | bytes | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
) -> Block:
    """Return a link block: to a resource, or to content that the client can read later.

    The MCP server stores content for the same client under a random URI, within the limits of
    `targets.mcp.links` in toolset.yaml. Without a store (in a shell, in LangChain, with several
    processes, or without that option) the content is sent in the result, like `file`.

    Args:
        name: the resource's name, without a path.
        uri: the URI of the resource; instead of `content`.
        content: the content to store; instead of `uri`.
        title: the title for users.
        description: the description for models.
        mime_type: the media type; for content, by default guessed from the name.

    Raises:
        ValueError: not exactly one of `uri` and `content` is set, the URI is invalid or would
            run a script, or the media type is invalid.
        ToolError: the content exceeds the store's limit.
    """
    if (uri is None) == (content is None):
        raise ValueError("a link needs either `uri` or `content`")
    if uri is not None and (not _URI.fullmatch(uri) or _SCRIPT.match(uri)):
        raise ValueError(
            f"the `uri` of a link is not a URI that a client may open: {uri!r}"
        )
    size = None
    if content is not None:
        call = CURRENT_CALL.get(None)
        if call is None or call.store_content is None:
            return file(name, content, mime_type)
        mime_type = _resolve_mime_type(name, mime_type)
        size = len(content.encode() if isinstance(content, str) else content)
        uri = call.store_content(name, content, mime_type)
    block = {
        "type": "resource_link",
        "uri": uri,
        "name": name,
        "title": title,
        "description": description,
        "mimeType": mime_type,
        "size": size,
    }
    return Block({key: value for key, value in block.items() if value is not None})


def build_resource_contents(
    uri: str, content: str | bytes, mime_type: str | None
) -> dict[str, Any]:
    """Return MCP resource contents: str as `text`, bytes as base64 `blob`.

    The default media type is `text/plain` for str and `application/octet-stream` for bytes.
    """
    if isinstance(content, str):
        return {"uri": uri, "mimeType": mime_type or "text/plain", "text": content}
    kind = mime_type or "application/octet-stream"
    return {"uri": uri, "mimeType": kind, "blob": base64.b64encode(content).decode()}


def _media_block(kind: str, data: bytes, mime_type: str) -> Block:
    if not mime_type.startswith(f"{kind}/") or not _MIME_TYPE.fullmatch(mime_type):
        raise ValueError(f"`{mime_type}` is not a media type of {kind}s")
    return Block(type=kind, data=base64.b64encode(data).decode(), mimeType=mime_type)


def _resolve_mime_type(name: str, mime_type: str | None) -> str | None:
    if mime_type is None:
        return mimetypes.guess_type(name)[0]
    if not _MIME_TYPE.fullmatch(mime_type):
        raise ValueError(f"`{mime_type}` is not a media type")
    return mime_type


_MAX_LINKS = 1_000
"""Maximum number of stored links of one client; their total bytes are limited separately."""
_MAX_NAME_CHARACTERS = 100
"""Maximum number of characters of the name in a link's URI."""


class _StoredContent(NamedTuple):
    expires_at: float
    size: int
    contents: dict[str, Any]
    user: str | None


class ContentStore:
    """Store for the content behind the links of one client. It is thread-safe.

    The URIs are random, so callers can read only content that a handler stored for this client.
    If the user of the call is known, only this user can read the content.

    Args:
        toolset: the host part of the URIs.
        limits: how long content is stored, and how many bytes in total.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        toolset: str,
        limits: LinkLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._toolset = toolset
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        # Contents by URI. The dict keeps the order of insertion, so that `_free_space` removes
        # the oldest first.
        self._stored: dict[str, _StoredContent] = {}
        self._bytes = 0

    def store(
        self, user: str | None, name: str, content: str | bytes, mime_type: str | None
    ) -> str:
        """Store content for a user and return its URI; for anonymous callers if None.

        Raises:
            ToolError: the content is larger than the limit for all links.
        """
        size = len(content.encode() if isinstance(content, str) else content)
        if size > self._limits.bytes:
            raise ToolError(
                f"`{name}` has {size} bytes; links may have at most {self._limits.bytes}"
            )
        host = quote(self._toolset, safe="")
        token = secrets.token_urlsafe(24)
        uri = f"kept://{host}/{token}/{quote(name[:_MAX_NAME_CHARACTERS], safe='')}"
        contents = build_resource_contents(uri, content, mime_type)
        with self._lock:
            self._free_space(size)
            expires_at = self._clock() + self._limits.seconds
            self._stored[uri] = _StoredContent(expires_at, size, contents, user)
            self._bytes += size
        return uri

    def find_contents(self, user: str | None, uri: str) -> dict[str, Any] | None:
        """Return the contents at a URI; None if unknown, expired, or of another user.

        The user must equal the one at storing: a known user cannot read anonymous content.
        """
        with self._lock:
            stored = self._stored.get(uri)
            if stored is None or stored.expires_at <= self._clock():
                return None
            return stored.contents if stored.user == user else None

    def _free_space(self, size: int) -> None:
        """Remove the oldest content until `size` more bytes and one more link fit.

        Expired content is removed in any case.
        """
        now = self._clock()
        for uri, stored in list(self._stored.items()):
            fits = self._bytes + size <= self._limits.bytes
            if stored.expires_at > now and fits and len(self._stored) < _MAX_LINKS:
                return
            del self._stored[uri]
            self._bytes -= stored.size
