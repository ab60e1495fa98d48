"""Anthropic's form: tools of its Messages API, loose and strict.

Sources: the types of the package `anthropic` 2.12, Anthropic's pages on tool use, tool search,
programmatic tool calling and structured outputs, and the messages of its errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .model_provider import (
    Budget,
    ModelProvider,
    ProviderTools,
    RenderedTool,
    of_strict_schemas,
)
from .schemas.dialect import Dialect, Nullable, Patterns, References
from .tool_answers import IMAGES, PDF, Answer, Media

TOOL_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_OPTIONAL = 24
_MOST_UNIONS = 16
_LIMITS = "its page on structured outputs, limits of a request"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
_PROGRAMS = {"type": "code_execution_20260521", "name": "code_execution"}
LOOSE = Dialect(
    source=(
        "its errors: input_schema does not support oneOf, allOf, or anyOf at the top level;"
        " property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    ),
    lost_at_root=frozenset("oneOf anyOf allOf".split()),
    property_names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
)
STRICT = replace(
    LOOSE,
    source="its page on structured outputs, limits of JSON Schema",
    keywords=frozenset(
        (
            "type title description properties required additionalProperties items enum"
            " const anyOf $ref default format pattern minItems"
        ).split()
    ),
    most_min_items=1,
    formats=frozenset(
        "date-time time date duration email hostname uri ipv4 ipv6 uuid".split()
    ),
    patterns=Patterns.SIMPLE,
    enum_types=frozenset("string number integer boolean null".split()),
    references=References.NO_CYCLES,
    has_reference_siblings=False,
    nullable=Nullable.ANY_OF,
    is_closed=True,
)


def _schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema in a strict one."""
    yield schema
    for name in ("properties", "$defs"):
        for inner in schema.get(name, {}).values():
            yield from _schemas(inner)
    if "items" in schema:
        yield from _schemas(schema["items"])
    for inner in schema.get("anyOf", ()):
        yield from _schemas(inner)


def _optional(schema: Mapping[str, Any]) -> int:
    return sum(
        len(one.get("properties", {}).keys() - set(one.get("required", ())))
        for one in _schemas(schema)
    )


def _unions(schema: Mapping[str, Any]) -> int:
    return sum("anyOf" in one for one in _schemas(schema))


def _bytes(schema: Mapping[str, Any]) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


def too_much(schema: Mapping[str, Any]) -> str | None:
    """What one strict schema has too much of."""
    for what, count, most in (
        ("optional parameters", _optional(schema), _MOST_OPTIONAL),
        ("parameters of several types", _unions(schema), _MOST_UNIONS),
    ):
        if count > most:
            return (
                f"has {count} {what}, and models of Anthropic take {most} in a request"
            )
    return None


def _strict_tools(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    return {"strict tools": sum(tool.is_strict for tool in tools)}


def _deferred_tools(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    return {"deferred tools": sum(tool.is_deferred for tool in tools)}


def _form(rendered: RenderedTool) -> dict[str, Any]:
    form: dict[str, Any] = {"name": rendered.name}
    if rendered.tool.description:
        form["description"] = rendered.tool.description
    form["input_schema"] = rendered.parameters.schema
    if rendered.is_strict:
        form["strict"] = True
    if rendered.is_deferred:
        form["defer_loading"] = True
    if _is_programmatic(rendered):
        form["allowed_callers"] = ["direct", _PROGRAMS["type"]]
    if rendered.examples:
        form["input_examples"] = list(rendered.examples)
    return form


def _answer(answer: Answer) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.call_id}
    content = [_block(part) for part in answer.parts({*IMAGES, PDF}) if part]
    if content:  # A text that is empty is refused.
        result["content"] = content
    if not answer.response.success:
        result["is_error"] = True
    return result


def _block(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.mime_type, "data": part.base64}
    return {
        "type": "document" if part.mime_type == PDF else "image",
        "source": source,
    }


def _is_programmatic(rendered: RenderedTool) -> bool:
    """Programs call no strict tools: its page on programmatic tool calling."""
    return rendered.is_programmatic and not rendered.is_strict


def _with_search(listed: ProviderTools) -> list[dict[str, Any]]:
    """The tools, and what finds and calls them."""
    arranged = [_form(rendered) for rendered in listed.rendered]
    if any(tool.is_deferred for tool in listed.rendered):
        arranged.append(dict(SEARCH))
    if any(_is_programmatic(tool) for tool in listed.rendered):
        arranged.append(dict(_PROGRAMS))
    return arranged


STRICT_BUDGETS = (
    Budget(20, _strict_tools, _LIMITS),
    Budget(
        _MOST_OPTIONAL, of_strict_schemas("optional parameters", _optional), _LIMITS
    ),
    Budget(
        _MOST_UNIONS,
        of_strict_schemas("parameters of several types", _unions),
        _LIMITS,
    ),
    # All strict schemas become one grammar, of a size that is bounded and not documented.
    Budget(
        6,
        _strict_tools,
        "at risk of `compiled grammar is too large`, which seven simple tools were"
        " refused with: anthropic-sdk-typescript#885",
        False,
    ),
    Budget(
        7_000,
        of_strict_schemas("bytes", _bytes),
        "at risk of `compiled grammar is too large`, which a schema of 7,354 bytes was"
        " refused with: pome-sh/digital-twins#527",
        False,
    ),
)
ANTHROPIC = ModelProvider(
    name="anthropic",
    title="Anthropic Messages",
    dialect=LOOSE,
    strict=STRICT,
    names=TOOL_NAMES,
    own_names=frozenset([SEARCH["name"], _PROGRAMS["name"]]),
    takes=frozenset(["examples"]),
    is_strict_by_name=True,
    form=_form,
    answer=_answer,
    arranged=_with_search,
    has_tool_search=True,
    has_programs=True,
    budgets=(
        Budget(10_000, _deferred_tools, "its page on tool search"),
        *STRICT_BUDGETS,
    ),
    refuses=too_much,
)
