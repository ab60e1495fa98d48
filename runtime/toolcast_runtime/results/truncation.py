"""Reduce responses to the selected properties and to the tool's size budget."""

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
from .budget import ResultLimits, ResultShortener, encode_json_text, estimate_tokens
from .field_selection import (
    build_listed_parameters,
    build_listed_returns,
    list_omitted_paths,
    remove_paths,
)

if TYPE_CHECKING:
    from ..core.calls.tool_calls import Stage

__all__ = ["build_listed_parameters", "build_listed_returns", "shape_results"]

_logger = logging.getLogger("toolcast")

_MAX_CURSOR_CHARACTERS = 200
"""Maximum length of an argument value that a note may suggest for the next call."""

_MAX_INLINE_CHARACTERS = 100_000
"""Characters of a result up to which it is shaped on the event loop, not in a thread."""


def shape_results(stage: Stage) -> Stage:
    """Wrap a stage of calls: reduce its responses as `result` of the tool declares."""

    async def shaped_stage(
        tool: Tool, provider: Any, arguments: Mapping[str, Any], context: CallContext
    ) -> CallResult:
        response, outcome = await stage(tool, provider, arguments, context)
        form = tool.result
        if form is None or (form.budget or form.fields) is None:
            return response, outcome
        texts = [response.text(), *(b.get("text", "") for b in response.content or ())]
        if sum(map(len, texts)) > _MAX_INLINE_CHARACTERS:
            shape = partial(shape_response, tool, arguments, response)
            sent, error = await run_in_thread(shape, tool.name)
            # `run_in_thread` returns an error if all threads are busy. The work is then done
            # on the event loop, so that the finished call does not fail.
            return shape() if error else sent, outcome
        return shape_response(tool, arguments, response), outcome

    return shaped_stage


def shape_response(
    tool: Tool, arguments: Mapping[str, Any], response: ToolResponse
) -> ToolResponse:
    """Return the response to send, with the selected properties and within the budget.

    If the result is changed, its JSON text replaces the text blocks of the response, which
    repeat the result. Images, audio and binary resources do not count towards the budget. If
    the result cannot be shortened enough, the response is an error.
    """
    form = tool.result
    if form is None or response.error is not None:
        return response
    if form.fields is not None and response.result is not None:
        selected = arguments.get(form.fields["parameter"])
        value = remove_paths(response.result, list_omitted_paths(form.fields, selected))
        if value is not response.result:
            response = _replace_result(response, value)
    if form.budget is not None:
        response = _apply_budget(tool, form, form.budget, arguments, response)
    return response


def _replace_result(
    response: ToolResponse, value: Any, note: str | None = None
) -> ToolResponse:
    """Return a response with another result, also as text in its content blocks.

    The first text block is replaced, further text blocks are removed, other blocks stay.
    """
    content = response.content
    if content is not None:
        others = [block for block in content if block["type"] != "text"]
        text = [{"type": "text", "text": ToolResponse(value).text()}]
        content = [*text[: len(content) - len(others)], *others]
    return ToolResponse(value, content=content, note=note)


def _apply_budget(
    tool: Tool,
    form: ResultForm,
    budget: Mapping[str, Any],
    arguments: Mapping[str, Any],
    response: ToolResponse,
) -> ToolResponse:
    """Return a response within the budget: unchanged, shortened, or an error."""
    unit = "tokens" if "tokens" in budget else "characters"
    measure: Callable[[str], int] = estimate_tokens if unit == "tokens" else len
    # If a handler returned only content blocks, `result` is the same list and not a value.
    value = None if response.result == response.content else response.result
    result_texts, other_texts = _split_texts(response)
    size = sum(map(measure, [*result_texts, *other_texts]))
    if value is not None and response.content is not None:
        size = max(size, measure(ToolResponse(value).text()))
    if size <= budget[unit]:
        return response
    is_text = value is None or isinstance(value, str)
    encode: Callable[[Any], Any] = encode_json_text if is_text else lambda part: part
    whole = value
    if is_text:
        # External servers often return JSON as text without structured content, so try to
        # parse the text.
        with suppress(ValueError, RecursionError):
            whole = json.loads("\n".join(result_texts) if value is None else value)
    check = _build_check(tool, form)
    shortened = None
    if isinstance(whole, list | dict):
        limits = ResultLimits(
            budget[unit] - sum(map(measure, other_texts)),
            measure,
            lambda part: not check(encode(part)),
            partial(_describe_next_call, tool, budget.get("next"), arguments),
        )
        # The encoder has a lower depth limit than the parser, so encoding may fail.
        with suppress(RecursionError):
            size_as_json = measure(encode_json_text(whole))
            shortened = ResultShortener(whole, size_as_json, limits).shorten()
    if shortened is None:
        return _build_too_large_error(
            tool, form, f"{size:,} {unit}", f"{budget[unit]:,}"
        )
    part, note = shortened
    note = note or "Omitted: the text next to the result."
    return _replace_result(response, encode(part), note)


def _split_texts(response: ToolResponse) -> tuple[list[str], list[str]]:
    """Return the texts of a response's result, and the texts of its other blocks.

    The other blocks are text resources and links, as JSON; images and audio are omitted.
    """
    if response.content is None:
        return [response.text()], []
    result_texts = [
        block["text"] for block in response.content if block["type"] == "text"
    ]
    other_texts = [
        ToolResponse(block).text()
        for block in response.content
        if block["type"] == "resource_link" or "text" in block.get("resource", ())
    ]
    return result_texts, other_texts


def _build_check(tool: Tool, form: ResultForm) -> Callable[[Any], list[str]]:
    """Return a function that lists a result's violations of the schema in `tools/list`."""
    returns = build_listed_returns(tool.returns, form.fields)
    listed_tool = replace(tool, result=replace(form, returns=returns))
    return partial(Validators().check_result, listed_tool)


def _describe_next_call(
    tool: Tool,
    paging: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    items: Sequence[Any],
    kept: int,
) -> str:
    """Describe the call that returns an array's omitted items; empty if it is unknown.

    `paging` is `budget.next`: the `argument` to set, and optionally `from`, the property of
    the last kept item that contains its value. Without `from` the argument is an offset.
    """
    parameters = tool.parameters.get("properties", {})
    if paging is None or paging["argument"] not in parameters:
        return ""
    name = paging["argument"]
    if "from" in paging:
        last = items[kept - 1]
        value = last.get(paging["from"]) if isinstance(last, Mapping) else None
    else:
        schema = parameters[name]
        default = schema.get("default", 0) if isinstance(schema, Mapping) else 0
        offset = arguments.get(name, default)
        value = offset + kept if isinstance(offset, int | float) else None
    text = encode_json_text(value)
    # Escape characters that could control a terminal or reverse the text's direction.
    text = text if text.isprintable() else json.dumps(value)
    if not isinstance(value, str | int | float) or len(text) > _MAX_CURSOR_CHARACTERS:
        return ""
    return f"call again with `{name}` = {text}"


def _build_too_large_error(
    tool: Tool, form: ResultForm, size: str, max_size: str
) -> ToolResponse:
    _logger.warning(
        "the result of %s is too large to be sent: %s; the limit is %s",
        tool.name,
        size,
        max_size,
    )
    hint = ""
    if form.fields:
        hint = f", or select fewer properties with `{form.fields['parameter']}`"
    return ToolResponse(
        error=(
            f"`{tool.name}` was called, but its result is too large to be sent: it has about"
            f" {size}, the maximum is {max_size}, and it cannot be shortened. Do not repeat a"
            f" call that changes data; request less{hint}."
        )
    )
