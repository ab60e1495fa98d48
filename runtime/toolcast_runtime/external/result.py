"""What an external server answers to a call, as a ToolResponse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..calls.tool_response import ToolResponse
from ..calls.untrusted_text import without_in
from ..validation.json_bounds import measure

__all__ = ["response_of"]

_LONGEST_ERROR = 4_000


def response_of(answer: Mapping[str, Any], secrets: tuple[str, ...]) -> ToolResponse:
    """The response of a CallToolResult in its form on the wire.

    The result is the structured content where there is one, the text where there is only
    text, and otherwise the content blocks.

    Args:
        answer: the result, checked to be one by the SDK.
        secrets: texts that are taken out, should the server send them back.
    """
    problem = measure(answer).problem
    if problem is not None:
        return ToolResponse(error=f"the tool's answer has {problem}")
    blocks = [without_in(dict(block), secrets) for block in answer.get("content") or ()]
    text = "\n".join(
        block.get("text", "") for block in blocks if block["type"] == "text"
    )
    if answer.get("isError"):
        return ToolResponse(error=text[:_LONGEST_ERROR] or "the tool failed")
    is_text = all(block["type"] == "text" for block in blocks)
    if answer.get("structuredContent") is not None:
        result = without_in(answer["structuredContent"], secrets)
    else:
        result = text if is_text else blocks
    return ToolResponse(result=result, content=blocks if blocks else None)
