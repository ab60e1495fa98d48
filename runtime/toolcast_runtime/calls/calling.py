"""One call from checked arguments to a ToolResponse; no exception's text gets out."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..tools.tool import Tool
from .call_context import CURRENT_CALL, CallContext, CallOutcome
from .handlers import HandlerAdapter
from .threads import Outcome, in_thread
from .tool_response import ToolError, ToolResponse

__all__ = ["Invoke", "awaited", "invoke_handler", "run_call"]

_logger = logging.getLogger("toolcast")

_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode

Invoke = Callable[[Mapping[str, Any], CallContext], Awaitable[Outcome]]
"""Does the work of a call: what it gave, and what was raised."""


async def run_call(
    tool: Tool,
    invoke: Invoke,
    arguments: Mapping[str, Any],
    context: CallContext,
    problems_with_result: Callable[[Tool, Any], list[str]],
) -> tuple[ToolResponse, CallOutcome]:
    """Runs a call within the tool's timeout and checks what it gives.

    A call that is given up is cancelled; a thread cannot be stopped, so its late result is
    dropped. Cancellation of the caller passes through.
    """
    task = asyncio.create_task(_in_context(invoke, arguments, context))
    try:
        done, _ = await asyncio.wait({task}, timeout=tool.timeout)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        _logger.warning("tool %s gave no answer in %g s", tool.name, tool.timeout)
        late = f"the tool gave no answer within {tool.timeout:g} s"
        return ToolResponse(error=late), "timeout"
    if task.cancelled():
        return ToolResponse(error="the call was cancelled"), "cancelled"
    result, error = task.result()
    if isinstance(error, asyncio.CancelledError):
        return ToolResponse(error="the call was cancelled"), "cancelled"
    if isinstance(error, ToolError):
        response = ToolResponse(error=str(error) or "the tool failed")
    elif error is not None:
        response = _internal(tool, "failed", error)
    else:
        response = _checked(tool, result, problems_with_result)
    return response, "ok" if response.success else "error"


async def _in_context(
    invoke: Invoke, arguments: Mapping[str, Any], context: CallContext
) -> Outcome:
    CURRENT_CALL.set(context)
    return await invoke(arguments, context)


def invoke_handler(handler: HandlerAdapter) -> Invoke:
    """A handler's work; a sync one runs in a thread of its own."""

    async def invoke(arguments: Mapping[str, Any], context: CallContext) -> Outcome:
        if handler.is_async:
            return await awaited(lambda: handler(arguments))
        result, error = await in_thread(lambda: handler(arguments))
        # A plain function may still hand back a coroutine, as a wrapped async one does.
        if asyncio.iscoroutine(result):
            return await awaited(lambda: result)
        return result, error

    return invoke


async def awaited(start: Callable[[], Awaitable[Any]]) -> Outcome:
    """What an awaitable gave or raised, `sys.exit` and its like included."""
    try:
        return await start(), None
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise
        return None, error


def _checked(
    tool: Tool, result: Any, problems_with_result: Callable[[Tool, Any], list[str]]
) -> ToolResponse:
    response = result if isinstance(result, ToolResponse) else ToolResponse(result)
    if response.error is not None:
        return response
    value = response.result
    try:
        text = value if type(value) is str else _encode(value)
        if not text.isascii():
            # A lone surrogate, as a file's name may have one, cannot be sent.
            text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        return _internal(tool, "gave a result that is not JSON", error)
    problems = problems_with_result(tool, value)
    if problems:
        _logger.error("tool %s: result: %s", tool.name, "; ".join(problems))
        return ToolResponse(
            error="the tool's result does not match its declared schema"
        )
    return response


def _internal(tool: Tool, what: str, error: BaseException) -> ToolResponse:
    """Logs the exception under a number that the caller can quote."""
    incident = uuid.uuid4().hex[:8]
    _logger.error("tool %s %s (incident %s)", tool.name, what, incident, exc_info=error)
    return ToolResponse(
        error=f"the tool {what}; the log has the details (incident {incident})"
    )
