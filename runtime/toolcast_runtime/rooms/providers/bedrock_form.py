"""Bedrock's form: tools of the Converse API, loose and strict.

Sources: the service model `bedrock-runtime` of the package `botocore` 1.44 (`ToolSpecification`),
and AWS's page on structured outputs. The schema is handed to the model behind Bedrock; the
dialect is that of Anthropic's models, the narrowest of those that take tools there, and so are the
limits: usestrix/strix#1050 quotes the one of 20 strict tools, BerriAI/litellm#34388 the grammar's.
"""

from __future__ import annotations

from typing import Any

from .anthropic_form import LOOSE, STRICT, STRICT_BUDGETS, TOOL_NAMES, too_much
from .model_provider import ModelProvider, RenderedTool
from .tool_answers import IMAGES, Answer, Media


def _form(rendered: RenderedTool) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": rendered.name}
    if rendered.tool.description:  # An empty one is refused: `NonEmptyString`.
        spec["description"] = rendered.tool.description
    spec["inputSchema"] = {"json": rendered.parameters.schema}
    if rendered.is_strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def _answer(answer: Answer) -> dict[str, Any]:
    result: dict[str, Any] = {"toolUseId": answer.call_id}
    value = answer.response.result
    if answer.is_json and isinstance(value, dict):  # It takes no other JSON.
        result["content"] = [{"json": value}]
    else:
        result["content"] = [_block(part) for part in answer.parts(IMAGES) if part]
    if not answer.response.success:  # Not every model takes `success`.
        result["status"] = "error"
    return {"toolResult": result}


def _block(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    kind = part.mime_type.removeprefix("image/")
    return {"image": {"format": kind, "source": {"bytes": part.data}}}


BEDROCK = ModelProvider(
    name="bedrock",
    title="Bedrock Converse",
    dialect=LOOSE,
    strict=STRICT,
    names=TOOL_NAMES,
    is_strict_by_name=True,
    form=_form,
    answer=_answer,
    budgets=STRICT_BUDGETS,
    refuses=too_much,
)
