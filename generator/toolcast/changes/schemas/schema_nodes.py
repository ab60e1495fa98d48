"""Two schemas that stand at the same place of the two sides, and what differs there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolcast_runtime.validation.references import REFERENCES

from ...reading.tree import Path
from ..change import ABSENT
from .schema_side import ANNOTATIONS, SchemaSide
from .schema_words import subject_words

__all__ = ["Difference", "Edit", "Node", "Pair", "Place", "Step", "edit_of", "node_at"]

_ALONE = ANNOTATIONS | frozenset(
    (
        "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
        " minLength maxLength pattern minItems maxItems uniqueItems minProperties"
        " maxProperties required dependentRequired propertyNames not"
    ).split()
)
"""The keywords whose meaning depends on no other beside them."""


class Place(NamedTuple):
    """A schema and where it stands.

    Attributes:
        schema: the schema; True where nothing is said.
        path: the way to it from its root.
    """

    schema: Any
    path: Path


class Node(NamedTuple):
    """A schema whose references are followed.

    Attributes:
        values: its keywords, and those of what it refers to.
        path: the way to it, or to what it refers to.
        paths: the way to each keyword that stands elsewhere.
        is_false: whether it refuses everything.
        original: the schema as it stands.
    """

    values: Mapping[str, Any]
    path: Path
    paths: Mapping[str, Path]
    is_false: bool
    original: Any

    def at(self, keyword: str) -> Path:
        """The way to a keyword, whether or not it is there."""
        return self.paths.get(keyword, (*self.path, keyword))

    def get(self, keyword: str) -> Any:
        """A keyword's value; ABSENT without it."""
        return self.values.get(keyword, ABSENT)

    def inner(self, keyword: str, *steps: str | int) -> Place:
        """The schema in a keyword, or one in the list or mapping there; True for none."""
        value = self.values.get(keyword, True)
        for step in steps:
            value = value[step]
        return Place(value, (*self.at(keyword), *steps))


class Edit(NamedTuple):
    """One change made alone, or undone alone.

    Attributes:
        before_path: what the old schema has to change.
        alone: what stands there when this change is the only one; ABSENT for nothing.
        after_path: what the new schema has to change.
        undone: what stands there when this change is not made.
    """

    before_path: Path
    alone: Any
    after_path: Path
    undone: Any


class Pair(NamedTuple):
    """The same place on both sides.

    Attributes:
        before: the old schema.
        after: the new one.
        place: the way to the value, `options.depth`; empty for the whole.
        whole: the whole in words.
        direction: 1 where what the schemas refuse is refused; -1 below `not`; 0 where
            neither is known, as in a condition.
        before_side: the old root.
        after_side: the new root.
    """

    before: Node
    after: Node
    place: str
    whole: str
    direction: int
    before_side: SchemaSide
    after_side: SchemaSide

    @property
    def subject(self) -> str:
        """The place in words."""
        return subject_words(self.place, self.whole)

    def named(self, name: str) -> str:
        """The place of a property."""
        return f"{self.place}.{name}" if self.place else name or '""'


class Step(NamedTuple):
    """A pair of schemas to compare next."""

    before: Place
    after: Place
    place: str
    direction: int


class Difference(NamedTuple):
    """One change of a schema.

    Attributes:
        row: the name of its row.
        path: where it stands now, or where it stood.
        before: the JSON value that was there, or ABSENT.
        after: the JSON value that is there now, or ABSENT.
        message: what has changed.
        edits: what makes it alone.
        pair: where it is.
    """

    row: str
    path: Path
    before: Any
    after: Any
    message: str
    edits: tuple[Edit, ...]
    pair: Pair

    @property
    def key(self) -> tuple[Any, ...]:
        """What is the same for the same change of the same place."""
        return self.row, self.path, repr(self.before), repr(self.after)


def edit_of(pair: Pair, *keywords: str) -> tuple[Edit, ...]:
    """Gives the old schema the new one's keywords, or the reverse."""
    before, after = pair.before, pair.after
    return tuple(
        Edit(before.at(word), after.get(word), after.at(word), before.get(word))
        for word in keywords
    )


def node_at(side: SchemaSide, place: Place) -> Node:
    """A schema with what it refers to, as long as both say it side by side."""
    if not isinstance(place.schema, dict):
        is_false = place.schema is False
        return Node({}, place.path, {}, is_false, place.schema)
    values: dict[str, Any] = {}
    paths: dict[str, Path] = {}
    path = place.path
    for own, own_path, inner in _chain(side, place.schema, path):
        for word, value in own.items():
            if word not in values:
                values[word] = value
                paths[word] = (*own_path, word)
        path = own_path if inner is None else inner
    is_false = False
    if any(word in values for word in REFERENCES):
        target = side.target(values)
        if isinstance(target, bool):
            is_false = not target
            values = {w: v for w, v in values.items() if w not in REFERENCES}
    return Node(values, path, paths, is_false, place.schema)


def _chain(
    side: SchemaSide, schema: dict[str, Any], path: Path
) -> Iterator[tuple[Mapping[str, Any], Path, Path | None]]:
    """A schema, what it refers to, and so on: the keywords of each, and the next path."""
    seen: set[int] = set()
    taken: set[str] = set()
    while id(schema) not in seen:
        seen.add(id(schema))
        inner: Any = side.target(schema)
        inner_path = side.places.get(id(inner)) if isinstance(inner, dict) else None
        words = set(REFERENCES)
        branches = schema.get("allOf")
        if inner is None and isinstance(branches, list) and len(branches) == 1:
            inner, words = branches[0], {"allOf"}
            inner_path = (*path, "allOf", 0) if isinstance(inner, dict) else None
        if inner is None or inner_path is None or id(inner) in seen:
            yield schema, path, None
            return
        own = {word: value for word, value in schema.items() if word not in words}
        is_old_reference = side.is_old and "allOf" not in words
        if is_old_reference:
            own = {word: own[word] for word in own if word in ANNOTATIONS}
        elif not _ALONE.issuperset(own) or not (taken | set(own)).isdisjoint(
            set(_followed(side, inner)) - ANNOTATIONS
        ):
            if words != {"allOf"}:
                target = {word: schema[word] for word in words if word in schema}
                more = branches if isinstance(branches, list) else []
                yield {**own, "allOf": [target, *more]}, path, None
            else:
                yield schema, path, None
            return
        taken |= set(own) - ANNOTATIONS
        yield own, path, inner_path
        schema, path = inner, inner_path


def _followed(side: SchemaSide, schema: Mapping[str, Any]) -> set[str]:
    """The keywords of a schema and of what it refers to."""
    found: set[str] = set()
    seen: set[int] = set()
    here: Any = schema
    while isinstance(here, dict) and id(here) not in seen:
        seen.add(id(here))
        found |= set(here) - set(REFERENCES)
        here = side.target(here)
    return found
