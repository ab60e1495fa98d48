"""Changes of the items of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...change import ABSENT
from ...json_equality import same
from ..schema_side import Conjunction, SchemaSide
from ..schema_words import subject_words, type_words
from ..value_limits import ValueLimits
from .paired_nodes import Difference, Node, Pair, Place, Step, edit_of
from .plain_changes import difference

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
        self.listed = listed

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
        yield Step(old, new, f"{pair.place}[]", pair.direction)
    elif not same(_plain(old.schema), _plain(new.schema)):
        is_tighter = new.schema is False or _plain(old.schema) is True
        row = "items-set" if is_tighter else "items-removed"
        says = "asks something of its items" if is_tighter else "asks less of its items"
        if new.schema is False:
            says = "takes no further items"
        elif old.schema is False:
            says = "takes further items, too"
        item = subject_words(f"{pair.place}[]", pair.whole)
        kinds = type_words(ValueLimits(_side(pair, is_tighter, old, new)).types)
        if kinds not in ("anything", "nothing"):
            tense = "is {} now" if is_tighter else "may be something else than {}"
            text = f"{item} {tense.format(kinds)}"
        else:
            text = f"{pair.subject} {says}"
        has = (
            after if "items" in after.word and _says(pair.after, after.word) else before
        )
        node = pair.after if has is after else pair.before
        yield Difference(
            row,
            node.at(has.word),
            pair.before.get(before.word),
            pair.after.get(after.word),
            text,
            edits,
            pair,
        )
    yield from _contains(pair)


def _side(pair: Pair, is_tighter: bool, old: Place, new: Place) -> Conjunction:
    """What is asked of items on the side that asks for more."""
    if is_tighter:
        return pair.after_side.conjunction(new.schema)
    return pair.before_side.conjunction(old.schema)


def _says(node: Node, word: str) -> bool:
    return node.get(word) is not ABSENT


def _plain(schema: Any) -> Any:
    return True if schema == {} or schema is ABSENT else schema


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
            f"{pair.place}[]",
            0 if bounded else pair.direction,
        )
        return
    is_new = old is ABSENT
    row = "contains-set" if is_new else "contains-removed"
    says = (
        "must contain an item of a kind"
        if is_new
        else "need not contain an item of a kind"
    )
    edits = edit_of(pair, "contains", "minContains", "maxContains")
    yield difference(pair, row, keyword, f"{pair.subject} {says}", edits)
