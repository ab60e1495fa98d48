"""Tool lists and results in the formats of Gemini.

Sources: the types of the package `google-genai` 3.4 (`FunctionDeclaration`, and the keywords that
`GenerateContentConfig.response_json_schema` lists), Google's page on function calling, and the
messages of its errors.
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
    schemas_within,
)
from .tool_results import IMAGES, PDF, Answer, Media

_GEMINI = Dialect(
    source="the keywords that google-genai's `response_json_schema` lists",
    keywords=frozenset(
        (
            "type format title description enum items prefixItems minItems maxItems"
            " minimum maximum anyOf properties additionalProperties required $ref"
        ).split()
    ),
    enum_types=frozenset("string number integer null".split()),
    references=References.NO_CYCLES,
    has_reference_siblings=False,
    nullable=Nullable.ANY_OF,
    property_names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
)


def _sum_max_items(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    total = 0
    for tool in tools:
        for _, schema in schemas_within(tool.parameters.schema):
            max_items = schema.get("maxItems")
            if isinstance(max_items, int):
                total += max_items
    return {"items in all `maxItems` together": total}


def _build_declaration(rendered: RenderedTool) -> dict[str, Any]:
    form: dict[str, Any] = {
        "name": rendered.name,
        "description": rendered.tool.description,
        "parametersJsonSchema": rendered.parameters.schema,
    }
    if rendered.returns is not None:
        form["responseJsonSchema"] = rendered.returns.schema
    return form


def _build_function_response(answer: Answer) -> dict[str, Any]:
    """Build a `functionResponse` part from the result of a call."""
    parts = [*answer.parts({*IMAGES, PDF})]
    text = "\n".join(part for part in parts if isinstance(part, str))
    output = answer.response.result if answer.is_json else text
    # Gemini's reference defines the keys `output` and `error`.
    key = "output" if answer.response.success else "error"
    function_response: dict[str, Any] = {"name": answer.name, "response": {key: output}}
    if answer.call_id:
        function_response["id"] = answer.call_id
    media = [part for part in parts if isinstance(part, Media)]
    if media:
        function_response["parts"] = [
            {"inlineData": {"mimeType": item.mime_type, "data": item.data}}
            for item in media
        ]
    return {"functionResponse": function_response}


def _build_tool_list(provider_tools: ProviderTools) -> list[dict[str, Any]]:
    """Return the functions as one tool, which in Gemini's API is a list of functions."""
    declarations = [_build_declaration(tool) for tool in provider_tools.rendered]
    return [{"functionDeclarations": declarations}] if declarations else []


GEMINI = ModelProvider(
    name="gemini",
    title="Gemini",
    dialect=_GEMINI,
    returns=_GEMINI,
    names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    accepts=frozenset(["returns"]),
    form=_build_declaration,
    answer=_build_function_response,
    arranged=_build_tool_list,
    budgets=(
        Budget(
            512,
            lambda tools: {"function declarations": len(tools)},
            "its reference: at most 512 function declarations",
        ),
        Budget(
            960,
            _sum_max_items,
            "at risk of `INVALID_ARGUMENT`, measured in googleapis/python-genai#2170",
            False,
        ),
    ),
)
