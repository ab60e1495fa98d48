"""Texts that become Python's values only in some cases, which no type says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolcast_runtime.values.python_values import PythonValues

from .schema_place import Place

__all__ = ["ConditionalTexts"]

_ALTERNATIVES = ("anyOf", "oneOf")


class ConditionalTexts:
    """Where what `if` and its like say of a value decides whether it is converted.

    Args:
        root: the schema that handlers' values are made by.
    """

    def __init__(self, root: Any) -> None:
        self._values = PythonValues(root)

    def may_be(self, place: Place) -> bool:
        """Whether a value of a place, or one within it, may be such a text."""
        return any(True for _ in self._conditional(place))

    def members(self, place: Place, names: Iterable[str]) -> Iterator[str]:
        """The members of an object that may be, or are by a pattern of their name."""
        own = filter(self._values.is_converting, place.parts)
        schemas: list[Any] = [*own, *self._conditional(place)]
        for name in names if schemas else ():
            named = {id(one[name]) for one in place.values("properties") if name in one}
            if any(
                self._values.is_converting(schema) and id(schema) not in named
                for schema in self._values.for_name(schemas, name)
            ):
                yield name

    def _conditional(self, place: Place) -> Iterator[Mapping[str, Any]]:
        """The schemas that hold for a value in some cases and convert what is in it."""
        waiting: list[Any] = []
        for part in filter(self._values.is_converting, place.parts):
            waiting += _branches(part, place)
        seen = set[int]()
        while waiting:
            schema = waiting.pop()
            if id(schema) in seen or not self._values.is_converting(schema):
                continue
            seen.add(id(schema))
            yield schema
            waiting += [self._values.target(schema.get("$ref"))]
            waiting += [*schema.get("allOf", ()), *_branches(schema, place)]


def _branches(schema: Mapping[str, Any], place: Place) -> Iterator[Any]:
    yield from (schema.get("then"), schema.get("else"))
    for keyword in ("dependentSchemas", "dependencies"):
        yield from schema.get(keyword, {}).values()
    for keyword in _ALTERNATIVES:
        # Those that a type says are parts of the place themselves.
        if (id(schema), keyword) not in place.left:
            yield from schema.get(keyword, ())
