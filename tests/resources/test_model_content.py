"""Conversion of content blocks into LangChain blocks and into text."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.calls import model_content

BINARY_FILE = {
    "type": "file",
    "base64": "YQ==",
    "mime_type": "application/octet-stream",
}
GIF = {"mimeType": "image/gif"}


@pytest.mark.parametrize(
    ("block", "converted", "description"),
    [
        ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}, "a"),
        (
            {"type": "image", "data": "YQ==", "mimeType": "image/png"},
            {"type": "image", "base64": "YQ==", "mime_type": "image/png"},
            "(image/png, which cannot be shown here)",
        ),
        (
            {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"},
            {"type": "file", "base64": "YQ==", "mime_type": "audio/wav"},
            "(audio/wav, which cannot be shown here)",
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "x:a"},
            {"type": "text", "text": "a: x:a"},
            "a: x:a",
        ),
        (
            {"type": "resource_link", "name": "a", "title": "A", "uri": "x:a"}
            | {"description": "It is."},
            {"type": "text", "text": "A: x:a\nIt is."},
            "A: x:a\nIt is.",
        ),
        (
            {"type": "resource", "resource": {"uri": "x:a", "text": "b"}},
            {"type": "text", "text": "b"},
            "b",
        ),
        (
            {"type": "resource", "resource": {"uri": "x://h/d/a.bin", "blob": "YQ=="}},
            {**BINARY_FILE, "extras": {"filename": "a.bin"}},
            "(a.bin application/octet-stream, which cannot be shown here)",
        ),
        (
            {"type": "resource", "resource": {"uri": "x://h/", "blob": "YQ=="}},
            BINARY_FILE,
            "(application/octet-stream, which cannot be shown here)",
        ),
        (
            {"type": "resource", "resource": {**GIF, "uri": "x:/a", "blob": "YQ=="}},
            {"type": "image", "base64": "YQ==", "mime_type": "image/gif"},
            "(image/gif, which cannot be shown here)",
        ),
    ],
)
def test_mcp_content_block_is_converted_to_a_langchain_block_and_to_a_text_description(
    block: Any, converted: Any, description: str
) -> None:
    assert model_content.to_langchain_blocks([block]) == [converted]
    assert model_content.describe_block(converted) == description
