"""Tool lists, calls and results of Anthropic's Messages API and Bedrock's Converse API.

Sources: the types of the package `anthropic` 2.12, Anthropic's pages on tool use, tool search,
programmatic tool calling and structured outputs, and the messages of its errors; the service
model `bedrock-runtime` of the package `botocore` 1.44 (`ToolSpecification`), and AWS's page on
structured outputs. Bedrock passes the schema to the model, so its dialect is that of Anthropic's
models, the narrowest of those that accept tools there, and so are its limits: usestrix/strix#1050
quotes the limit of 20 strict tools, BerriAI/litellm#34388 that of the grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .dialect import Dialect, Nullable, References
from .model_provider import (
    Budget,
    ModelProvider,
    ProviderTools,
    RenderedTool,
    StrictLimit,
    schemas_within,
)
from .tool_results import IMAGES, PDF, Answer, Media

_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PAGE = "its page on structured outputs, limits of a request"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
_PROGRAMS = {"type": "code_execution_20260521", "name": "code_execution"}
_LOOSE = Dialect(
    source=(
        "its errors: input_schema does not support oneOf, allOf, or anyOf at the top level;"
        " property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    ),
    lost_at_root=frozenset("oneOf anyOf allOf".split()),
    property_names=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
)
_STRICT = replace(
    _LOOSE,
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
    has_plain_patterns=True,
    enum_types=frozenset("string number integer boolean null".split()),
    references=References.NO_CYCLES,
    has_reference_siblings=False,
    nullable=Nullable.ANY_OF,
    is_closed=True,
)


def _optional(schema: Mapping[str, Any]) -> int:
    return sum(
        len(one.get("properties", {}).keys() - set(one.get("required", ())))
        for _, one in schemas_within(schema)
    )


def _unions(schema: Mapping[str, Any]) -> int:
    return sum("anyOf" in one for _, one in schemas_within(schema))


def _bytes(schema: Mapping[str, Any]) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


_LIMITS = (
    StrictLimit("optional parameters", _optional, 24),
    StrictLimit("parameters of several types", _unions, 16),
)


def _too_much(schema: Mapping[str, Any]) -> str | None:
    """What one strict schema has too much of."""
    for what, counted, most in _LIMITS:
        if (count := counted(schema)) > most:
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


_BUDGETS = (
    Budget(20, _strict_tools, _PAGE),
    *(limit.budget(_PAGE) for limit in _LIMITS),
    # All strict schemas become one grammar, of a size that is bounded and not documented.
    Budget(
        6,
        _strict_tools,
        "at risk of `compiled grammar is too large`, which seven simple tools were"
        " refused with: anthropic-sdk-typescript#885",
        False,
    ),
    StrictLimit("bytes", _bytes, 7_000).budget(
        "at risk of `compiled grammar is too large`, which a schema of 7,354 bytes was"
        " refused with: pome-sh/digital-twins#527",
        False,
    ),
)
ANTHROPIC = ModelProvider(
    name="anthropic",
    title="Anthropic Messages",
    dialect=_LOOSE,
    strict=_STRICT,
    names=_NAMES,
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
        *_BUDGETS,
    ),
    refuses=_too_much,
)


def _converse_form(rendered: RenderedTool) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": rendered.name}
    if rendered.tool.description:  # An empty one is refused: `NonEmptyString`.
        spec["description"] = rendered.tool.description
    spec["inputSchema"] = {"json": rendered.parameters.schema}
    if rendered.is_strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def _converse_answer(answer: Answer) -> dict[str, Any]:
    result: dict[str, Any] = {"toolUseId": answer.call_id}
    value = answer.response.result
    if answer.is_json and isinstance(value, dict):  # It takes no other JSON.
        result["content"] = [{"json": value}]
    else:
        result["content"] = [
            _converse_block(part) for part in answer.parts(IMAGES) if part
        ]
    if not answer.response.success:  # Not every model takes `success`.
        result["status"] = "error"
    return {"toolResult": result}


def _converse_block(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    kind = part.mime_type.removeprefix("image/")
    return {"image": {"format": kind, "source": {"bytes": part.data}}}


BEDROCK = ModelProvider(
    name="bedrock",
    title="Bedrock Converse",
    dialect=_LOOSE,
    strict=_STRICT,
    names=_NAMES,
    is_strict_by_name=True,
    form=_converse_form,
    answer=_converse_answer,
    budgets=_BUDGETS,
    refuses=_too_much,
)
