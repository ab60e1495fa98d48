"""MCP's content blocks for handlers that answer with more than text.

A handler returns one of them, or a `ToolResponse` with several. They are held to
the types of both protocol eras when the call is answered.

Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

from __future__ import annotations

import base64
import mimetypes
import re
from typing import Any
from urllib.parse import quote

from ...core.context import CURRENT_CALL, Block

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
        if call is None or call.keep is None:
            return file(name, content, mime_type)
        mime_type = _mime_type(name, mime_type)
        size = len(content.encode() if isinstance(content, str) else content)
        uri = call.keep(name, content, mime_type)
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
