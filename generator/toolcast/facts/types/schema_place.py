"""A place of a schema: all the schemas that hold for one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Place", "tag_of"]

_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")


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

    @property
    def kinds(self) -> list[str]:
        """The kinds of value that every `type` allows; empty when there is none."""
        allowed: list[set[str]] = []
        order: list[str] = []
        for value in self.values("type"):
            kinds = [value] if isinstance(value, str) else value
            if not isinstance(kinds, list):
                continue
            named = [kind for kind in kinds if isinstance(kind, str) and kind in _KINDS]
            order += [kind for kind in named if kind not in order]
            # A whole number is a number.
            allowed.append({*named, *(["integer"] if "number" in named else [])})
        if not allowed:
            return []
        both = set.intersection(*allowed)
        if "number" in both:
            both.discard("integer")
        found = [kind for kind in order if kind in both]
        return found + sorted(both.difference(found))


def tag_of(member: Any) -> str:
    """The text that tells a member of a union from the others, for the name of its class."""
    properties = member.get("properties") if isinstance(member, dict) else None
    if not isinstance(properties, dict):
        return ""
    for schema in properties.values():
        if isinstance(schema, dict) and isinstance(schema.get("const"), str):
            return str(schema["const"])
    return ""
