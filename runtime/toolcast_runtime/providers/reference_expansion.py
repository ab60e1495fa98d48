"""Replacement of `$ref` in a schema by its target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..core.validation.references import walk_objects
from .combined_schemas import InexactError, merge_schemas
from .dialect import HELD, LISTED, NAMED
from .schema_parts import SchemaParts

_MAX_REFERENCES = 50
"""Maximum number of references that are followed one after another."""
_MAX_SCHEMAS = 50
"""Maximum number of subschemas of one schema whose references are replaced."""


def expand_reference(parts: SchemaParts, member: Any) -> Any:
    """Return an alternative merged with the target of its reference.

    Follows up to `_MAX_REFERENCES` references. An alternative without a reference, or whose target
    is missing or cannot be merged, keeps its remaining keywords.
    """
    if not isinstance(member, Mapping):
        return member
    schema = parts.upgrade(member)
    with suppress(LookupError, InexactError):
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema.get("$ref"), str):
                break
            target = parts.resolve(schema["$ref"])
            if not isinstance(target, Mapping):
                break
            siblings = {key: value for key, value in schema.items() if key != "$ref"}
            schema = merge_schemas(siblings, parts.upgrade(target))
    return schema


def expand_references(parts: SchemaParts, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with all references in it replaced by their targets.

    Raises:
        LookupError: a reference cannot be replaced, or there are too many.
    """
    expanded: dict[str, Any] = _expand(parts, schema, iter(range(_MAX_SCHEMAS)))
    return expanded


def _expand(parts: SchemaParts, schema: Any, counter: Iterator[int]) -> Any:
    """Return a schema with all references replaced by their targets.

    Raises:
        LookupError: a reference cannot be replaced, or the counter is exhausted.
    """
    if not any("$ref" in part for part in walk_objects(schema)):
        return schema
    expanded = expand_reference(parts, schema)
    if next(counter, None) is None or "$ref" in expanded:
        raise LookupError
    result: dict[str, Any] = {}
    for key, value in expanded.items():
        if key in NAMED:
            value = {name: _expand(parts, v, counter) for name, v in value.items()}
        elif key in LISTED:
            value = [_expand(parts, item, counter) for item in value]
        elif key in HELD:
            value = _expand(parts, value, counter)
        result[key] = value
    return result
