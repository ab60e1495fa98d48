"""Handlers of the conformance suite's tools, with exactly the results that it expects."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolcast_runtime import ToolError, ToolResponse, current_call

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_image_content() -> ToolResponse:
    return ToolResponse(content=[IMAGE])


def test_audio_content() -> ToolResponse:
    block = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}
    return ToolResponse(content=[block])


def test_embedded_resource() -> ToolResponse:
    text = "This is an embedded resource content."
    return ToolResponse(content=[_resource("embedded", "text/plain", text)])


def test_multiple_content_types() -> ToolResponse:
    text = {"type": "text", "text": "Multiple content types test:"}
    data = '{"test":"data","value":123}'
    resource = _resource("mixed-content", "application/json", data)
    return ToolResponse(content=[text, IMAGE, resource])


def _resource(name: str, kind: str, text: str) -> Mapping[str, Any]:
    resource = {"uri": f"test://{name}-resource", "mimeType": kind, "text": text}
    return {"type": "resource", "resource": resource}


def test_error_handling() -> None:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress() -> str:
    for step in (0, 50, 100):
        await current_call().progress(step, 100)
        await asyncio.sleep(0.05)
    return "done"


async def test_tool_with_logging() -> str:
    for text in ("started", "processing data", "completed"):
        current_call().log("info", f"Tool {text}")
        await asyncio.sleep(0.05)
    return "done"


def test_header(region: str) -> str:
    return region


def json_schema_2020_12_tool(arguments: Mapping[str, Any], /) -> str:
    return f"{len(arguments)} arguments"
