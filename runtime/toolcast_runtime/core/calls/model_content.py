"""Conversion of MCP content blocks to LangChain's content blocks: text, image or file.

LangChain's models convert these blocks to the format of their provider.

Source: https://docs.langchain.com/oss/python/langchain/messages#standard-content-blocks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit


def to_langchain_blocks(content: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Convert the MCP content blocks of a result to LangChain blocks, in the same order.

    Audio becomes a file with its media type: LangChain and LangGraph have no audio block for
    tool messages, and convert all blocks of a message to text if one of them is unknown.

    A resource link becomes text: a model's provider cannot open a URI on the tool's machine,
    and rejects the whole request because of an address that it does not accept.
    """
    return [_convert_block(block) for block in content]


def describe_block(block: Mapping[str, Any]) -> str:
    """Return the text of a LangChain text block; for others a note with name and type."""
    if block["type"] == "text":
        text: str = block["text"]
        return text
    name = block.get("extras", {}).get("filename", "")
    label = " ".join(filter(None, (name, block["mime_type"])))
    return f"({label}, which cannot be shown here)"


def _convert_block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block["type"] in ("image", "audio"):
        return _data_block(block["data"], block["mimeType"], block["type"])
    if block["type"] == "resource_link":
        parts = [block.get("title") or block["name"], block["uri"]]
        lines = [": ".join(parts)]
        if block.get("description"):
            lines.append(block["description"])
        return _text_block("\n".join(lines))
    if block["type"] == "resource":
        return _convert_resource(block["resource"])
    return _text_block(block["text"])


def _convert_resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    if "blob" not in resource:
        return _text_block(resource["text"])
    mime_type = resource.get("mimeType", "application/octet-stream")
    block = _data_block(resource["blob"], mime_type, mime_type.partition("/")[0])
    # Pass the file name from the URI on, because some providers reject a file without a name.
    name = urlsplit(resource["uri"]).path.rpartition("/")[2]
    if name and block["type"] == "file":
        block["extras"] = {"filename": name}
    return block


def _data_block(data: str, mime_type: str, kind: str) -> dict[str, Any]:
    block_type = "image" if kind == "image" else "file"
    return {"type": block_type, "base64": data, "mime_type": mime_type}


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
