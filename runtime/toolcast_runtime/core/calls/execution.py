"""The last stage of a call: run the handler, and validate its result.

The message of a `ToolError` is returned to the caller. The message of every other exception is
only logged.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import logging
import sys
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import Context, copy_context
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from ..context import (
    CURRENT_CALL,
    TURNS,
    ArgumentConversionError,
    Block,
    CallContext,
    CallResult,
    DeclinedError,
    ToolError,
    ToolResponse,
)
from ..definitions.tool import Proxies, Tool, ToolProvider
from ..validation.limits import MAX_DIGITS
from ..validation.protocol import check_content
from .handlers import HandlerAdapter
from .worker_threads import (
    MAX_ABANDONED_CALLS,
    Outcome,
    abandon_task,
    has_max_abandoned_calls,
    run_in_loop,
    run_in_thread,
)

if TYPE_CHECKING:
    from ...consent.questions import Questions

_logger = logging.getLogger("toolcast")

Runner = Callable[[Mapping[str, Any], CallContext], Coroutine[Any, Any, Outcome]]
"""Runs a prepared call with its arguments; returns its value and the exception it raised."""


async def run_call(
    tool: Tool,
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
    check_result: Callable[[Tool, Any], list[str]],
) -> CallResult:
    """Run a prepared call within the tool's timeout; return its response and outcome.

    Failures are responses with an error. `check_result` returns the problems of a result.

    A call that exceeds the timeout is cancelled, and its context is marked as cancelled. A
    thread cannot be stopped, so its late result is dropped. Cancellation of the caller is
    passed on.
    """
    context.start_timeout(tool.timeout)
    task_context = copy_context()
    task_context.run(CURRENT_CALL.set, context)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    task = _start_task(_run_and_signal(run, arguments, context, ended), task_context)
    if not task.done():
        # `_run_and_signal` does not run if the task is cancelled before its first step, so a
        # callback must signal the end.
        task.add_done_callback(lambda _: _signal(ended))
        timer = loop.call_later(tool.timeout, _signal, ended)
        try:
            await ended
            if not task.done() and context.questions is not None:
                await _wait_while_asking(task, tool.timeout, context.questions)
        except asyncio.CancelledError:
            context.cancel()
            abandon_task(tool.name, task)
            raise
        finally:
            timer.cancel()
    if not task.done():
        context.cancel()
        abandon_task(tool.name, task)
        _logger.warning("tool %s did not answer within %g s", tool.name, tool.timeout)
        late = f"the {tool.kind} did not answer within {tool.timeout:g} s"
        return ToolResponse(error=late), "timeout"
    if task.cancelled():
        return ToolResponse(error="the call was cancelled"), "cancelled"
    result, error = task.result()
    questions = context.questions
    if questions is not None and questions.is_pending:
        # The client repeats the call with the user's answer; this run's result is dropped.
        return ToolResponse(error="the user has to answer a question first"), "asked"
    if questions is not None and questions.unawaited_count:
        _logger.error("the handler of %s did not await its question", tool.name)
        unawaited = (
            "the tool did not wait for the user's answer; the log has the details"
        )
        return ToolResponse(error=unawaited), "error"
    if isinstance(error, asyncio.CancelledError):
        return ToolResponse(error="the call was cancelled"), "cancelled"
    if isinstance(error, ArgumentConversionError):
        message = format_problems(tool, error.problems)
        return ToolResponse(error=message), "invalid"
    if isinstance(error, ToolError):
        response = ToolResponse(error=_get_error_text(tool, error))
        if isinstance(error, DeclinedError):
            return response, "declined"
    elif error is not None:
        response = _log_incident(tool, "failed", error)
    else:
        if isinstance(result, Block):
            result = ToolResponse(content=[result])
        elif not isinstance(result, ToolResponse):
            result = ToolResponse(result)
        turns = TURNS.get()
        if turns is not None:
            # With fair scheduling, large results wait until it is this call's turn.
            await turns.wait_for_answer(result.result, result.content)
        response = _validate_response(tool, result, check_result)
    return response, "ok" if response.error is None else "error"


def _start_task(
    work: Coroutine[Any, Any, Outcome], context: Context
) -> asyncio.Task[Outcome]:
    """Start a task in a context.

    Since Python 3.12 the task is started eagerly: if it never waits, it is done on return.
    """
    if sys.version_info >= (3, 12):
        loop = asyncio.get_running_loop()
        return asyncio.Task(work, loop=loop, context=context, eager_start=True)
    return asyncio.create_task(work, context=context)


async def _run_and_signal(
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
    ended: asyncio.Future[None],
) -> Outcome:
    """Return the outcome of a run, and resolve `ended` before the task itself is done."""
    outcome = await run(arguments, context)
    _signal(ended)
    return outcome


def _signal(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


async def _wait_while_asking(
    task: asyncio.Task[Outcome], timeout: float, questions: Questions
) -> None:
    """Wait for a task until its timeout, which does not count time spent on questions.

    Call this when the timeout has passed once.
    """
    started = asyncio.get_running_loop().time() - timeout
    while not task.done():
        used = asyncio.get_running_loop().time() - started - questions.waiting_seconds
        if used >= timeout and not questions.is_waiting:
            break
        await asyncio.wait({task}, timeout=max(timeout - used, 0.05))


async def run_function(
    handler: HandlerAdapter,
    dependencies: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Run a handler: an async function in the event loop, a plain one in a worker thread.

    The outcome is a ToolError if too many abandoned calls of the tool still run.
    """
    name = context.tool
    if has_max_abandoned_calls(name):
        return None, ToolError(
            f"{MAX_ABANDONED_CALLS} earlier calls of `{name}` were given up and still run; try"
            " again later"
        )
    if handler.is_async:
        return await await_outcome(lambda: handler(arguments, dependencies))
    result, error = await run_in_thread(partial(handler, arguments, dependencies), name)
    # A plain function that wraps an async function returns a coroutine, which must be
    # awaited in the event loop.
    if inspect.isawaitable(result):
        return await await_outcome(lambda: result)
    return result, error


async def run_provider(
    provider: ToolProvider,
    tool: Tool,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Call a tool of a tool provider, such as an external server; return the outcome."""
    return await await_outcome(lambda: provider.call_tool(tool, arguments, context))


async def run_proxied(
    proxies: Proxies, tool: Tool, arguments: Mapping[str, Any], context: CallContext
) -> Outcome:
    """Call a proxied tool on its external server; return the outcome."""
    return await await_outcome(lambda: proxies.call_proxied(tool, arguments, context))


async def run_call_in_loop(
    loop: asyncio.AbstractEventLoop,
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Run a call in `loop`, which may differ from the current event loop."""
    return await run_in_loop(loop, run(arguments, context))


def accept_any_result(tool: Tool, result: Any) -> list[str]:
    """Return an empty list of problems for any result.

    Used instead of validation, for example because a provider validates its own results.
    """
    return []


async def await_outcome(start: Callable[[], Awaitable[Any]]) -> Outcome:
    """Await a call; return its value and its exception, even a `SystemExit`.

    Only the cancellation of the current task is raised.
    """
    try:
        return await start(), None
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise
        return None, error


def format_problems(tool: Tool, problems: list[str]) -> str:
    """Return the error message for invalid arguments, one problem on each line."""
    lines = "".join(f"\n- {problem}" for problem in problems)
    return f"the arguments of `{tool.name}` are not valid:{lines}"


def _validate_response(
    tool: Tool,
    response: ToolResponse,
    check_result: Callable[[Tool, Any], list[str]],
) -> ToolResponse:
    """Return a handler's response as plain JSON, or an error response if it is invalid."""
    if response.error is not None and response.content is None:
        return ToolResponse(error=_get_error_text(tool, response.error))
    try:
        value = to_plain_json(response.result, has_python_values=tool.has_python_values)
    except NotJsonError as error:
        return _reject_response(tool, "returned a result that is not JSON", str(error))
    problems = [] if value is None and response.error else check_result(tool, value)
    if problems and response.error is not None:
        # Drop an invalid structured result: some clients validate it even in an error.
        value = None
    elif problems:
        _logger.error("tool %s: result: %s", tool.name, "; ".join(problems))
        return ToolResponse(
            error="the tool's result does not match its declared schema"
        )
    if response.content is None:
        return ToolResponse(value, texts=response.texts)
    try:
        content = to_plain_json(_convert_blocks(response.content))
    except NotJsonError as error:
        return _reject_response(tool, "returned content that is not JSON", str(error))
    problems = check_content(content)
    if problems:
        return _reject_response(tool, "returned invalid MCP content", *problems)
    if response.error is not None:
        return ToolResponse(value, _get_error_text(tool, response.error), content)
    return ToolResponse(value, content=content)


def _get_error_text(tool: Tool, error: Any) -> str:
    """Return `str(error)`; a fixed sentence if that is blank."""
    text = str(error)
    return text if text.strip() else f"the {tool.kind} failed"


def _convert_blocks(content: Any) -> Any:
    """Convert a handler's content blocks from any sequence of mappings to a list of dicts."""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return [dict(b) if isinstance(b, Mapping) else b for b in content]
    return content


def _reject_response(tool: Tool, problem: str, *details: str) -> ToolResponse:
    """Log and return the error for an invalid response.

    The caller passes details that quote no content of the response.
    """
    text = f"{problem}: {'; '.join(details)}"
    _logger.error("tool %s %s", tool.name, text)
    return ToolResponse(error=f"the {tool.kind} {text}")


def _log_incident(tool: Tool, problem: str, error: BaseException) -> ToolResponse:
    """Log an exception with a random ID; return an error that contains only the ID."""
    incident = uuid.uuid4().hex[:8]
    _logger.error(
        "tool %s %s (incident %s)", tool.name, problem, incident, exc_info=error
    )
    return ToolResponse(
        error=f"the {tool.kind} {problem}; the log has the details (incident {incident})"
    )


class NotJsonError(ValueError):
    """A value cannot be converted to JSON. The message has no content of the value."""


def to_plain_json(value: Any, *, has_python_values: bool = False) -> Any:
    """Return a value as it would be after encoding to JSON and decoding again.

    Tuples become lists. Instances of subclasses of `str`, `int`, `float`, `dict` and `list`,
    such as named tuples and members of some enumerations, become instances of the base class.
    Keys that are numbers, booleans or None become strings, as in the module `json`. No other
    type is converted: the handler has to convert sets, dates, bytes and objects itself.

    Args:
        value: any value.
        has_python_values: whether dates, times, durations, UUIDs and members of enumerations
            are converted to strings of their formats, and bytes to base64.

    Raises:
        NotJsonError: the value has a part that JSON cannot represent.
    """
    if type(value) is str:
        return _reject_surrogates(value, value)
    try:
        text = _encode_python(value) if has_python_values else _encode(value)
        return _reject_surrogates(text, _decode(text))
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except TypeError:
        raise NotJsonError("it has a key that is not a string") from None
    except ValueError as error:
        raise NotJsonError(_describe_encoding_error(error)) from None


def _reject_surrogates(text: str, value: Any) -> Any:
    """Return a value whose JSON text can be encoded as UTF-8; otherwise raise NotJsonError."""
    if not text.isascii():
        # A lone surrogate can occur, for example, in a file name: Python represents bytes
        # that it cannot decode this way.
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJsonError("it has half of a surrogate pair") from None
    return value


def _describe_encoding_error(error: ValueError) -> str:
    text = str(error)
    if "Circular" in text:
        return "it contains itself"
    if "digits" in text:
        return "it has a number with too many digits"
    return "it has a number that JSON does not have, such as NaN"


def _reject_object(value: Any) -> Any:
    raise NotJsonError(f"it contains a Python {type(value).__qualname__}")


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotJsonError("it has two keys that are equal as strings")
    return value


def _encode_python_object(value: Any) -> Any:
    try:
        return format_python_value(value)
    except TypeError:
        return _reject_object(value)
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def format_python_value(value: Any) -> Any:
    """Return a Python value as JSON, in its JSON Schema format: a date as "2026-01-31".

    A member of an enumeration becomes its value.

    Raises:
        TypeError: the value's type has no format.
        ValueError: the format cannot represent the value. The message states the reason.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, time)):
        return _format_time(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _format_duration(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) >= MAX_DIGITS:
            raise ValueError(f"it contains a Python Decimal beyond {MAX_DIGITS} digits")
        return format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    raise TypeError


def _format_time(value: datetime | time) -> str:
    """Format a time as RFC 3339, whose time zone offsets are whole minutes."""
    subject = f"it contains a Python {type(value).__name__}"
    offset = value.utcoffset()
    if offset is None:
        raise ValueError(f"{subject} without a time zone")
    if offset % timedelta(minutes=1):
        raise ValueError(f"{subject} whose time zone offset has seconds")
    return value.isoformat().replace("+00:00", "Z")


def _format_duration(value: timedelta) -> str:
    """Format a duration as RFC 3339, appendix A: whole seconds, not negative."""
    if value < timedelta() or value.microseconds:
        raise ValueError(
            "it contains a Python timedelta that is negative or has fractions of a second"
        )
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    days = f"{value.days}D" if value.days else ""
    text = f"{hours}H" if hours else ""
    # RFC 3339's grammar of durations requires minutes between hours and seconds: PT1H0M5S.
    if minutes or (hours and seconds):
        text += f"{minutes}M"
    text += f"{seconds}S" if seconds else ""
    return f"P{days}T{text}" if text else f"P{days or '0D'}"


_encode_python = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, default=_encode_python_object
).encode
_encode = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, default=_reject_object
).encode
_decode = json.JSONDecoder(object_pairs_hook=_reject_duplicate_keys).decode
