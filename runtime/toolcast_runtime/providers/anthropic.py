"""Tool lists and results in the formats of Anthropic's Messages API and Bedrock's Converse API.

Sources: the types of the package `anthropic` 2.12, Anthropic's pages on tool use, tool search,
programmatic tool calling and structured outputs, and the messages of its errors; the service
model `bedrock-runtime` of the package `botocore` 1.44 (`ToolSpecification`), and AWS's page on
structured outputs. Bedrock passes the schema to the model. Its dialect and limits here are those
of Anthropic's models, which are the strictest among the models with tools on Bedrock:
usestrix/strix#1050 quotes the limit of 20 strict tools, BerriAI/litellm#34388 the limit of the
grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .dialect import has_larger_integer
from .dialect_table import build_dialect
from .model_provider import (
    Budget,
    ModelProvider,
    ProviderTools,
    RenderedTool,
    StrictLimit,
    schemas_within,
)
from .tool_results import IMAGES, PDF, Answer, Media

# Pattern of valid tool names; other names are mapped to valid ones.
_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PAGE = "its page on structured outputs, limits of a request"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
_NO_CONTENT = "The tool returned no content."
_CODE_EXECUTION = {"type": "code_execution_20260521", "name": "code_execution"}


def _count_optional_properties(schema: Mapping[str, Any]) -> int:
    count = 0
    for _, subschema in schemas_within(schema):
        properties = subschema.get("properties", {})
        count += len(properties.keys() - set(subschema.get("required", ())))
    return count


def _count_unions(schema: Mapping[str, Any]) -> int:
    return sum("anyOf" in subschema for _, subschema in schemas_within(schema))


def _count_bytes(schema: Mapping[str, Any]) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


_LIMITS = (
    StrictLimit("optional parameters", _count_optional_properties, 24),
    StrictLimit("parameters of several types", _count_unions, 16),
)


def _find_exceeded_limit(schema: Mapping[str, Any]) -> str | None:
    """Return a clause that names the first limit that a strict schema exceeds, or None."""
    for label, count_in, maximum in _LIMITS:
        if (count := count_in(schema)) > maximum:
            return f"has {count} {label}, and models of Anthropic take {maximum} in a request"
    return None


def _count_strict_tools(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    return {"strict tools": sum(tool.is_strict for tool in tools)}


def _count_deferred_tools(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    return {"deferred tools": sum(tool.is_deferred for tool in tools)}


def _build_tool(rendered: RenderedTool) -> dict[str, Any]:
    form: dict[str, Any] = {"name": rendered.name}
    if rendered.tool.description:
        form["description"] = rendered.tool.description
    form["input_schema"] = rendered.parameters.schema
    if rendered.is_strict:
        form["strict"] = True
    if rendered.is_deferred:
        form["defer_loading"] = True
    if _is_programmatic(rendered):
        form["allowed_callers"] = ["direct", _CODE_EXECUTION["type"]]
    if rendered.examples:
        form["input_examples"] = list(rendered.examples)
    return form


def _build_tool_result(answer: Answer) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.call_id}
    content = [
        _build_block(part) for part in answer.list_nonblank_parts({*IMAGES, PDF})
    ]
    if content:
        result["content"] = content
    if not answer.response.success:
        result["is_error"] = True
    return result


def _build_block(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.mime_type, "data": part.base64}
    return {
        "type": "document" if part.mime_type == PDF else "image",
        "source": source,
    }


def _is_programmatic(rendered: RenderedTool) -> bool:
    # Strict tools cannot be called from code (Anthropic's page on programmatic tool calling).
    return rendered.is_programmatic and not rendered.is_strict


def _build_tool_list(provider_tools: ProviderTools) -> list[dict[str, Any]]:
    """Return the tools in order, then Anthropic's own tools that they need.

    The tool search follows if a tool is deferred, and code execution if code may call a tool.
    """
    tool_list = [_build_tool(tool) for tool in provider_tools.rendered]
    if any(tool.is_deferred for tool in provider_tools.rendered):
        tool_list.append(dict(SEARCH))
    if any(_is_programmatic(tool) for tool in provider_tools.rendered):
        tool_list.append(dict(_CODE_EXECUTION))
    return tool_list


_BUDGETS = (
    Budget(20, _count_strict_tools, _PAGE),
    *(limit.budget(_PAGE) for limit in _LIMITS),
    # The API compiles all strict schemas into one grammar, whose size limit is undocumented.
    Budget(
        6,
        _count_strict_tools,
        "at risk of `compiled grammar is too large`, which seven simple tools were"
        " refused with: anthropic-sdk-typescript#885",
        False,
    ),
    StrictLimit("bytes", _count_bytes, 7_000).budget(
        "at risk of `compiled grammar is too large`, which a schema of 7,354 bytes was"
        " refused with: pome-sh/digital-twins#527",
        False,
    ),
)
ANTHROPIC = ModelProvider(
    name="anthropic",
    title="Anthropic Messages",
    dialect=build_dialect("anthropic"),
    strict=build_dialect("anthropic-strict"),
    names=_NAMES,
    own_names=frozenset([SEARCH["name"], _CODE_EXECUTION["name"]]),
    accepts=frozenset(["examples"]),
    is_strict_by_name=True,
    form=_build_tool,
    answer=_build_tool_result,
    arranged=_build_tool_list,
    has_tool_search=True,
    has_programs=True,
    budgets=(
        Budget(10_000, _count_deferred_tools, "its page on tool search"),
        *_BUDGETS,
    ),
    refuses=_find_exceeded_limit,
)


def _build_converse_tool(rendered: RenderedTool) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": rendered.name}
    # botocore rejects an empty `description`: its type is `NonEmptyString`.
    if rendered.tool.description:
        spec["description"] = rendered.tool.description
    spec["inputSchema"] = {"json": rendered.parameters.schema}
    if rendered.is_strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def _build_converse_result(answer: Answer) -> dict[str, Any]:
    result: dict[str, Any] = {"toolUseId": answer.call_id}
    value = answer.response.result
    # Bedrock's `json` content block accepts only objects with exact numbers; other results
    # become text.
    is_exact = not has_larger_integer(value, 2**53 - 2)
    if answer.is_json and isinstance(value, dict) and is_exact:
        result["content"] = [{"json": value}]
    else:
        # Bedrock rejects a result with empty content (pydantic/pydantic-ai#6115).
        parts = answer.list_nonblank_parts(IMAGES) or [_NO_CONTENT]
        result["content"] = [_build_converse_block(part) for part in parts]
    # Successful results have no `status`: not every model accepts the field, and `success`
    # is its default.
    if not answer.response.success:
        result["status"] = "error"
    return {"toolResult": result}


def _build_converse_block(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    kind = part.mime_type.removeprefix("image/")
    return {"image": {"format": kind, "source": {"bytes": part.data}}}


BEDROCK = ModelProvider(
    name="bedrock",
    title="Bedrock Converse",
    dialect=build_dialect("bedrock"),
    strict=build_dialect("bedrock-strict"),
    names=_NAMES,
    is_strict_by_name=True,
    form=_build_converse_tool,
    answer=_build_converse_result,
    budgets=_BUDGETS,
    refuses=_find_exceeded_limit,
)
