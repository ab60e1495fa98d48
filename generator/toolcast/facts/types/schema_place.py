"""A place of a schema: all the schemas that hold for one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Place"]


class Place(NamedTuple):
    """A schema and where it stands.

    Attributes:
        parts: the schemas that all hold for a value: the one that stands there, those that
            it refers to, and those of `allOf`.
        depth: how many objects and arrays are around it.
        words: what a class for it is called after.
        left: the combined keywords that were followed already, by the id of their schema.
    """

    parts: tuple[Mapping[str, Any], ...]
    depth: int
    words: tuple[str, ...]
    left: frozenset[tuple[int, str]] = frozenset()

    @property
    def key(self) -> tuple[Any, ...]:
        return (tuple(map(id, self.parts)), self.left)

    @property
    def first(self) -> Mapping[str, Any]:
        """The schema that stands there, for what is noted of it as a whole."""
        return self.parts[0] if self.parts else {}

    def values(self, keyword: str) -> Iterator[Any]:
        """The values of a keyword, in all parts that have it."""
        return (part[keyword] for part in self.parts if keyword in part)
