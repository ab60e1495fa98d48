"""The result of a call, for the typed `call` of a generated tool."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from ..context import ToolError, ToolResponse


async def tool_result(response: Awaitable[ToolResponse]) -> Any:
    """What a tool gives; content blocks when it answers with these alone.

    Raises:
        ToolError: the call failed; the text is the one for the model.
    """
    answer = await response
    if answer.error is not None:
        raise ToolError(answer.error)
    if answer.result is None and answer.content is not None:
        return answer.content
    return answer.result
