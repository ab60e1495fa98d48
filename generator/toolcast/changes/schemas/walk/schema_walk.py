"""Walks through two schemas side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcast_runtime.validation.references import REFERENCES

from ...json_equality import same
from ..proof.effort import Effort
from ..proof.inclusion import Inclusion
from ..schema_side import ANNOTATIONS, SchemaSide, has_references
from .array_changes import array_changes
from .branch_changes import branch_changes, is_alternatives, wrapped
from .keyword_changes import annotation_changes, difference
from .object_changes import object_changes
from .paired_nodes import Difference, Node, Pair, Place, Step, edit_of, node_at
from .plain_changes import plain_changes

__all__ = ["TooMuchToCompare", "differences"]

_MOST_PAIRS = 1_200
_MOST_EFFORT = 250
_COMBINING = frozenset(("allOf", "anyOf", "oneOf", "not", "if"))


class TooMuchToCompare(Exception):
    """The schemas have more places than are compared."""


def differences(before: SchemaSide, after: SchemaSide, whole: str) -> list[Difference]:
    """What differs between two schemas, in the order of the new one.

    Args:
        before: the old schema.
        after: the new one.
        whole: what a value of them is, in words.

    Raises:
        TooMuchToCompare: they are too large, or their references lead to too many pairs.
    """
    found: list[Difference] = []
    seen: set[tuple[Any, ...]] = set()
    told: set[tuple[Any, ...]] = set()
    effort = Effort(_MOST_EFFORT)
    kept: list[Pair] = []  # so that no identity comes twice
    waiting = [Step(Place(before.root, ()), Place(after.root, ()), "", 1)]
    shares = not before.has_references and not after.has_references
    while waiting:
        step = waiting.pop()
        old, new = step.before.schema, step.after.schema
        key = (*_key(step.before), *_key(step.after), step.direction)
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > _MOST_PAIRS:
            raise TooMuchToCompare
        if (shares or not has_references(old)) and same(old, new):
            continue
        pair = Pair(
            node_at(before, step.before),
            node_at(after, step.after),
            step.place,
            whole,
            step.direction,
            before,
            after,
        )
        kept.append(pair)
        inner: list[Step] = []
        for one in _of_pair(pair, effort):
            if isinstance(one, Step):
                inner.append(one)
            elif one.key not in told:
                # What two places refer to is told once.
                told.add(one.key)
                found.append(one)
        waiting += reversed(inner)
    return found


def _key(place: Place) -> tuple[Any, ...]:
    # Plain truth values are everywhere the same object.
    return (id(place.schema),) if isinstance(place.schema, dict) else place.path


def _of_pair(pair: Pair, effort: Effort) -> Iterator[Difference | Step]:
    yield from annotation_changes(pair)
    yield from _references(pair)
    if not pair.before.path and not pair.after.path:
        yield from _dialect(pair)
    if _says_the_same(pair):
        return
    if _is_written_anew(pair, effort):
        # What the branches tell may be another text.
        yield from (one for one in branch_changes(pair) if isinstance(one, Step))
        return
    one, other = is_alternatives(pair.before), is_alternatives(pair.after)
    if bool(one) != bool(other) and _says(pair.before) and _says(pair.after):
        yield from wrapped(pair)
        return
    yield from plain_changes(pair)
    if pair.before.is_false or pair.after.is_false:
        return
    yield from object_changes(pair)
    yield from array_changes(pair)
    yield from branch_changes(pair)


def _says_the_same(pair: Pair) -> bool:
    """Whether only texts and the like differ, which is most often so."""
    before, after = pair.before, pair.after
    if before.is_false != after.is_false:
        return False
    return all(
        same(before.get(word), after.get(word)) and not has_references(before.get(word))
        for word in before.values.keys() | after.values.keys()
        if word not in ANNOTATIONS
    )


def _is_written_anew(pair: Pair, effort: Effort) -> bool:
    """Whether alternatives and the like say the same in another way."""
    nodes = pair.before, pair.after
    words = [_COMBINING & node.values.keys() for node in nodes]
    if not words[0] and not words[1]:
        return False
    sides = pair.before_side, pair.after_side
    parts = [
        side.conjunction(node.original) for side, node in zip(sides, nodes, strict=True)
    ]
    forward = Inclusion(*sides, effort, only_declared=False)
    backward = Inclusion(*sides[::-1], effort, only_declared=False)
    return forward.is_proved(*parts) and backward.is_proved(*parts[::-1])


def _says(node: Node) -> bool:
    return not ANNOTATIONS.issuperset(node.values)


def _references(pair: Pair) -> Iterator[Difference]:
    """References that lead nowhere that is known."""
    for keyword in REFERENCES:
        if not same(pair.before.get(keyword), pair.after.get(keyword)):
            text = f"the reference of {pair.subject} leads elsewhere"
            yield difference(pair, "reference-changed", keyword, text)


def _dialect(pair: Pair) -> Iterator[Difference]:
    keyword = "$schema"
    old, new = pair.before.values.get(keyword), pair.after.values.get(keyword)
    names = {"": "2020-12 (as none is named)"}
    if _dialect_name(old) != _dialect_name(new):
        words = [names.get(str(one or ""), f"`{one}`") for one in (new, old)]
        text = (
            f"the schema of {pair.subject} is of {words[0]} now, it was of {words[1]}"
        )
        edits = edit_of(pair, keyword)
        yield difference(pair, "dialect-changed", keyword, text, edits)


def _dialect_name(address: Any) -> str:
    from ....json_schema.dialects import dialect_of

    return str(dialect_of({} if address is None else {"$schema": address}))
