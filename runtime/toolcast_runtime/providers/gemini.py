"""Tool lists, calls and results in the formats of Gemini.

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


def _max_items(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
    schemas = [one for t in tools for _, one in schemas_within(t.parameters.schema)]
    found = [one.get("maxItems") for one in schemas]
    return {
        "items in all `maxItems` together": sum(n for n in found if isinstance(n, int))
    }


def _gemini_form(rendered: RenderedTool) -> dict[str, Any]:
    form: dict[str, Any] = {
        "name": rendered.name,
        "description": rendered.tool.description,
        "parametersJsonSchema": rendered.parameters.schema,
    }
    if rendered.returns is not None:
        form["responseJsonSchema"] = rendered.returns.schema
    return form


def _gemini_answer(answer: Answer) -> dict[str, Any]:
    """A part; `output` and `error` are the keys that its reference names."""
    parts = [*answer.parts({*IMAGES, PDF})]
    words = "\n".join(one for one in parts if isinstance(one, str))
    output = answer.response.result if answer.is_json else words
    key = "output" if answer.response.success else "error"
    given: dict[str, Any] = {"name": answer.name, "response": {key: output}}
    if answer.call_id:
        given["id"] = answer.call_id
    media = [one for one in parts if isinstance(one, Media)]
    if media:
        given["parts"] = [
            {"inlineData": {"mimeType": one.mime_type, "data": one.data}}
            for one in media
        ]
    return {"functionResponse": given}


def _in_one_tool(listed: ProviderTools) -> list[dict[str, Any]]:
    """Gemini calls a list of functions a tool."""
    declarations = [_gemini_form(rendered) for rendered in listed.rendered]
    return [{"functionDeclarations": declarations}] if declarations else []


GEMINI = ModelProvider(
    name="gemini",
    title="Gemini",
    dialect=_GEMINI,
    returns=_GEMINI,
    names=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    takes=frozenset(["returns"]),
    form=_gemini_form,
    answer=_gemini_answer,
    arranged=_in_one_tool,
    budgets=(
        Budget(
            512,
            lambda tools: {"function declarations": len(tools)},
            "its reference: at most 512 function declarations",
        ),
        Budget(
            960,
            _max_items,
            "at risk of `INVALID_ARGUMENT`, measured in googleapis/python-genai#2170",
            False,
        ),
    ),
)
