"""Changes of the items of an array."""

from __future__ import annotations

from collections.abc import Iterator

from ...change import ABSENT
from ...json_equality import same
from ..schema_side import SchemaSide
from ..schema_words import ITEMS, subject_words, type_words
from ..value_limits import ValueLimits
from .keyword_changes import keyword_changes, plain
from .paired_nodes import Difference, Edit, Node, Pair, Place, Step, edit_of

__all__ = ["array_changes"]

_ITEMS = ("prefixItems", "items", "additionalItems")


class _Items:
    """The items that a node speaks of, and where."""

    def __init__(self, node: Node, side: SchemaSide) -> None:
        first, rest = side.positions(node.values)
        listed = "items" if isinstance(node.get("items"), list) else "prefixItems"
        others = "additionalItems" if listed == "items" else "items"
        self.first = [
            Place(schema, (*node.at(listed), index))
            for index, schema in enumerate(first)
        ]
        self.rest = Place(rest, node.at(others))
        self.word = others

    def at(self, index: int) -> Place:
        """The schema of one item."""
        return self.first[index] if index < len(self.first) else self.rest


def array_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of an array, and the schemas of its items to compare next."""
    before = _Items(pair.before, pair.before_side)
    after = _Items(pair.after, pair.after_side)
    edits = edit_of(pair, *_ITEMS)
    for index in range(max(len(before.first), len(after.first))):
        old, new = before.at(index), after.at(index)
        if index < min(len(before.first), len(after.first)):
            yield Step(old, new, f"{pair.place}[{index}]", pair.direction)
            continue
        is_new = index >= len(before.first)
        row = f"prefix-item-{'added' if is_new else 'removed'}"
        says = "has a schema of its own now" if is_new else "is like all others now"
        text = f"{subject_words(f'{pair.place}[{index}]', pair.whole)} {says}"
        values = (ABSENT, new.schema) if is_new else (old.schema, ABSENT)
        path = (new if is_new else old).path
        yield Difference(row, path, *values, text, edits, pair)
    old, new = before.rest, after.rest
    if isinstance(old.schema, dict) and isinstance(new.schema, dict):
        yield Step(old, new, pair.place + ITEMS, pair.direction)
    elif not same(plain(old.schema), plain(new.schema)):
        yield _others(pair, before, after, edits)
    yield from _contains(pair)


def _others(
    pair: Pair, before: _Items, after: _Items, edits: tuple[Edit, ...]
) -> Difference:
    """Items of which one side says nothing, or that it refuses."""
    old, new = before.rest.schema, after.rest.schema
    is_tighter = new is False or plain(old) is True
    side, asked = (pair.after_side, new) if is_tighter else (pair.before_side, old)
    kinds = type_words(ValueLimits(side.conjunction(asked)).types)
    item = subject_words(pair.place + ITEMS, pair.whole)
    if new is False or old is False:
        text = f"{pair.subject} takes {'no ' * (new is False)}further items"
        text += ", too" if old is False else ""
    elif kinds == "anything":
        text = (
            f"{pair.subject} asks {'something' if is_tighter else 'less'} of its items"
        )
    elif is_tighter:
        text = f"{item} is {kinds} now"
    else:
        text = f"{item} may be something else than {kinds}"
    node, word = pair.before, before.word
    if pair.after.get(after.word) is not ABSENT:
        node, word = pair.after, after.word
    return Difference(
        "items-set" if is_tighter else "items-removed",
        node.at(word),
        pair.before.get(before.word),
        pair.after.get(after.word),
        text,
        edits,
        pair,
    )


def _contains(pair: Pair) -> Iterator[Difference | Step]:
    keyword = "contains"
    old, new = pair.before.get(keyword), pair.after.get(keyword)
    if old is ABSENT and new is ABSENT:
        return
    if old is not ABSENT and new is not ABSENT:
        bounded = any(
            "maxContains" in node.values or node.get("minContains") == 0
            for node in (pair.before, pair.after)
        )
        yield Step(
            pair.before.inner(keyword),
            pair.after.inner(keyword),
            pair.place + ITEMS,
            0 if bounded else pair.direction,
        )
        return
    edits = edit_of(pair, "contains", "minContains", "maxContains")
    yield from keyword_changes(pair, keyword, edits)
