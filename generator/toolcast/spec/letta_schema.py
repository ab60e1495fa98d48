"""Which parameters' schemas a Letta server leaves out in silence.

Source: `functions/schema_validator.py` and `normalize_mcp_schema` of letta 0.16.6, the same in
0.16.8. A tool whose schema is INVALID there is skipped by the sync, and no answer says so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from ..reading.tree import Path

__all__ = ["skipped_because"]

_UNIONS = ("anyOf", "oneOf", "allOf")
_TYPES = frozenset(
    ["string", "number", "integer", "boolean", "null", "array", "object"]
)


def skipped_because(parameters: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """The places of a schema for which Letta skips the tool, each with what it is."""
    schema = copy.deepcopy(dict(parameters))
    definitions = schema.get("$defs")
    definitions = definitions if isinstance(definitions, dict) else {}
    for definition in definitions.values():
        if isinstance(definition, dict):
            _normalize(definition, definitions)
    _normalize(schema, definitions)
    problems: list[tuple[Path, str]] = []
    if schema.get("type") != "object":
        problems.append(((), "the schema's `type` is not `object`"))
    problems += _problems(schema)
    return problems


def _normalize(schema: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """Closes objects and writes the types of references, where Letta does."""
    if schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    properties = schema.get("properties")
    for value in properties.values() if isinstance(properties, dict) else ():
        if not isinstance(value, dict):
            continue
        if "$ref" in value:
            _write_type(value, definitions)
            continue
        if value.get("type") == "object":
            _normalize(value, definitions)
        items = value.get("items")
        if value.get("type") == "array" and isinstance(items, dict):
            if "$ref" in items:
                _write_type(items, definitions)
            if items.get("type") == "object":
                _normalize(items, definitions)
        options = value.get("anyOf")
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict):
                if "$ref" in option:
                    _write_type(option, definitions)
                if option.get("type") == "object":
                    _normalize(option, definitions)
    items = schema.get("items")
    if isinstance(items, dict) and items.get("type") == "object":
        _normalize(items, definitions)


def _write_type(schema: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    if "type" in schema:
        return
    reference = schema["$ref"]
    name = reference.rpartition("/")[2] if isinstance(reference, str) else ""
    target = definitions.get(name)
    known = target.get("type") if isinstance(target, dict) else None
    schema["type"] = known or "object"


def _problems(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    todo: list[tuple[Path, dict[str, Any]]] = [((), schema)]
    while todo:
        path, node = todo.pop()
        kind = node.get("type")
        if not kind:
            if "properties" in node or "additionalProperties" in node:
                kind = "object"
            elif "items" in node:
                kind = "array"
            elif not any(word in node for word in _UNIONS):
                yield path, "it has no `type`"
                continue
        inner: list[tuple[Path, Any]] = []
        if kind == "object":
            yield from _object_problems(path, node)
            properties = node.get("properties")
            if isinstance(properties, dict):
                inner += [
                    ((*path, "properties", name), value)
                    for name, value in properties.items()
                ]
        elif kind == "array":
            items = node.get("items")
            if isinstance(items, dict):
                inner.append(((*path, "items"), items))
            else:
                yield path, "it is an array without `items`"
        elif isinstance(kind, list):
            for word in kind:
                if word not in _TYPES:
                    yield (*path, "type"), f"`{word}` is no type"
        for word in _UNIONS:
            options = node.get(word)
            if isinstance(options, list):
                inner += [
                    ((*path, word, index), value) for index, value in enumerate(options)
                ]
            elif word in node:
                yield (*path, word), f"`{word}` is no list"
        for place, value in inner:
            if isinstance(value, dict):
                todo.append((place, value))
            else:
                yield place, "it is true or false instead of a schema"


def _object_problems(path: Path, node: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    properties = node.get("properties")
    if properties is None or not isinstance(properties, dict) or not properties:
        return
    required = node.get("required")
    for name in required if isinstance(required, list) else ():
        schema = properties.get(name)
        if name not in properties:
            yield path, f"`{name}` is required and no property"
        elif not isinstance(schema, dict):
            continue
        elif (
            schema.get("type") == "object"
            and not schema.get("required")
            and schema.get("additionalProperties", True) is False
        ):
            place = (*path, "properties", name)
            yield place, "it is required and may be an empty object"
