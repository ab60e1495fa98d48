"""OpenAI's forms: functions of Chat Completions and of Responses, loose and strict.

Sources: the OpenAPI description of OpenAI's API as the package `openai` 3.54 types it, OpenAI's
guides to function calling, structured outputs and tool search, and the messages of its errors.
"""

from __future__ import annotations

import re
from typing import Any

from .model_provider import ModelProvider, RenderedTool
from .schemas.dialect import Dialect, Nullable, Patterns, References

__all__ = ["CHAT"]

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
_STRICT = Dialect(
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
    patterns=Patterns.SIMPLE,
    enum_types=frozenset("string number integer boolean null".split()),
    references=References.KEPT,
    has_reference_siblings=False,
    nullable=Nullable.ANY,
    is_closed=True,
    is_required_whole=True,
    needs_items=True,
)


def _chat(rendered: RenderedTool) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": rendered.name,
        "description": rendered.tool.description,
        "parameters": rendered.parameters.schema,
    }
    if rendered.is_strict:
        function["strict"] = True
    return {"type": "function", "function": function}


CHAT = ModelProvider(
    name="openai-chat",
    title="OpenAI Chat Completions",
    dialect=_LOOSE,
    strict=_STRICT,
    names=_NAMES,
    form=_chat,
)
