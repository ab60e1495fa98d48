"""One call from checked arguments to a ToolResponse; no exception's text gets out."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from .call_context import CURRENT_CALL, CallContext
from .handlers import BoundHandler
from .tool import Tool
from .tool_response import ToolError, ToolResponse
from .validation import Validators

__all__ = ["run_handler"]

_logger = logging.getLogger("toolcast")


async def run_handler(
    tool: Tool,
    handler: BoundHandler,
    arguments: Mapping[str, Any],
    context: CallContext,
    validators: Validators,
) -> ToolResponse:
    """Runs a handler within the tool's timeout and checks what it gives.

    Sync handlers run in a thread. A call that is given up is cancelled; a thread cannot be
    stopped, so its late result is dropped. Cancellation of the caller passes through.
    """
    task = asyncio.ensure_future(_invoke(handler, arguments, context))
    try:
        done, _ = await asyncio.wait({task}, timeout=tool.timeout)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        _logger.warning("tool %s gave no answer in %g s", tool.name, tool.timeout)
        return ToolResponse(error=f"the tool gave no answer within {tool.timeout:g} s")
    try:
        result = task.result()
    except ToolError as error:
        return ToolResponse(error=str(error) or "the tool failed")
    except asyncio.CancelledError:
        return ToolResponse(error="the call was cancelled")
    except Exception:
        return _internal(tool, "failed")
    return _checked(tool, result, validators)


async def _invoke(
    handler: BoundHandler, arguments: Mapping[str, Any], context: CallContext
) -> Any:
    CURRENT_CALL.set(context)
    if handler.is_async:
        return await handler(arguments)
    loop = asyncio.get_running_loop()
    copied = contextvars.copy_context()
    result = await loop.run_in_executor(None, copied.run, handler, arguments)
    # A plain function may still hand back a coroutine, as a wrapped async one does.
    return await result if asyncio.iscoroutine(result) else result


def _checked(tool: Tool, result: Any, validators: Validators) -> ToolResponse:
    response = result if isinstance(result, ToolResponse) else ToolResponse(result)
    if response.error is not None:
        return response
    try:
        json.dumps(response.result, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _internal(tool, "gave a result that is not JSON")
    if response.content is None or response.result is not None:
        problems = validators.problems_with_result(tool, response.result)
        if problems:
            _logger.error("tool %s: result: %s", tool.name, "; ".join(problems))
            return ToolResponse(
                error="the tool's result does not match its declared schema"
            )
    return response


def _internal(tool: Tool, what: str) -> ToolResponse:
    """Logs the exception in hand under a number that the caller can quote."""
    incident = uuid.uuid4().hex[:8]
    _logger.exception("tool %s %s (incident %s)", tool.name, what, incident)
    return ToolResponse(
        error=f"the tool {what}; the server's log has the details (incident {incident})"
    )
