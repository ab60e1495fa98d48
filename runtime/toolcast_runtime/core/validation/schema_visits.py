"""How often a validator may look at one place of a value, by its schema alone.

A validator decides in bounded time, but whoever asks it for all that is wrong gets an error
for each way that leads to it. Alternatives, conditions and overlapping patterns lead to one
place several times; with references these ways multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .applicators import inner_schemas, schemas_below
from .references import References

MOST_WAYS = 100_000
"""More ways to one place than this, and deciding on a value may not end."""

_MOST_STEPS = 20_000


class _TooMany(Exception):
    """More ways than anyone wants to follow."""


def most_visits(schema: Any, levels: int, most: int) -> int | None:
    """A bound on the ways to one place of a value of so many levels; None above `most`."""
    try:
        return _Counter(schema, most).visits(schema, levels)
    except (_TooMany, RecursionError):
        return None


def multiplies(schema: Any, most: int = MOST_WAYS) -> bool:
    """Whether more than `most` ways lead to one place of a value, at one level.

    References that alternatives share multiply: seventeen definitions that name the next
    one twice make 131,072 ways, and a validator goes them all. Recursion through the levels
    of a value is no such way, nor is a reference that leads nowhere.
    """
    counter = _Counter(schema, most)
    waiting = [schema]
    try:
        while waiting:
            part = waiting.pop()
            if isinstance(part, (list, tuple)):
                waiting.extend(part)
            elif isinstance(part, Mapping):
                if counter.ways(part) > most:
                    return True
                waiting.extend(part.values())
    except RecursionError:
        return True
    return False


class _Counter:
    def __init__(self, root: Any, most: int) -> None:
        self._references = References(root)
        self._most = most
        self._known: dict[tuple[int, int], int] = {}
        self._ways: dict[int, int] = {}

    def ways(self, schema: Any) -> int:
        """The ways to the place of a schema from itself; loops are not followed again."""
        if not isinstance(schema, Mapping):
            return 1
        if id(schema) not in self._ways:
            self._ways[id(schema)] = 0
            try:
                parts = list(self._same_place(schema))
            except _TooMany:
                parts = []
            ways = 1 + sum(self.ways(part) for part in parts)
            self._ways[id(schema)] = min(ways, self._most + 1)
        return self._ways[id(schema)]

    def visits(self, schema: Any, levels: int) -> int:
        """The ways to the place that is reached most often, this place counted in."""
        if not isinstance(schema, Mapping) or levels <= 0:
            return 1
        key = (id(schema), levels)
        if key not in self._known:
            if len(self._known) > _MOST_STEPS:
                raise _TooMany
            # A schema that comes back to itself at one place has no bound.
            self._known[key] = self._most + 1
            self._known[key] = self._counted(schema, levels)
        if self._known[key] > self._most:
            raise _TooMany
        return self._known[key]

    def _counted(self, schema: Mapping[str, Any], levels: int) -> int:
        here = 1 + sum(self.visits(part, levels) for part in self._same_place(schema))
        groups, besides = schemas_below(schema)
        below = [[self.visits(part, levels - 1) for part in g] for g in groups]
        most = max((max(group, default=0) for group in below), default=0)
        return here + most + sum(self.visits(part, levels - 1) for part in besides)

    def _same_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        try:
            yield from self._references.same_value(schema)
        except LookupError:
            raise _TooMany from None
        yield from inner_schemas(schema, "not")
