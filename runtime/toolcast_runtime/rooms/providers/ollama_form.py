"""Ollama's form: functions of `/api/chat`, as its Python client lets them through.

Source: the class `Tool` of the package `ollama` 0.6. What it has no field for it drops in
silence: of the parameters all but `type`, `required` and `properties`, of each of these all but
`type`, `items`, `description` and `enum`. Items may have any schema.
"""

from __future__ import annotations

from typing import Any

from .dialect import Dialect, Nullable, References
from .model_provider import ModelProvider, RenderedTool
from .tool_answers import Answer

_DIALECT = Dialect(
    source="the fields of the class `Tool` of the package `ollama`",
    keywords=frozenset("type description properties required items enum".split()),
    lost_at_root=frozenset(["description", "items", "enum"]),
    lost_of_parameters=frozenset(["properties", "required"]),
    references=References.INLINED,
    nullable=Nullable.TYPE_LIST,
)


def _form(rendered: RenderedTool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": rendered.name,
            "description": rendered.tool.description,
            "parameters": rendered.parameters.schema,
        },
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "tool_name": answer.name, "content": answer.text()}


OLLAMA = ModelProvider(
    name="ollama", title="Ollama", dialect=_DIALECT, form=_form, answer=_answer
)
