"""What callers are sent of what a tool gave: picked properties, within the tool's budget."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.calls.tool_validators import Validators
from ..core.calls.worker_threads import run_in_thread
from ..core.context import CallContext, CallResult, ToolResponse
from ..core.definitions.tool import ResultForm, Tool
from .budget import Limits, Shortening, estimated_tokens, json_text
from .field_selection import left_out, listed_parameters, listed_returns, picked

if TYPE_CHECKING:
    from ..core.calls.tool_calls import Stage

__all__ = ["listed_parameters", "listed_returns", "shape_results"]

_logger = logging.getLogger("toolcast")

_MAX_CURSOR_CHARACTERS = 200
"""Characters of a value that continues a call; a longer one is not mentioned."""

_MAX_INLINE_CHARACTERS = 100_000
"""Characters of a result that is shaped on the event loop."""


def shape_results(stage: Stage) -> Stage:
    """Return a stage of calls whose responses are shaped as their tools declare."""

    async def shaped_stage(
        tool: Tool, provider: Any, arguments: Mapping[str, Any], context: CallContext
    ) -> CallResult:
        response, outcome = await stage(tool, provider, arguments, context)
        form = tool.result
        if form is None or (form.budget or form.fields) is None:
            return response, outcome
        texts = [response.text(), *(b.get("text", "") for b in response.content or ())]
        if sum(map(len, texts)) > _MAX_INLINE_CHARACTERS:
            shape = partial(shaped, tool, arguments, response)
            sent, error = await run_in_thread(shape, tool.name)
            # Where every thread is taken, others wait.
            return shape() if error else sent, outcome
        return shaped(tool, arguments, response), outcome

    return shaped_stage


def shaped(
    tool: Tool, arguments: Mapping[str, Any], response: ToolResponse
) -> ToolResponse:
    """What is sent of the whole answer to a call with these arguments.

    Text blocks that a result has beside it are taken to repeat it: where it is not sent as it
    was, its JSON text stands for them. Images, sounds and bytes are no text and not counted.
    It is an error where no part of a result is small enough.
    """
    form = tool.result
    if form is None or response.error is not None:
        return response
    if form.fields is not None and response.result is not None:
        chosen = arguments.get(form.fields["parameter"])
        value = picked(response.result, left_out(form.fields, chosen))
        if value is not response.result:
            response = _with(response, value)
    if form.budget is not None:
        response = _within(tool, form, form.budget, arguments, response)
    return response


def _with(response: ToolResponse, value: Any, note: str | None = None) -> ToolResponse:
    """The answer with another result."""
    content = response.content
    if content is not None:
        others = [block for block in content if block["type"] != "text"]
        text = [{"type": "text", "text": ToolResponse(value).text()}]
        content = [*text[: len(content) - len(others)], *others]
    return ToolResponse(value, content=content, note=note)


def _within(
    tool: Tool,
    form: ResultForm,
    budget: Mapping[str, Any],
    arguments: Mapping[str, Any],
    response: ToolResponse,
) -> ToolResponse:
    """The answer, or as much of it as its budget has room for."""
    unit = "tokens" if "tokens" in budget else "characters"
    count: Callable[[str], int] = estimated_tokens if unit == "tokens" else len
    # Where content blocks are the whole answer, they are its result as well.
    value = None if response.result == response.content else response.result
    own, others = _texts(response)
    sent = [[*own, *others]]
    if value is not None and response.content is not None:
        sent.append([ToolResponse(value).text()])
    size = max(sum(map(count, texts)) for texts in sent)
    if size <= budget[unit]:
        return response
    whole, is_text = value, value is None or isinstance(value, str)
    written: Callable[[Any], Any] = json_text if is_text else lambda left: left
    if is_text:
        # Many servers answer with JSON in a text, and no value.
        with suppress(ValueError, RecursionError):
            whole = json.loads("\n".join(own) if value is None else value)
    check = _check(tool, form)
    shortened = None
    if isinstance(whole, list | dict):
        limits = Limits(
            budget[unit] - sum(map(count, others)),
            count,
            lambda left: not check(written(left)),
            partial(_rest, tool, budget.get("next"), arguments),
        )
        # What could be read may be nested too deeply to be written.
        with suppress(RecursionError):
            shortened = Shortening(whole, count(json_text(whole)), limits).result()
    if shortened is None:
        return _too_large(tool, form, f"{size:,} {unit}", f"{budget[unit]:,}")
    left, note = shortened
    note = note or "Left out: the text beside the result."
    return _with(response, written(left), note)


def _texts(response: ToolResponse) -> tuple[list[str], list[str]]:
    """The texts of an answer: those of its result, and those of resources and links."""
    if response.content is None:
        return [response.text()], []
    own = [block["text"] for block in response.content if block["type"] == "text"]
    others = [
        ToolResponse(block).text()
        for block in response.content
        if block["type"] == "resource_link" or "text" in block.get("resource", ())
    ]
    return own, others


def _check(tool: Tool, form: ResultForm) -> Callable[[Any], list[str]]:
    """What is wrong with a result, as callers know the tool's."""
    returns = listed_returns(tool.returns, form.fields)
    known = replace(tool, result=replace(form, returns=returns))
    return partial(Validators().check_result, known)


def _rest(
    tool: Tool,
    following: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    items: Sequence[Any],
    kept: int,
) -> str:
    """How a call goes on behind the first items of a list; empty where nobody knows."""
    declared = tool.parameters.get("properties", {})
    if following is None or following["argument"] not in declared:
        return ""
    name = following["argument"]
    if "from" in following:
        last = items[kept - 1]
        value = last.get(following["from"]) if isinstance(last, Mapping) else None
    else:
        of = declared[name]
        default = of.get("default", 0) if isinstance(of, Mapping) else 0
        given = arguments.get(name, default)
        value = given + kept if isinstance(given, int | float) else None
    text = json_text(value)
    # What could drive a terminal, or turn a line round, is an escape.
    text = text if text.isprintable() else json.dumps(value)
    is_told = (
        isinstance(value, str | int | float) and len(text) <= _MAX_CURSOR_CHARACTERS
    )
    return f"call again with `{name}` = {text}" if is_told else ""


def _too_large(tool: Tool, form: ResultForm, size: str, most: str) -> ToolResponse:
    _logger.warning("the result of %s is not sent: %s of %s", tool.name, size, most)
    picks = form.fields and f": `{form.fields['parameter']}` picks properties of it"
    return ToolResponse(
        error=(
            f"`{tool.name}` was done, and its result is not sent: it has about {size}, and"
            f" {most} are the most. Nothing of it can be left out by itself. Repeat no call"
            f" that changes something; ask for less{picks or ''}."
        )
    )
