"""Conversion of external servers' results to responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core.calls.untrusted_text import escape_controls, redact_value
from ..core.context import ToolResponse
from ..core.validation.limits import measure_value

MAX_ERROR_CHARACTERS = 4_000
"""Maximum length of an error message for the caller."""


def build_response(
    call_result: Mapping[str, Any], secrets: tuple[str, ...]
) -> ToolResponse:
    """Convert a `CallToolResult`, in its JSON form, to a response.

    The response's result is the structured content if there is any, else the text if there is
    only text, else the content blocks. An error has the structured content as its result.

    Args:
        call_result: the result, as validated by the SDK.
        secrets: text that is redacted if the server sends it back.
    """
    problem = measure_value(call_result).problem
    if problem is not None:
        return ToolResponse(error=f"the tool's result has {problem}")
    blocks = [
        redact_value(dict(block), secrets) for block in call_result.get("content") or ()
    ]
    if call_result.get("isError"):
        # Escape control characters only in errors, because programs show errors to users. The
        # text of a successful result is data and stays unchanged.
        for block in blocks:
            if block["type"] == "text":
                block["text"] = escape_controls(block["text"])
    text = "\n".join(
        block.get("text", "") for block in blocks if block["type"] == "text"
    )
    has_only_text = all(block["type"] == "text" for block in blocks)
    value = redact_value(call_result.get("structuredContent"), secrets)
    if call_result.get("isError"):
        if not text and value is not None:
            text = escape_controls(json.dumps(value, ensure_ascii=False))
        error = text[:MAX_ERROR_CHARACTERS] or "the tool failed"
        if value is not None and not blocks:
            blocks = [{"type": "text", "text": error}]
        is_text_enough = has_only_text and value is None
        return ToolResponse(value, error, None if is_text_enough else blocks)
    result = value
    if "structuredContent" not in call_result:
        result = text if has_only_text else blocks
    return ToolResponse(result=result, content=blocks if blocks else None)
