"""Two schemas at the same place of the two sides, what differs there, and words for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.references import REFERENCES

from ...parsing.tree import Path
from ...suggestions import TYPE_LABELS, format_list
from ..change import ABSENT
from .schema_rules import SAYS
from .schema_version import ANNOTATIONS, SchemaSide
from .value_limits import Bound

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

    def mapping(self, keyword: str) -> Mapping[str, Any]:
        """A keyword's value where it is a mapping; else an empty one."""
        value = self.values.get(keyword)
        return value if isinstance(value, Mapping) else {}

    def sequence(self, keyword: str) -> list[Any]:
        """A keyword's value where it is a list; else an empty one."""
        value = self.values.get(keyword)
        return value if isinstance(value, list) else []

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
    location: str
    whole: str
    direction: int
    before_side: SchemaSide
    after_side: SchemaSide

    @property
    def nodes(self) -> tuple[Node, Node]:
        """Both schemas."""
        return self.before, self.after

    @property
    def sides(self) -> tuple[SchemaSide, SchemaSide]:
        """Both roots."""
        return self.before_side, self.after_side

    @property
    def subject(self) -> str:
        """The place in words."""
        return subject_words(self.location, self.whole)

    def named(self, name: str) -> str:
        """The place of a property."""
        return f"{self.location}.{name}" if self.location else name or '""'

    def values(self, keyword: str) -> tuple[Any, Any]:
        """What both have under a keyword; ABSENT without it."""
        return self.before.get(keyword), self.after.get(keyword)

    def inner(
        self, keyword: str, *steps: str | int, place: str | None = None, turn: int = 1
    ) -> Step:
        """The schemas in a keyword of both, to compare next.

        Args:
            keyword: the keyword.
            steps: the way to them in the list or mapping there.
            place: where their values are; where those of the pair are by default.
            turn: -1 where what they refuse is taken, 0 where neither is known.
        """
        return Step(
            self.before.inner(keyword, *steps),
            self.after.inner(keyword, *steps),
            self.location if place is None else place,
            self.direction * turn,
        )

    def edits(self, *keywords: str) -> tuple[Edit, ...]:
        """Gives the old schema the new one's keywords, or the reverse."""
        before, after = self.nodes
        return tuple(
            Edit(before.at(word), after.get(word), after.at(word), before.get(word))
            for word in keywords
        )

    @property
    def whole_edit(self) -> Edit:
        """Puts one schema in the place of the other."""
        before, after = self.nodes
        return Edit(before.path, after.original, after.path, before.original)

    def told(
        self,
        row: str,
        path: Path,
        values: tuple[Any, Any],
        edits: tuple[Edit, ...],
        **words: str,
    ) -> Difference:
        """A change here, in the words of its row."""
        text = SAYS[row].format(**{"subject": self.subject, **words})
        return Difference(row, path, *values, text, edits, self)

    def difference(
        self,
        row: str,
        keyword: str,
        edits: tuple[Edit, ...] | None = None,
        **words: str,
    ) -> Difference:
        """A change of one keyword's value."""
        values = self.values(keyword)
        path = self.nodes[values[1] is not ABSENT].at(keyword)
        made = self.edits(keyword) if edits is None else edits
        return self.told(row, path, values, made, **words)

    def entry(
        self, row: str, keyword: str, key: str, *more: Edit, **words: str
    ) -> Difference:
        """A change of what a keyword's mapping has under a key."""
        paths = [(*node.at(keyword), key) for node in self.nodes]
        mappings = [node.mapping(keyword) for node in self.nodes]
        old, new = (mapping.get(key, ABSENT) for mapping in mappings)
        edits = (Edit(paths[0], new, paths[1], old), *more)
        return self.told(row, paths[new is not ABSENT], (old, new), edits, **words)


class Step(NamedTuple):
    """A pair of schemas to compare next."""

    before: Place
    after: Place
    location: str
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


def whole_step(before: SchemaSide, after: SchemaSide) -> Step:
    """Two whole schemas, to be compared."""
    return Step(Place(before.root, ()), Place(after.root, ()), "", 1)


def pair_at(step: Step, before: SchemaSide, after: SchemaSide, whole: str) -> Pair:
    """Both schemas of a step, with what they refer to."""
    nodes = _node_at(before, step.before), _node_at(after, step.after)
    return Pair(*nodes, step.location, whole, step.direction, before, after)


def whole_pair(before: SchemaSide, after: SchemaSide, whole: str) -> Pair:
    """Likewise, for two whole schemas."""
    return pair_at(whole_step(before, after), before, after, whole)


def _node_at(side: SchemaSide, place: Place) -> Node:
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
        if side.is_old and "allOf" not in words:
            own = {word: own[word] for word in own if word in ANNOTATIONS}
        taken |= set(own) - ANNOTATIONS
        if not _ALONE.issuperset(own) or not taken.isdisjoint(inner):
            # What they say is not side by side: what is referred to is a branch.
            if words != {"allOf"}:
                target = {word: schema[word] for word in words if word in schema}
                more = branches if isinstance(branches, list) else []
                own = {**own, "allOf": [target, *more]}
            else:
                own = schema
            yield own, path, None
            return
        yield own, path, inner_path
        schema, path = inner, inner_path


# No name of a property that a person would write has it.
_MARK = "\0"
ITEMS, OTHERS, NAMES, REFUSED, ONE_OF = (
    _MARK + end for end in ("[]", "{}", "()", "!", "|")
)
"""What stands behind a place for its items, its other values, its names, what it is not, and
what one of several alternatives says of it."""

_OF = {
    ITEMS: "each item of {}",
    OTHERS: "each other value of {}",
    NAMES: "each name in {}",
    REFUSED: "what {} may not be",
}
_MAX_SHOWN_CHARACTERS = 100
"""Characters of a value in a message."""
_MAX_LISTED_VALUES = 5
"""Values that a message lists."""
_COUNTED = {
    "Length": ("character", "characters"),
    "Items": ("item", "items"),
    "Properties": ("property", "properties"),
    "Contains": ("item that matches `contains`", "items that match `contains`"),
}
_ORDER = ("string", "integer", "fraction", "boolean", "array", "object", "null")


def shown(value: Any, most: int = _MAX_SHOWN_CHARACTERS) -> str:
    """A value as JSON in backticks, cut where it is long.

    Backticks inside of it become apostrophes, so that those around it stay a pair.
    """
    text = json.dumps(value, ensure_ascii=False).replace("`", "'")
    return f"`{text}`" if len(text) <= most else f"`{text[: most - 1]}…`"


def listed(values: Iterable[Any], last: str = "and") -> str:
    """`"a"`, `"b"` and 3 others.

    Args:
        last: what stands before the last one where none is left out.
    """
    every = list(values)
    if not every:
        return "no values"
    texts = [shown(value, 60) for value in every[:_MAX_LISTED_VALUES]]
    left = len(every) - len(texts)
    if left:
        return f"{', '.join(texts)} and {left} other{'s' if left > 1 else ''}"
    return format_list(texts, last)


def name_words(place: str) -> str:
    """A name in backticks; those inside of it become apostrophes, what is unseen an escape."""
    if ONE_OF in place:
        return f"{name_words(place.replace(ONE_OF, ''))} in one alternative"
    name = place.replace(_MARK, "")
    if not name or not name.isprintable():
        return f"`{json.dumps(name).replace('`', chr(39))}`"
    return f"`{name.replace('`', chr(39))}`"


def subject_words(place: str, whole: str) -> str:
    """What a change is about: a parameter, the items of one, or the whole."""
    for ending, words in _OF.items():
        if place.endswith(ending):
            return words.format(subject_words(place[: -len(ending)], whole))
    if place == ONE_OF:
        return f"{whole} in one alternative"
    return name_words(place) if place else whole


def type_words(types: frozenset[str]) -> str:
    """`text or null`."""
    if types == frozenset(_ORDER):
        return "anything"
    if not types:
        return "nothing"
    words = {**TYPE_LABELS, "fraction": "a fraction"}
    if types >= {"integer", "fraction"}:
        words["integer"] = TYPE_LABELS["number"]
        types -= {"fraction"}
    return " or ".join(words[one] for one in _ORDER if one in types)


def number_words(keyword: str, bound: Bound) -> str:
    """`at most 100`, `above 0`."""
    if keyword == "maximum":
        return f"{'below' if bound.is_open else 'at most'} {bound.value}"
    return f"{'above' if bound.is_open else 'at least'} {bound.value}"


def limit_words(keyword: str, number: Any) -> str:
    """`at most 10 items`."""
    end = "at most" if keyword.startswith("max") else "at least"
    return f"{end} {number} {_COUNTED[keyword[3:]][number != 1]}"
