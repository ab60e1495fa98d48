"""Tool lists and results of OpenAI's Chat Completions and Responses APIs, and of Ollama.

Sources: the OpenAPI description of OpenAI's API as the package `openai` 3.54 types it, OpenAI's
guides to function calling, structured outputs and tool search, and the messages of its errors;
the class `Tool` of the package `ollama` 0.6, whose client validates the tools of `/api/chat`.
Ollama's client silently drops unknown fields: it keeps `type`, `required` and `properties` of
the parameters, and `type`, `items`, `description` and `enum` of each property. `items` may be any
schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .dialect_table import build_dialect
from .model_provider import (
    Budget,
    ModelProvider,
    ProviderTools,
    RenderedTool,
    StrictLimit,
    schemas_within,
)
from .provider_names import provider_names
from .tool_results import IMAGES, PDF, Answer, Media

_LONG_ENUM = 250
_MAX_LONG_ENUM_CHARACTERS = 15_000
"""Maximum total length of the strings of an enum with more than `_LONG_ENUM` strings."""
_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _count_properties(schema: Mapping[str, Any]) -> int:
    subschemas = [subschema for _, subschema in schemas_within(schema)]
    return sum(len(subschema.get("properties", ())) for subschema in subschemas)


def _count_enum_values(schema: Mapping[str, Any]) -> int:
    subschemas = [subschema for _, subschema in schemas_within(schema)]
    return sum(len(subschema.get("enum", ())) for subschema in subschemas)


def _count_characters(schema: Mapping[str, Any]) -> int:
    """Count the characters of property and definition names, and of enum and const strings."""
    total = 0
    for _, subschema in schemas_within(schema):
        names = [*subschema.get("properties", ()), *subschema.get("$defs", ())]
        total += sum(map(len, names))
        values = [*subschema.get("enum", ()), subschema.get("const")]
        total += sum(len(value) for value in values if isinstance(value, str))
    return total


def _count_levels(schema: Mapping[str, Any]) -> int:
    return max(level for level, _ in schemas_within(schema))


_LIMITS = (
    StrictLimit("properties", _count_properties, 5_000),
    StrictLimit("levels", _count_levels, 10),
    StrictLimit("values of `enum`", _count_enum_values, 1_000),
    StrictLimit("characters of names and values", _count_characters, 120_000),
)


def _find_exceeded_limit(schema: Mapping[str, Any]) -> str | None:
    """Return a clause that names the first limit that a strict schema exceeds, or None."""
    for label, count_in, maximum in _LIMITS:
        if (count := count_in(schema)) > maximum:
            return f"has {count:,} {label}; OpenAI accepts {maximum:,}"
    for _, subschema in schemas_within(schema):
        enum = subschema.get("enum", ())
        values = [value for value in enum if isinstance(value, str)]
        count = sum(map(len, values))
        if len(values) > _LONG_ENUM and count > _MAX_LONG_ENUM_CHARACTERS:
            return (
                f"has {count:,} characters in one `enum` of more than {_LONG_ENUM}"
                f" values; OpenAI accepts {_MAX_LONG_ENUM_CHARACTERS:,}"
            )
    return None


def _count_namespace_functions(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    """Return the number of deferred functions in each section, by a label for messages.

    In OpenAI's tool search a section of the toolset is a namespace.
    """
    names = [tool.tool.section for tool in tools if tool.is_deferred]
    return {
        f"functions in the namespace `{name}`": names.count(name)
        for name in dict.fromkeys(names)
        if name is not None
    }


_BUDGETS = (
    Budget(
        128, lambda tools: {"tools": len(tools)}, "its reference: at most 128 functions"
    ),
    *(
        limit.budget("its guide to structured outputs", False)
        for limit in _LIMITS
        # The sum of levels means nothing: levels are limited only in each schema.
        if limit.count is not _count_levels
    ),
)


def _build_function(rendered: RenderedTool) -> dict[str, Any]:
    return {
        "name": rendered.name,
        "description": rendered.tool.description,
        "parameters": rendered.parameters.schema,
    }


def _build_chat_tool(rendered: RenderedTool) -> dict[str, Any]:
    function = _build_function(rendered)
    if rendered.is_strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _build_responses_tool(rendered: RenderedTool) -> dict[str, Any]:
    # Always send `strict`. Without the field OpenAI tries strict mode, in which the model must
    # invent values for optional parameters.
    form = {
        "type": "function",
        **_build_function(rendered),
        "strict": rendered.is_strict,
    }
    if rendered.returns is not None:
        form["output_schema"] = rendered.returns.schema
    if rendered.is_deferred:
        form["defer_loading"] = True
    if rendered.is_programmatic:
        form["allowed_callers"] = ["direct", "programmatic"]
    return form


def _build_tool_message(answer: Answer) -> dict[str, Any]:
    """Build a `tool` message of Chat Completions: its content is text without media."""
    return {
        "role": "tool",
        "tool_call_id": answer.call_id,
        "content": answer.text(),
    }


def _build_function_output(answer: Answer) -> dict[str, Any]:
    output: Any = answer.text()
    if answer.response.success and answer.response.content is not None:
        parts = [_build_input_item(part) for part in answer.parts({*IMAGES, PDF})]
        output = parts or ""
    return {
        "type": "function_call_output",
        "call_id": answer.call_id,
        "output": output,
    }


def _build_input_item(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.mime_type == PDF:
        name = part.name or "file.pdf"
        return {"type": "input_file", "filename": name, "file_data": part.url}
    return {"type": "input_image", "image_url": part.url, "detail": "auto"}


def _build_responses_list(provider_tools: ProviderTools) -> list[dict[str, Any]]:
    """Return the functions in order; deferred functions are grouped by section.

    Each section with deferred functions is one namespace, at the position of its first
    function. Deferred functions without a section stay in the list. The tools `tool_search`
    and `programmatic_tool_calling` are appended if functions need them.
    """
    tool_list: list[dict[str, Any]] = []
    namespaces: dict[str, dict[str, Any]] = {}
    sections = [rendered.tool.section for rendered in provider_tools.rendered]
    names = provider_names(filter(None, sections), _NAMES)
    for rendered in provider_tools.rendered:
        form, section = _build_responses_tool(rendered), rendered.tool.section
        if not rendered.is_deferred or section is None:
            tool_list.append(form)
            continue
        if section not in namespaces:
            namespaces[section] = {
                "type": "namespace",
                "name": names[section],
                "description": provider_tools.sections.get(section, section),
                "tools": [],
            }
            tool_list.append(namespaces[section])
        namespaces[section]["tools"].append(form)
    if any(tool.is_deferred for tool in provider_tools.rendered):
        tool_list.append({"type": "tool_search"})
    if any(tool.is_programmatic for tool in provider_tools.rendered):
        tool_list.append({"type": "programmatic_tool_calling"})
    return tool_list


CHAT = ModelProvider(
    name="openai-chat",
    title="OpenAI Chat Completions",
    dialect=build_dialect("openai"),
    strict=build_dialect("openai-strict"),
    names=_NAMES,
    form=_build_chat_tool,
    answer=_build_tool_message,
    budgets=_BUDGETS,
    refuses=_find_exceeded_limit,
)
RESPONSES = ModelProvider(
    name="openai-responses",
    title="OpenAI Responses",
    dialect=build_dialect("openai"),
    strict=build_dialect("openai-strict"),
    returns=build_dialect("openai-results"),
    names=_NAMES,
    accepts=frozenset(["returns"]),
    form=_build_responses_tool,
    answer=_build_function_output,
    arranged=_build_responses_list,
    has_tool_search=True,
    has_programs=True,
    budgets=(
        *_BUDGETS,
        Budget(
            9,
            _count_namespace_functions,
            "its guide to tool search: fewer than ten functions a namespace",
            False,
        ),
    ),
    refuses=_find_exceeded_limit,
)


def _build_ollama_message(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "tool_name": answer.name, "content": answer.text()}


OLLAMA = ModelProvider(
    name="ollama",
    title="Ollama",
    dialect=build_dialect("ollama"),
    form=_build_chat_tool,
    answer=_build_ollama_message,
)
