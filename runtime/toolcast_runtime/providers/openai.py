"""OpenAI's forms, of Chat Completions and of Responses, loose and strict, and Ollama's.

Sources: the OpenAPI description of OpenAI's API as the package `openai` 3.54 types it, OpenAI's
guides to function calling, structured outputs and tool search, and the messages of its errors;
the class `Tool` of the package `ollama` 0.6, whose client lets functions of `/api/chat` through.
What that has no field for it drops in silence: of the parameters all but `type`, `required` and
`properties`, of each of these all but `type`, `items`, `description` and `enum`. Items may have
any schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from .provider_names import provider_names
from .tool_results import IMAGES, PDF, Answer, Media

_LONG_ENUM = 250
_MAX_LONG_ENUM_CHARACTERS = 15_000
"""Characters of all values of an enum with more than `_LONG_ENUM` values."""
_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_AT_ROOT = frozenset("oneOf anyOf allOf enum not".split())
_LOOSE = Dialect(
    source=(
        "its error: schema must have type 'object' and not have"
        " 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
    ),
    lost_at_root=_NOT_AT_ROOT,
    needs_items=True,
)
_ANY = Dialect(source="its types: any schema of an object")
_STRICT = Dialect(
    name="OpenAI strict",
    source="its guide to structured outputs, supported schemas",
    keywords=frozenset(
        (
            "type title description properties required additionalProperties items enum"
            " const anyOf $ref pattern format multipleOf minimum maximum exclusiveMinimum"
            " exclusiveMaximum minItems maxItems"
        ).split()
    ),
    lost_at_root=_NOT_AT_ROOT,
    formats=frozenset(
        "date-time time date duration email hostname ipv4 ipv6 uuid".split()
    ),
    has_plain_patterns=True,
    enum_types=frozenset("string number integer boolean null".split()),
    references=References.KEPT,
    has_reference_siblings=False,
    nullable=Nullable.ANY,
    is_closed=True,
    is_required_whole=True,
    needs_items=True,
)


def _properties(schema: Mapping[str, Any]) -> int:
    return sum(len(one.get("properties", ())) for _, one in schemas_within(schema))


def _enum_values(schema: Mapping[str, Any]) -> int:
    return sum(len(one.get("enum", ())) for _, one in schemas_within(schema))


def _characters(schema: Mapping[str, Any]) -> int:
    """Of the names of properties and definitions, of `enum` and `const`."""
    total = 0
    for _, one in schemas_within(schema):
        total += sum(map(len, [*one.get("properties", ()), *one.get("$defs", ())]))
        values = [*one.get("enum", ()), one.get("const")]
        total += sum(len(value) for value in values if isinstance(value, str))
    return total


def _levels(schema: Mapping[str, Any]) -> int:
    return max(level for level, _ in schemas_within(schema))


_LIMITS = (
    StrictLimit("properties", _properties, 5_000),
    StrictLimit("levels", _levels, 10),
    StrictLimit("values of `enum`", _enum_values, 1_000),
    StrictLimit("characters of names and values", _characters, 120_000),
)


def _too_much(schema: Mapping[str, Any]) -> str | None:
    """What one strict schema has too much of."""
    for what, counted, most in _LIMITS:
        if (count := counted(schema)) > most:
            return f"has {count:,} {what}, and OpenAI takes {most:,}"
    for _, one in schemas_within(schema):
        values = [value for value in one.get("enum", ()) if isinstance(value, str)]
        count = sum(map(len, values))
        if len(values) > _LONG_ENUM and count > _MAX_LONG_ENUM_CHARACTERS:
            return (
                f"has {count:,} characters in one `enum` of more than {_LONG_ENUM}"
                f" values, and OpenAI takes {_MAX_LONG_ENUM_CHARACTERS:,}"
            )
    return None


def _namespaces(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
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
        if limit.count is not _levels
    ),
)


def _function(rendered: RenderedTool) -> dict[str, Any]:
    return {
        "name": rendered.name,
        "description": rendered.tool.description,
        "parameters": rendered.parameters.schema,
    }


def _chat(rendered: RenderedTool) -> dict[str, Any]:
    function = _function(rendered)
    if rendered.is_strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _responses(rendered: RenderedTool) -> dict[str, Any]:
    # Without `strict` the API tries it, and makes the model invent optional values.
    form = {
        "type": "function",
        **_function(rendered),
        "strict": rendered.is_strict,
    }
    if rendered.returns is not None:
        form["output_schema"] = rendered.returns.schema
    if rendered.is_deferred:
        form["defer_loading"] = True
    if rendered.is_programmatic:
        form["allowed_callers"] = ["direct", "programmatic"]
    return form


def _message(answer: Answer) -> dict[str, Any]:
    """A message, which takes text alone."""
    return {
        "role": "tool",
        "tool_call_id": answer.call_id,
        "content": answer.text(),
    }


def _output(answer: Answer) -> dict[str, Any]:
    output: Any = answer.text()
    if answer.response.success and answer.response.content is not None:
        parts = [_item(part) for part in answer.parts({*IMAGES, PDF})]
        output = parts or ""
    return {
        "type": "function_call_output",
        "call_id": answer.call_id,
        "output": output,
    }


def _item(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.mime_type == PDF:
        name = part.name or "file.pdf"
        return {"type": "input_file", "filename": name, "file_data": part.url}
    return {"type": "input_image", "image_url": part.url, "detail": "auto"}


def _with_namespaces(listed: ProviderTools) -> list[dict[str, Any]]:
    """Deferred functions in the namespace of their section, and what finds and calls them."""
    arranged: list[dict[str, Any]] = []
    namespaces: dict[str, dict[str, Any]] = {}
    sections = [one.tool.section for one in listed.rendered]
    names = provider_names(filter(None, sections), _NAMES)
    for rendered in listed.rendered:
        form, section = _responses(rendered), rendered.tool.section
        if not rendered.is_deferred or section is None:
            arranged.append(form)
            continue
        if section not in namespaces:
            namespaces[section] = {
                "type": "namespace",
                "name": names[section],
                "description": listed.sections.get(section, section),
                "tools": [],
            }
            arranged.append(namespaces[section])
        namespaces[section]["tools"].append(form)
    if any(tool.is_deferred for tool in listed.rendered):
        arranged.append({"type": "tool_search"})
    if any(tool.is_programmatic for tool in listed.rendered):
        arranged.append({"type": "programmatic_tool_calling"})
    return arranged


CHAT = ModelProvider(
    name="openai-chat",
    title="OpenAI Chat Completions",
    dialect=_LOOSE,
    strict=_STRICT,
    names=_NAMES,
    form=_chat,
    answer=_message,
    budgets=_BUDGETS,
    refuses=_too_much,
)
RESPONSES = ModelProvider(
    name="openai-responses",
    title="OpenAI Responses",
    dialect=_LOOSE,
    strict=_STRICT,
    returns=_ANY,
    names=_NAMES,
    takes=frozenset(["returns"]),
    form=_responses,
    answer=_output,
    arranged=_with_namespaces,
    has_tool_search=True,
    has_programs=True,
    budgets=(
        *_BUDGETS,
        Budget(
            9,
            _namespaces,
            "its guide to tool search: fewer than ten functions a namespace",
            False,
        ),
    ),
    refuses=_too_much,
)


_OLLAMA = Dialect(
    source="the fields of the class `Tool` of the package `ollama`",
    keywords=frozenset("type description properties required items enum".split()),
    lost_at_root=frozenset(["description", "items", "enum"]),
    lost_of_parameters=frozenset(["properties", "required"]),
    references=References.INLINED,
    nullable=Nullable.TYPE_LIST,
)


def _ollama_message(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "tool_name": answer.name, "content": answer.text()}


OLLAMA = ModelProvider(
    name="ollama", title="Ollama", dialect=_OLLAMA, form=_chat, answer=_ollama_message
)
