"""The CallToolResult of each answer that a tool gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types as types

if TYPE_CHECKING:
    from ...core.context import ToolResponse


def call_result(response: ToolResponse, *, structured: bool) -> types.CallToolResult:
    """The CallToolResult of a response.

    Args:
        response: what the tool answered.
        structured: its result is sent as a value, too, besides its text.
    """
    if response.error is not None and response.content is None:
        return failure(response.error)
    if response.content is None:
        content = [{"type": "text", "text": response.text()}]
    else:
        content = [dict(block) for block in response.content]
    value = response.result if structured else None
    result = {"content": content, "structuredContent": value}
    if not response.success:
        result["isError"] = True
    return types.CallToolResult.model_validate(result)


def failure(text: str) -> types.CallToolResult:
    """The CallToolResult of a failure that the model is told in these words."""
    block = types.TextContent(type="text", text=sendable(text))
    return types.CallToolResult(content=[block], is_error=True)


def sendable(text: str) -> str:
    """The text with lone surrogates spelled out: the SDK never answers with one."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
