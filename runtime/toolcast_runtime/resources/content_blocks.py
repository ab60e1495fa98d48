"""MCP's content blocks for handlers that answer with more than text, and what links lead to.

A handler returns one of them, or a `ToolResponse` with several. They are held to
the types of both protocol eras when the call is answered. The content of a link is kept until it
is read or over.

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
from typing import Any
from urllib.parse import quote

from ..core.context import CURRENT_CALL, Block, ToolError
from ..core.toolset_settings import LinkLimits

_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;.*)?")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_SCRIPT = re.compile(r"(javascript|vbscript|data):", re.IGNORECASE)


def text(words: str) -> Block:
    """A text between other blocks."""
    return Block(type="text", text=words)


def image(data: bytes, mime_type: str = "image/png") -> Block:
    """An image.

    Raises:
        ValueError: the media type is none of an image.
    """
    return _media("image", data, mime_type)


def audio(data: bytes, mime_type: str = "audio/wav") -> Block:
    """A sound.

    Raises:
        ValueError: the media type is none of a sound.
    """
    return _media("audio", data, mime_type)


def file(name: str, content: str | bytes, mime_type: str | None = None) -> Block:
    """A file that is sent with the answer, an embedded resource.

    Args:
        name: what it is called; no path.
        content: what is in it.
        mime_type: by default what its name says.

    Raises:
        ValueError: the media type is none.
    """
    uri = f"attachment:///{quote(name, safe='')}"
    contents = resource_contents(uri, content, _mime_type(name, mime_type))
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
    """A link to a resource, or to content that the caller may read later.

    Content is kept by the MCP server, for the same client, as long and as much as
    `targets.mcp.links` of toolset.yaml says, under a URI that nobody can guess. Where nothing
    is kept (in a shell, in LangChain, with several processes, or without that option) the
    content is sent with the answer, as `file` does.

    Args:
        name: what it is called; no path.
        uri: what is linked to; instead of `content`.
        content: what can be read; instead of `uri`.
        title: what people are shown.
        description: what models are told.
        mime_type: by default what the name says of content.

    Raises:
        ValueError: there is no `uri` and no `content`, or both, or the URI is none, or
            runs a script, or the media type is none.
        ToolError: the content is more than the server keeps.
    """
    if (uri is None) == (content is None):
        raise ValueError("a link has a `uri` or a `content`, and not both")
    if uri is not None and (not _URI.fullmatch(uri) or _SCRIPT.match(uri)):
        raise ValueError("the `uri` of a link is none that a client may open")
    size = None
    if content is not None:
        call = CURRENT_CALL.get(None)
        if call is None or call.store_content is None:
            return file(name, content, mime_type)
        mime_type = _mime_type(name, mime_type)
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


def resource_contents(
    uri: str, content: str | bytes, mime_type: str | None
) -> dict[str, Any]:
    """What MCP sends of a resource: text as it is, bytes as base64."""
    if isinstance(content, str):
        return {"uri": uri, "mimeType": mime_type or "text/plain", "text": content}
    kind = mime_type or "application/octet-stream"
    return {"uri": uri, "mimeType": kind, "blob": base64.b64encode(content).decode()}


def _media(kind: str, data: bytes, mime_type: str) -> Block:
    if not mime_type.startswith(f"{kind}/") or not _MIME_TYPE.fullmatch(mime_type):
        raise ValueError(f"`{mime_type}` is no media type of {kind}s")
    return Block(type=kind, data=base64.b64encode(data).decode(), mimeType=mime_type)


def _mime_type(name: str, given: str | None) -> str | None:
    if given is None:
        return mimetypes.guess_type(name)[0]
    if not _MIME_TYPE.fullmatch(given):
        raise ValueError(f"`{given}` is no media type")
    return given


_MAX_LINKS = 1_000
"""Links of one client, however small their contents are."""
_MAX_NAME_CHARACTERS = 100
"""Characters of a name in a URI."""


class KeptContent:
    """What links of one client lead to.

    A URI is made here and cannot be guessed, so that nothing that a caller says leads
    anywhere but to what a handler gave for this client. Where users are known, it leads the one
    alone there who made the call.

    Args:
        toolset: the host part of the URIs.
        limits: how long and how much.
        clock: the time in seconds.
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
        self._kept: dict[str, tuple[float, int, dict[str, Any], str | None]] = {}
        self._bytes = 0

    def keep(
        self, user: str | None, name: str, content: str | bytes, mime_type: str | None
    ) -> str:
        """Keeps content for a user, or for whom nobody knows; the value is its URI.

        Raises:
            ToolError: it alone is more than is kept.
        """
        size = len(content.encode() if isinstance(content, str) else content)
        if size > self._limits.bytes:
            raise ToolError(
                f"`{name}` has {size} bytes, and {self._limits.bytes} are kept for links"
            )
        host = quote(self._toolset, safe="")
        token = secrets.token_urlsafe(24)
        uri = f"kept://{host}/{token}/{quote(name[:_MAX_NAME_CHARACTERS], safe='')}"
        contents = resource_contents(uri, content, mime_type)
        with self._lock:
            self._make_room(size)
            end = self._clock() + self._limits.seconds
            self._kept[uri] = (end, size, contents, user)
            self._bytes += size
        return uri

    def contents(self, user: str | None, uri: str) -> dict[str, Any] | None:
        """What a URI leads a user to; None when that is nothing, or over."""
        with self._lock:
            kept = self._kept.get(uri)
            if kept is None or kept[0] <= self._clock() or kept[3] != user:
                return None
        return kept[2]

    def _make_room(self, room: int) -> None:
        """Drops what is too old, and the oldest until there is room for one more."""
        now = self._clock()
        for uri, (end, size, _, _) in list(self._kept.items()):
            has_room = self._bytes + room <= self._limits.bytes
            if end > now and has_room and len(self._kept) < _MAX_LINKS:
                return
            del self._kept[uri]
            self._bytes -= size
