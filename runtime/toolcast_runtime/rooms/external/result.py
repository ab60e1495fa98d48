"""What an external server answers to a call, as a ToolResponse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...core.calls.untrusted_text import without_in
from ...core.context import ToolResponse
from ...core.validation.json_bounds import measure

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
    is_text = all(block["type"] == "text" for block in blocks)
    value = without_in(answer.get("structuredContent"), secrets)
    if answer.get("isError"):
        if not text and value is not None:
            text = json.dumps(value, ensure_ascii=False)
        error = text[:_LONGEST_ERROR] or "the tool failed"
        return ToolResponse(error=error, content=None if is_text else blocks)
    result = value
    if value is None:
        result = text if is_text else blocks
    return ToolResponse(result=result, content=blocks if blocks else None)
