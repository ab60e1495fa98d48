"""Which schemas Letta skips in silence.

Source: `normalize_mcp_schema` and `validate_complete_json_schema` of Letta 0.16.6, as far as
the second says INVALID of what the first gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .stored import normalized

Path = tuple[str | int, ...]
"""The keys and indexes from a schema's root to a place in it."""

_TYPES = frozenset(
    ["string", "number", "integer", "boolean", "null", "array", "object"]
)
_UNIONS = ("anyOf", "oneOf", "allOf")


def schema_problems(schema: Mapping[str, Any]) -> list[str]:
    """Why Letta would not register a tool with this input schema; empty when it would.

    Each problem begins with the path to it: `root.properties.rows: ...`.
    """
    return [
        f"{_shown(path)}: {problem}" for path, problem in schema_problem_places(schema)
    ]


def schema_problem_places(schema: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """The same, each with its path apart."""
    seen = normalized(schema)
    problems = list(_visit(seen, ()))
    if seen.get("type") != "object":
        problems.insert(0, ((), "the type must be object"))
    return problems


def _shown(path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "root" + "".join(steps)


def _visit(node: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    kind = node.get("type")
    if not kind:
        if "properties" in node or "additionalProperties" in node:
            kind = "object"
        elif "items" in node:
            kind = "array"
        elif not any(word in node for word in _UNIONS):
            yield path, "no type"
            return
    if kind == "object":
        yield from _object(node, path)
    elif kind == "array":
        items = node.get("items")
        if isinstance(items, Mapping):
            yield from _visit(items, (*path, "items"))
        else:
            yield path, "an array without `items`"
    elif isinstance(kind, list):
        for one in kind:
            if one not in _TYPES:
                yield path, f"`{one}` is no type"
    for word in _UNIONS:
        if word not in node:
            continue
        parts = node[word]
        if not isinstance(parts, list):
            yield path, f"`{word}` must be a list"
            continue
        for index, part in enumerate(parts):
            if isinstance(part, Mapping):
                yield from _visit(part, (*path, word, index))
            else:
                yield (*path, word, index), "no schema"


def _object(node: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    properties = node.get("properties")
    if properties is not None and not isinstance(properties, Mapping):
        yield path, "`properties` must be a mapping"
        return
    required = node.get("required")
    if required is not None and not isinstance(required, list):
        yield path, "`required` must be a list"
        required = None
    for name in required or ():
        if not properties:
            continue
        if name not in properties:
            yield path, f"required `{name}` is not a property"
            continue
        inner = properties[name]
        if isinstance(inner, Mapping) and _may_be_empty(inner):
            yield (
                (*path, "properties", name),
                "required, and an object that may be empty:"
                " give it required properties, or `additionalProperties`",
            )
    for name, inner in (properties or {}).items():
        if isinstance(inner, Mapping):
            yield from _visit(inner, (*path, "properties", name))
        else:
            yield (*path, "properties", name), "no schema"


def _may_be_empty(node: Mapping[str, Any]) -> bool:
    """Whether it is a closed object without required properties."""
    return (
        node.get("type") == "object"
        and not node.get("required")
        and node.get("additionalProperties", True) is False
    )
