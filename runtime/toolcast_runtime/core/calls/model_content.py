"""MCP's content blocks as models are shown them: text, image or file.

The form is LangChain's own, which its models know how to send on.

Source: https://docs.langchain.com/oss/python/langchain/messages#standard-content-blocks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit


def shown_blocks(content: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The blocks of a tool's answer, image, file or text, in their order.

    Audio is a file with its media type: LangChain and LangGraph know no other block for it in
    the message of a tool, and make a text of all blocks, images too, where one is unknown.

    A link is text: who serves the model cannot open what the tool's own machine names, and
    providers refuse a whole request for an address that they do not take.
    """
    return [_block(block) for block in content]


def unshown(block: Mapping[str, Any]) -> str:
    """What stands for one of these where it cannot be shown: its text, or that it is there."""
    if block["type"] == "text":
        text: str = block["text"]
        return text
    name = block.get("extras", {}).get("filename", "")
    what = " ".join(filter(None, (name, block["mime_type"])))
    return f"({what}, which cannot be shown here)"


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block["type"] in ("image", "audio"):
        return _data(block["data"], block["mimeType"], block["type"])
    if block["type"] == "resource_link":
        parts = [block.get("title") or block["name"], block["uri"]]
        return _text("\n".join([": ".join(parts), *_described(block)]))
    if block["type"] == "resource":
        return _resource(block["resource"])
    return _text(block["text"])


def _described(block: Mapping[str, Any]) -> list[str]:
    return [block["description"]] if block.get("description") else []


def _resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    if "blob" not in resource:
        return _text(resource["text"])
    mime_type = resource.get("mimeType", "application/octet-stream")
    block = _data(resource["blob"], mime_type, mime_type.partition("/")[0])
    # Some providers take no file without a name.
    name = urlsplit(resource["uri"]).path.rpartition("/")[2]
    if name and block["type"] == "file":
        block["extras"] = {"filename": name}
    return block


def _data(data: str, mime_type: str, kind: str) -> dict[str, Any]:
    shown = "image" if kind == "image" else "file"
    return {"type": shown, "base64": data, "mime_type": mime_type}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
