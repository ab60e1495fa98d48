"""The keywords of JSON Schema that hold schemas for the same value.

JSON Schema 2020-12, core, section 10.2 (https://json-schema.org/draft/2020-12), with
`dependencies` of the drafts before 2019-09.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["in_place", "inner_schemas"]

_IN_PLACE = "if then else allOf anyOf oneOf dependentSchemas dependencies".split()
_LISTED = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED = frozenset(
    ("properties", "patternProperties", "dependentSchemas", "dependencies")
)


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas within one that a value of it may be checked against as well.

    All but that of `not`, which says what the value must not be, and of references.
    """
    for keyword in _IN_PLACE:
        yield from inner_schemas(schema, keyword)


def inner_schemas(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """The schemas that a keyword holds: one, a list of them, or some by name."""
    if keyword not in schema:
        return []
    value = schema[keyword]
    if keyword in _NAMED:
        return list(value.values()) if isinstance(value, Mapping) else []
    if isinstance(value, (list, tuple)):
        return list(value)
    return [] if keyword in _LISTED else [value]
