"""The CallToolResult of each answer that a tool gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import mcp_types as types

    from ..calls.tool_response import ToolResponse

__all__ = ["call_result", "failure", "sendable"]


def call_result(response: ToolResponse, *, structured: bool) -> types.CallToolResult:
    """The CallToolResult of a response.

    Raises:
        TypeError: a content block is no mapping.
        ValueError: a content block is none of MCP's, or holds what JSON cannot carry.
    """
    import mcp_types as types

    if response.error is not None:
        return failure(response.error)
    value = response.result if structured else None
    if response.content is None:
        # Found sendable by now. A model here would be built and taken apart again: the SDK
        # checks and dumps every answer by the model of the revision in use.
        text = [{"type": "text", "text": response.text()}]
        plain: dict[str, Any] = {"content": text, "isError": False}
        if value is not None:
            plain["structuredContent"] = value
        return cast("types.CallToolResult", {"resultType": "complete", **plain})
    content = {"content": [dict(block) for block in response.content]}
    json.dumps(content, allow_nan=False, ensure_ascii=False).encode("utf-8")
    return types.CallToolResult.model_validate({**content, "structuredContent": value})


def failure(text: str) -> types.CallToolResult:
    """The CallToolResult of a failure that the model is told in these words."""
    import mcp_types as types

    block = types.TextContent(type="text", text=sendable(text))
    return types.CallToolResult(content=[block], is_error=True)


def sendable(text: str) -> str:
    """The text with lone surrogates spelled out: the SDK never answers with one."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
