"""Conversion of Gemini's own schemas to JSON Schema."""

from __future__ import annotations

from typing import Any

from toolcast_runtime.providers.combined_schemas import make_nullable
from toolcast_runtime.providers.dialect import Nullable

_SCHEMA_KEYS = frozenset(["items", "additionalProperties"])
_SCHEMA_LIST_KEYS = frozenset(["anyOf", "prefixItems"])
_SCHEMA_OBJECT_KEYS = frozenset(["properties", "defs", "$defs"])


def convert_gemini_schema(schema: Any) -> Any:
    """Return a schema whose nullable subschemas have the type `null` instead of `nullable`.

    `format: enum`, which repeats that the schema has an `enum`, is removed.
    """
    if not isinstance(schema, dict):
        return schema
    converted: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _SCHEMA_KEYS:
            value = convert_gemini_schema(value)
        elif key in _SCHEMA_LIST_KEYS and isinstance(value, list):
            value = [convert_gemini_schema(item) for item in value]
        elif key in _SCHEMA_OBJECT_KEYS and isinstance(value, dict):
            value = {name: convert_gemini_schema(item) for name, item in value.items()}
        if key != "nullable" and (key, value) != ("format", "enum"):
            converted[key] = value
    if schema.get("nullable") is True:
        return make_nullable(converted, Nullable.ANY)
    return converted
