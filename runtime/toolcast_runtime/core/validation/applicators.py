"""The keywords of JSON Schema that hold schemas.

JSON Schema 2020-12, core, section 10 (https://json-schema.org/draft/2020-12), with
`dependencies`, `definitions` and `additionalItems` of the drafts before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

IN_PLACE = frozenset(
    "not if then else allOf anyOf oneOf dependentSchemas dependencies".split()
)
"""Those whose schemas are for the same value, but for references."""

_LISTED = frozenset("allOf anyOf oneOf prefixItems".split())
_NAMED = frozenset(
    (
        "properties patternProperties $defs definitions dependentSchemas"
        " dependencies"
    ).split()
)
# Of each row at most one schema applies to one inner value.
_DISJOINT = (
    ("properties", "additionalProperties"),
    ("prefixItems", "items", "additionalItems"),
)
_BESIDES = (
    "patternProperties",
    "propertyNames",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
)
_HOLDING = frozenset(
    [*IN_PLACE, *_LISTED, *_NAMED, *_DISJOINT[0], *_DISJOINT[1], *_BESIDES]
).union(["contentSchema"])

Step = str | int


def held_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """The schemas that a schema holds, each with the steps to it, in their order.

    What stands where a schema belongs is among them, whatever it is.
    """
    for keyword in schema:
        if keyword in _HOLDING:
            yield from _held(schema, keyword)


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas within one that a value of it may be checked against as well.

    All but that of `not`, which says what the value must not be, and of references.
    """
    for keyword in schema:
        if keyword in IN_PLACE and keyword != "not":
            yield from inner_schemas(schema, keyword)


def inner_schemas(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """The schemas that a keyword holds: one, a list of them, or some by name."""
    return [inner for _, inner in _held(schema, keyword)] if keyword in schema else []


def schemas_below(schema: Mapping[str, Any]) -> tuple[list[list[Any]], list[Any]]:
    """The schemas for the values within one.

    Returns:
        Groups of which one schema at most applies to each, and those that apply besides.
    """
    groups = [
        [p for keyword in row for p in inner_schemas(schema, keyword)]
        for row in _DISJOINT
    ]
    return groups, [p for keyword in _BESIDES for p in inner_schemas(schema, keyword)]


def _held(
    schema: Mapping[str, Any], keyword: str
) -> Iterator[tuple[tuple[Step, ...], Any]]:
    value = schema[keyword]
    if keyword in _NAMED:
        for name in value if isinstance(value, Mapping) else ():
            yield (keyword, name), value[name]
    elif isinstance(value, (list, tuple)) and keyword in (*_LISTED, "items"):
        for index, inner in enumerate(value):
            yield (keyword, index), inner
    elif keyword not in _LISTED:
        yield (keyword,), value
