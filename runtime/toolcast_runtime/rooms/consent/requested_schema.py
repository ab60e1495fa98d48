"""Which forms a client can show: what MCP allows in an elicitation, in both eras.

Source: MCP 2026-07-28, client/elicitation: `PrimitiveSchemaDefinition`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ...core.validation.checker import Checker

_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_TITLED = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["const", "title"],
        "additionalProperties": False,
        "properties": {"const": {"type": "string"}, "title": {"type": "string"}},
    },
}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}


def _field(kind: str | list[str], required: tuple[str, ...] = (), **more: Any) -> Any:
    types = [kind] if isinstance(kind, str) else kind
    words = {"title": {"type": "string"}, "description": {"type": "string"}}
    return {
        "type": "object",
        "required": ["type", *required],
        "additionalProperties": False,
        "properties": {"type": {"enum": types}, **words, **more},
    }


def _chosen(**items: Any) -> Any:
    return {
        "type": "object",
        "required": [*items],
        "additionalProperties": False,
        "properties": items,
    }


_SOME: dict[str, Any] = {
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "default": {"type": "array"},
}
_ONE: dict[str, Any] = {"default": {"type": "string"}}
_FIELDS = [
    _field("boolean", default={"type": "boolean"}),
    _field(["number", "integer"], minimum=_NUMBER, maximum=_NUMBER, default=_NUMBER),
    _field(
        "string",
        minLength=_COUNT,
        maxLength=_COUNT,
        format={"enum": ["email", "uri", "date", "date-time"]},
        **_ONE,
    ),
    _field("string", ("enum",), enum=_TEXTS, enumNames=_TEXTS, **_ONE),
    _field("string", ("oneOf",), oneOf=_TITLED, **_ONE),
    _field(
        "array",
        ("items",),
        items={
            "anyOf": [
                _chosen(type={"const": "string"}, enum=_TEXTS),
                _chosen(anyOf=_TITLED),
            ]
        },
        **_SOME,
    ),
]
_FORM = {
    "type": "object",
    "required": ["type", "properties"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "type": {"const": "object"},
        "properties": {
            "type": "object",
            "additionalProperties": {"anyOf": _FIELDS},
        },
        "required": {"type": "array", "items": {"type": "string"}},
    },
}


def problems_with_form(schema: Mapping[str, Any]) -> list[str]:
    """Why no client can show a form of this schema; empty when each can."""
    return _checker().problems(schema)


@cache
def _checker() -> Checker:
    return Checker(_FORM)
