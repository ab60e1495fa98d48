"""Checks a JSON Schema against the schema of its dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..reading.tree import Path
from ..suggestions import constraint, did_you_mean, kind_of, kinds, quoted_list
from .dialects import metaschema
from .graph import JsonSchema
from .refusals import Refusal, refusals

__all__ = ["SchemaProblem", "problems_with_schema"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

SchemaProblem = tuple[Path, str, str]
"""The path of a value in the schema, what is wrong with it, and what to do."""


def problems_with_schema(schema: JsonSchema) -> Iterator[SchemaProblem]:
    """The problems of a schema by the metaschema of its dialect; none for an unknown one."""
    if schema.dialect is None:
        return
    if schema.is_valid:
        for path in schema.wrong_addresses:
            help_ = "remove it: a tool's schema needs no address"
            yield path, f"`{path[-1]}` is not an address (a URI reference)", help_
        return
    validator = metaschema(schema.dialect)
    seen: set[Path] = set()
    for start in ((), *schema.named):
        whole = "what a `$ref` names" if start else "the schema"
        for refusal in map(_nearest, refusals(validator, schema.at(start))):
            path = (*start, *refusal.path)
            if path not in seen:
                seen.add(path)
                yield (path, *_worded(refusal, whole))


def _nearest(refusal: Refusal) -> Refusal:
    """The deepest refusal inside of an `anyOf`, where that is more precise."""
    while refusal.within:
        deepest = max(refusal.within, key=lambda inner: len(inner.path))
        if len(deepest.path) == len(refusal.path):
            break
        refusal = deepest
    return refusal


def _worded(refusal: Refusal, whole: str) -> tuple[str, str]:
    path, value, keyword = refusal.path, refusal.value, refusal.keyword
    name = f"`{path[-1]}`" if path else whole
    if path and isinstance(path[-1], int) and len(path) > 1:
        name = f"an entry of `{path[-2]}`"
    if path and (path[-1] == "type" or path[-2:-1] == ("type",)):
        if isinstance(value, str):
            meant = did_you_mean(value, TYPES) or f"the types are {quoted_list(TYPES)}"
            return f"`{value[:40]}` is no type of JSON Schema", meant
        return f"{name} must be a type or a list of different types", ""
    if keyword == "type":
        wanted = kinds(refusal.expected)
        return f"{name} must be {wanted}, not {kind_of(value)}", _old_limit(path, value)
    if keyword in ("anyOf", "oneOf"):
        return f"{name} cannot be {kind_of(value)}", ""
    if keyword == "uniqueItems":
        return f"{name} names something twice", "remove one of the two"
    return f"{name} {constraint(keyword, refusal.expected)}", ""


def _old_limit(path: Path, value: Any) -> str:
    if path[-1:] in (("exclusiveMinimum",), ("exclusiveMaximum",)) and value is True:
        limit = str(path[-1]).removeprefix("exclusive").lower()
        return f"give `{path[-1]}` the number itself, and remove `{limit}`"
    if path[-1:] == ("required",) and isinstance(value, bool):
        return "list the names in `required` of the object that has the properties"
    return ""
