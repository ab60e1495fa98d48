"""Tool lists and results in the formats of Gemini.

Sources: the types of the package `google-genai` 3.4 (`FunctionDeclaration`, and the keywords that
`GenerateContentConfig.response_json_schema` lists), Google's page on function calling, and the
messages of its errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.validation.references import walk_objects
from .dialect import has_larger_integer
from .dialect_table import build_dialect
from .model_provider import (
    Budget,
    ModelProvider,
    ProviderTools,
    RenderedTool,
    schemas_within,
)
from .tool_results import IMAGES, PDF, Answer, Media


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
    """Build a `functionResponse` part; the result is JSON if possible, otherwise text."""
    parts = [*answer.parts({*IMAGES, PDF})]
    text = "\n".join(part for part in parts if isinstance(part, str))
    value = answer.response.result
    output = value if answer.is_json and _keeps_value(value) else text
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


def _keeps_value(value: Any) -> bool:
    """Return whether a JSON result reaches the model unchanged; otherwise it is sent as text.

    Gemini rejects `$ref` keys that do not name a part (vercel/ai#14369), and rounds integers
    beyond 2^53 - 1, because a number of `google.protobuf.Struct` is a double.
    """
    has_reference = any("$ref" in part for part in walk_objects(value))
    return not has_reference and not has_larger_integer(value, 2**53 - 1)


def _build_tool_list(provider_tools: ProviderTools) -> list[dict[str, Any]]:
    """Return one Gemini tool that contains all functions; an empty list without tools."""
    declarations = [_build_declaration(tool) for tool in provider_tools.rendered]
    return [{"functionDeclarations": declarations}] if declarations else []


GEMINI = ModelProvider(
    name="gemini",
    title="Gemini",
    dialect=build_dialect("gemini"),
    returns=build_dialect("gemini"),
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
