"""Find schemas for which Letta skips a tool without an error.

Source: `normalize_mcp_schema` and `validate_complete_json_schema` of Letta 0.16.6; a
schema is skipped if the second function rates the result of the first as INVALID.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .stored import normalize_schema

Path = tuple[str | int, ...]
"""The keys and indexes from a schema's root to a value in it."""

_TYPES = frozenset(
    ["string", "number", "integer", "boolean", "null", "array", "object"]
)
_UNIONS = ("anyOf", "oneOf", "allOf")


def list_schema_problems(schema: Mapping[str, Any]) -> list[str]:
    """Return the reasons for which Letta would not register a tool with this schema.

    Each reason begins with its location, such as `root.properties.rows: ...`. The list
    is empty for a schema that Letta accepts.
    """
    return [
        f"{_format_path(path)}: {problem}"
        for path, problem in find_schema_problems(schema)
    ]


def find_schema_problems(schema: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Return the path and the description of each reason to skip the schema.

    The list is empty for a schema that Letta accepts.
    """
    normalized = normalize_schema(schema)
    problems = list(_check_node(normalized, ()))
    if normalized.get("type") != "object":
        problems.insert(0, ((), "the type must be object"))
    return problems


def _format_path(path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "root" + "".join(steps)


def _check_node(node: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    kind = node.get("type")
    # Letta infers a missing `type` from these keywords, and rejects a schema that has
    # none of them.
    if not kind:
        if "properties" in node or "additionalProperties" in node:
            kind = "object"
        elif "items" in node:
            kind = "array"
        elif not any(word in node for word in _UNIONS):
            yield path, "the schema has no `type`"
            return
    if kind == "object":
        yield from _check_object(node, path)
    elif kind == "array":
        items = node.get("items")
        if isinstance(items, Mapping):
            yield from _check_node(items, (*path, "items"))
        else:
            yield path, "the array schema has no `items`"
    elif isinstance(kind, list):
        for type_name in kind:
            if type_name not in _TYPES:
                yield path, f"`{type_name}` is not a JSON Schema type"
    for keyword in _UNIONS:
        if keyword not in node:
            continue
        parts = node[keyword]
        if not isinstance(parts, list):
            yield path, f"`{keyword}` must be an array"
            continue
        for index, part in enumerate(parts):
            if isinstance(part, Mapping):
                yield from _check_node(part, (*path, keyword, index))
            else:
                yield (*path, keyword, index), "the value is not a schema"


def _check_object(node: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    properties = node.get("properties")
    if properties is not None and not isinstance(properties, Mapping):
        yield path, "`properties` must be an object"
        return
    required = node.get("required")
    if required is not None and not isinstance(required, list):
        yield path, "`required` must be an array"
        # The problem is reported; continue with the properties as if none were
        # required.
        required = None
    for name in required or ():
        if not properties:
            continue
        if name not in properties:
            yield path, f"required `{name}` is not a property"
            continue
        property_schema = properties[name]
        if isinstance(property_schema, Mapping) and _can_be_empty(property_schema):
            yield (
                (*path, "properties", name),
                "the required property can be an empty object:"
                " declare required properties, or `additionalProperties`",
            )
    for name, property_schema in (properties or {}).items():
        if isinstance(property_schema, Mapping):
            yield from _check_node(property_schema, (*path, "properties", name))
        else:
            yield (*path, "properties", name), "the value is not a schema"


def _can_be_empty(node: Mapping[str, Any]) -> bool:
    """Return whether the only valid value of a schema is an empty object.

    That is a closed object without required properties.
    """
    return (
        node.get("type") == "object"
        and not node.get("required")
        and node.get("additionalProperties", True) is False
    )
