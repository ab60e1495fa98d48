"""The last stage of a call: run it, and validate its result.

The text of an exception other than `ToolError` stays in the log.
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
from ..validation.protocol import problems_with_content
from .handlers import HandlerAdapter
from .worker_threads import (
    MAX_ABANDONED_CALLS,
    Outcome,
    give_up,
    in_loop,
    in_thread,
    is_stuck,
)

if TYPE_CHECKING:
    from ...consent.questions import Questions

_logger = logging.getLogger("toolcast")

Runner = Callable[[Mapping[str, Any], CallContext], Coroutine[Any, Any, Outcome]]
"""Runs a prepared call with its arguments; returns its value, and what was raised."""


async def run_call(
    tool: Tool,
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
    problems_with_result: Callable[[Tool, Any], list[str]],
) -> CallResult:
    """Run a prepared call within the tool's timeout, and validate its result.

    A call that is given up is cancelled, and its context says so; a thread cannot be
    stopped, so its late result is dropped. Cancellation of the caller passes through.
    """
    context.begins(tool.timeout)
    there = copy_context()
    there.run(CURRENT_CALL.set, context)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    task = _started(_run_and_signal(run, arguments, context, ended), there)
    if not task.done():
        # Where it is cancelled, and may not even have begun.
        task.add_done_callback(lambda _: _signal(ended))
        timer = loop.call_later(tool.timeout, _signal, ended)
        try:
            await ended
            if not task.done() and context.questions is not None:
                await _answered(task, tool.timeout, context.questions)
        except asyncio.CancelledError:
            context.give_up()
            give_up(tool.name, task)
            raise
        finally:
            timer.cancel()
    if not task.done():
        context.give_up()
        give_up(tool.name, task)
        _logger.warning("tool %s gave no answer in %g s", tool.name, tool.timeout)
        late = f"the {tool.kind} gave no answer within {tool.timeout:g} s"
        return ToolResponse(error=late), "timeout"
    if task.cancelled():
        return ToolResponse(error="the call was cancelled"), "cancelled"
    result, error = task.result()
    questions = context.questions
    if questions is not None and questions.is_pending:
        # Whatever a handler made of it: its work is done when it is run again.
        return ToolResponse(error="a person has to answer first"), "asked"
    if questions is not None and questions.unawaited:
        _logger.error("the handler of %s did not await what it asked", tool.name)
        unawaited = (
            "the tool did not wait for a person's answer; the log has the details"
        )
        return ToolResponse(error=unawaited), "error"
    if isinstance(error, asyncio.CancelledError):
        return ToolResponse(error="the call was cancelled"), "cancelled"
    if isinstance(error, ArgumentConversionError):
        return ToolResponse(error=invalid(tool, error.problems)), "invalid"
    if isinstance(error, ToolError):
        response = ToolResponse(error=str(error) or f"the {tool.kind} failed")
        if isinstance(error, DeclinedError):
            return response, "declined"
    elif error is not None:
        response = _internal(tool, "failed", error)
    else:
        if isinstance(result, Block):
            result = ToolResponse(content=[result])
        elif not isinstance(result, ToolResponse):
            result = ToolResponse(result)
        turns = TURNS.get()
        if turns is not None:
            await turns.wait_for_answer(result.result, result.content)
        response = _checked(tool, result, problems_with_result)
    return response, "ok" if response.error is None else "error"


def _started(
    work: Coroutine[Any, Any, Outcome], there: Context
) -> asyncio.Task[Outcome]:
    """The task of a call; since Python 3.12 work that never waits is done at once."""
    if sys.version_info >= (3, 12):
        loop = asyncio.get_running_loop()
        return asyncio.Task(work, loop=loop, context=there, eager_start=True)
    return asyncio.create_task(work, context=there)


async def _run_and_signal(
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
    ended: asyncio.Future[None],
) -> Outcome:
    """Return the outcome of a run; signal it one loop round before the task ends."""
    outcome = await run(arguments, context)
    _signal(ended)
    return outcome


def _signal(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


async def _answered(
    task: asyncio.Task[Outcome], timeout: float, questions: Questions
) -> None:
    """Waits for the task in the time that it has left while no person is waited for."""
    started = asyncio.get_running_loop().time() - timeout
    while not task.done():
        used = asyncio.get_running_loop().time() - started - questions.waited
        if used >= timeout and not questions.is_waiting:
            break
        await asyncio.wait({task}, timeout=max(timeout - used, 0.05))


async def run_function(
    handler: HandlerAdapter,
    resources: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Run a handler's function; a sync one runs in a thread of its own."""
    name = context.tool
    if is_stuck(name):
        return None, ToolError(
            f"{MAX_ABANDONED_CALLS} earlier calls of `{name}` were given up and still run; try"
            " again later"
        )
    if handler.is_async:
        return await awaited(lambda: handler(arguments, resources))
    result, error = await in_thread(partial(handler, arguments, resources), name)
    # A plain function may still hand back a coroutine, as a wrapped async one does.
    if inspect.isawaitable(result):
        return await awaited(lambda: result)
    return result, error


async def run_provider(
    provider: ToolProvider,
    tool: Tool,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Run a tool of a provider."""
    return await awaited(lambda: provider.call_tool(tool, arguments, context))


async def run_proxied(
    proxies: Proxies, tool: Tool, arguments: Mapping[str, Any], context: CallContext
) -> Outcome:
    """Run a tool of the toolset on the external server that it names."""
    return await awaited(lambda: proxies.call_proxied(tool, arguments, context))


async def run_in_loop(
    loop: asyncio.AbstractEventLoop,
    run: Runner,
    arguments: Mapping[str, Any],
    context: CallContext,
) -> Outcome:
    """Run a call in an event loop that may differ from its caller's."""
    return await in_loop(loop, run(arguments, context))


def no_problems(tool: Tool, result: Any) -> list[str]:
    """A provider's results are checked by itself, if by anybody."""
    return []


async def awaited(start: Callable[[], Awaitable[Any]]) -> Outcome:
    """What an awaitable gave or raised, `sys.exit` and its like included."""
    try:
        return await start(), None
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise
        return None, error


def invalid(tool: Tool, problems: list[str]) -> str:
    """What is said of arguments that are refused."""
    lines = "".join(f"\n- {problem}" for problem in problems)
    return f"the arguments of `{tool.name}` are not valid:{lines}"


def _checked(
    tool: Tool,
    response: ToolResponse,
    problems_with_result: Callable[[Tool, Any], list[str]],
) -> ToolResponse:
    """The response as every caller gets it: plain JSON, and content that MCP has."""
    if response.error is not None and response.content is None:
        return ToolResponse(error=str(response.error))
    try:
        value = plain_json(response.result, has_python_values=tool.has_python_values)
    except NotJsonError as error:
        return _refused(tool, "gave a result that is not JSON", str(error))
    problems = [] if response.error is not None else problems_with_result(tool, value)
    if problems:
        _logger.error("tool %s: result: %s", tool.name, "; ".join(problems))
        return ToolResponse(
            error="the tool's result does not match its declared schema"
        )
    if response.content is None:
        return ToolResponse(value)
    try:
        content = plain_json(_blocks(response.content))
    except NotJsonError as error:
        return _refused(tool, "gave content that is not JSON", str(error))
    problems = problems_with_content(content)
    if problems:
        return _refused(tool, "gave content that MCP does not have", *problems)
    if response.error is not None:
        return ToolResponse(error=str(response.error), content=content)
    return ToolResponse(value, content=content)


def _blocks(content: Any) -> Any:
    """The blocks of a handler, who may hold them in any sequence of any mappings."""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return [dict(b) if isinstance(b, Mapping) else b for b in content]
    return content


def _refused(tool: Tool, what: str, *problems: str) -> ToolResponse:
    """What is wrong with an answer; its own text stays out of what is said."""
    text = f"{what}: {'; '.join(problems)}"
    _logger.error("tool %s %s", tool.name, text)
    return ToolResponse(error=f"the {tool.kind} {text}")


def _internal(tool: Tool, what: str, error: BaseException) -> ToolResponse:
    """Logs the exception under a number that the caller can quote."""
    incident = uuid.uuid4().hex[:8]
    _logger.error("tool %s %s (incident %s)", tool.name, what, incident, exc_info=error)
    return ToolResponse(
        error=f"the {tool.kind} {what}; the log has the details (incident {incident})"
    )


class NotJsonError(ValueError):
    """A value is not JSON. The text names what is in the way, and nothing of the value."""


def plain_json(value: Any, *, has_python_values: bool = False) -> Any:
    """The value as JSON would bring it to a caller far away: of plain Python types alone.

    Tuples become lists, and subclasses of `str`, `int`, `float`, `dict` and `list`, such as
    members of enumerations and named tuples, what they are subclasses of. Keys that are
    numbers, booleans or None become text as the module `json` writes them. Nothing else is
    converted: what becomes of sets, dates, bytes and objects is for the handler to say.

    Args:
        value: any.
        has_python_values: dates, times, durations, UUIDs and members of enumerations become
            texts as their formats have them, and bytes that are left base64.

    Raises:
        NotJsonError: the value holds what JSON does not have.
    """
    if type(value) is str:
        return _sendable(value, value)
    try:
        text = _encode_python(value) if has_python_values else _encode(value)
        return _sendable(text, _decode(text))
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except TypeError:
        raise NotJsonError("it has a key that is not text") from None
    except ValueError as error:
        raise NotJsonError(_why(error)) from None


def _sendable(text: str, value: Any) -> Any:
    if not text.isascii():
        # A lone surrogate, as a file's name may have one, cannot be sent.
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJsonError("it has half of a surrogate pair") from None
    return value


def _why(error: ValueError) -> str:
    text = str(error)
    if "Circular" in text:
        return "it holds itself"
    if "digits" in text:
        return "it has a number of too many digits"
    return "it has a number that JSON does not have, such as NaN"


def _refuse(value: Any) -> Any:
    raise NotJsonError(f"it holds a Python {type(value).__qualname__}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotJsonError("it has two keys that are one as text")
    return value


def _python_value(value: Any) -> Any:
    try:
        return json_text(value)
    except TypeError:
        return _refuse(value)
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def json_text(value: Any) -> Any:
    """One of Python's values as the text of the format that JSON Schema has for it.

    Raises:
        TypeError: it is of another type.
        ValueError: no text of its format says it. The text names what is in the way.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, time)):
        return _with_zone(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) >= MAX_DIGITS:
            raise ValueError(f"it holds a Python Decimal beyond {MAX_DIGITS} digits")
        return format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    raise TypeError


def _with_zone(value: datetime | time) -> str:
    """RFC 3339, whose offsets are whole minutes."""
    kind = f"it holds a Python {type(value).__name__}"
    offset = value.utcoffset()
    if offset is None:
        raise ValueError(f"{kind} without a zone")
    if offset % timedelta(minutes=1):
        raise ValueError(f"{kind} whose zone is off by seconds")
    return value.isoformat().replace("+00:00", "Z")


def _duration(value: timedelta) -> str:
    """RFC 3339, appendix A: whole seconds, and nothing below zero."""
    if value < timedelta() or value.microseconds:
        raise ValueError(
            "it holds a Python timedelta below zero or of part of a second"
        )
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    days = f"{value.days}D" if value.days else ""
    text = f"{hours}H" if hours else ""
    if minutes or (hours and seconds):
        text += f"{minutes}M"
    text += f"{seconds}S" if seconds else ""
    return f"P{days}T{text}" if text else f"P{days or '0D'}"


_encode_python = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, default=_python_value
).encode
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_refuse).encode
_decode = json.JSONDecoder(object_pairs_hook=_unique).decode
