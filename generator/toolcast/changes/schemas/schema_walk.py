"""Walks through two schemas side by side: places, alternatives, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...json_schema.graph import JsonSchema
from ..change import ABSENT
from ..json_equality import same
from .container_changes import array_changes, object_changes
from .inclusion import Effort, Inclusion
from .keyword_changes import (
    address_changes,
    annotation_changes,
    difference,
    keyword_changes,
    plain_changes,
)
from .normal_forms import normal_form
from .schema_nodes import Difference, Edit, Node, Pair, Place, Step, edit_of, node_at
from .schema_side import ANNOTATIONS, SchemaSide, has_references
from .schema_words import REFUSED, listed, name_words, shown, type_words
from .value_limits import ALL_TYPES, ValueLimits

__all__ = [
    "TooMuchToCompare",
    "branch_changes",
    "differences",
    "hidden_texts",
    "is_alternatives",
]

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
    yield from address_changes(pair)
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
    forms = [
        normal_form(side, node.original)
        for side, node in zip(sides, nodes, strict=True)
    ]
    if forms[0] == forms[1] and sides[0].is_read_like(sides[1]):
        return True
    forward = Inclusion(*sides, effort, only_declared=False)
    backward = Inclusion(*sides[::-1], effort, only_declared=False)
    return forward.is_proved(*parts) and backward.is_proved(*parts[::-1])


def _says(node: Node) -> bool:
    return not ANNOTATIONS.issuperset(node.values)


_CHOICES = ("anyOf", "oneOf")
_NAMES = {"anyOf": "any-of", "oneOf": "one-of"}
_CONDITION = ("if", "then", "else")
_MOST_PAIRED = 20
_MOST_SHOWN = 5
_UNLIKE = -1


def branch_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of them, and the branches to compare next."""
    for keyword in ("allOf", *_CHOICES):
        yield from _branches(pair, keyword)
    yield from _not(pair)
    yield from _condition(pair)


def is_alternatives(node: Node) -> str:
    """The keyword of a schema that is a choice of others and nothing else; or empty."""
    said = [word for word in node.values if word not in ANNOTATIONS]
    return said[0] if len(said) == 1 and said[0] in _CHOICES else ""


def wrapped(pair: Pair) -> Iterator[Difference | Step]:
    """Compares a choice of schemas with the one schema that stands on the other side."""
    keyword = is_alternatives(pair.after)
    is_new = bool(keyword)
    keyword = keyword or is_alternatives(pair.before)
    node, other = (pair.after, pair.before) if is_new else (pair.before, pair.after)
    branches = [node.inner(keyword, i) for i in range(len(node.values[keyword]))]
    single = {w: v for w, v in other.values.items() if w not in ANNOTATIONS}
    place = Place(single, other.path)
    sides = pair.before_side, pair.after_side
    node_side, other_side = (sides[1], sides[0]) if is_new else sides
    scores = [
        _likeness(other_side, single, node_side, branch.schema) for branch in branches
    ]
    best = max(range(len(branches)), key=lambda i: scores[i], default=-1)
    edit = Edit(
        pair.before.path, pair.after.original, pair.after.path, pair.before.original
    )
    if best < 0 or scores[best] == _UNLIKE:
        best = -1
    elif _are_told_apart(other_side, single, node_side, branches, best):
        direction = pair.direction if keyword == "anyOf" else 0
        matched = branches[best]
        both = (place, matched) if is_new else (matched, place)
        yield Step(*both, pair.place, direction)
    else:
        words = [_alternative(node_side, branch.schema) for branch in branches]
        text = f"{pair.subject} must be one of {len(words)} alternatives now: "
        if not is_new:
            text = f"{pair.subject} need not be one of {len(words)} alternatives any more: "
        text += "; ".join(words[:_MOST_SHOWN]) + "; …" * (len(words) > _MOST_SHOWN)
        row = f"{_NAMES[keyword]}-{'set' if is_new else 'removed'}"
        yield difference(pair, row, keyword, text, (edit,))
        return
    others = ValueLimits(other_side.conjunction(single)).types
    for index, branch in enumerate(branches):
        if index != best:
            yield _branch(pair, keyword, branch, edit, is_new, others)


def _are_told_apart(
    side: SchemaSide, single: Any, other: SchemaSide, branches: list[Place], best: int
) -> bool:
    """Whether one alternative is what a single schema was, or what it became.

    It is where no other one has values of the same types, or where it takes all of them.
    """
    sent = side.conjunction(single)
    types = ValueLimits(sent).types
    alike = [
        branch
        for branch in branches
        if types & ValueLimits(other.conjunction(branch.schema)).types
    ]
    if len(alike) < 2:
        return True
    proof = Inclusion(side, other, Effort(_MOST_EFFORT), only_declared=False)
    return proof.is_proved(sent, other.conjunction(branches[best].schema))


def _alternative(side: SchemaSide, schema: Any) -> str:
    """`"latest"`, `text that matches "^v"`."""
    limits = ValueLimits(side.conjunction(schema))
    if limits.values:
        return listed(limits.values)
    patterns = " and ".join(map(shown, limits.all("pattern")))
    return type_words(limits.types) + (f" that matches {patterns}" if patterns else "")


def _branches(pair: Pair, keyword: str) -> Iterator[Difference | Step]:
    old, new = pair.before.get(keyword), pair.after.get(keyword)
    if old is ABSENT and new is ABSENT:
        return
    if keyword != "allOf" and (old is ABSENT or new is ABSENT):
        yield from keyword_changes(pair, keyword)
        return
    olds = [] if old is ABSENT else list(old)
    news = [] if new is ABSENT else list(new)
    pairs = _matched(pair, olds, news)
    direction = 0 if keyword == "oneOf" else pair.direction
    paths = pair.before.at(keyword), pair.after.at(keyword)
    for one, other in pairs.items():
        before = Place(olds[one], (*paths[0], one))
        after = Place(news[other], (*paths[1], other))
        yield Step(before, after, pair.place, direction)
    others = _types(pair.after_side, news)
    for index, branch in enumerate(olds):
        if index not in pairs:
            without = olds[:index] + olds[index + 1 :] or ABSENT
            edit = Edit(paths[0], without, paths[1], [*news, branch])
            place = Place(branch, (*paths[0], index))
            yield _branch(pair, keyword, place, edit, False, others)
    others = _types(pair.before_side, olds)
    for index, branch in enumerate(news):
        if index not in pairs.values():
            without = news[:index] + news[index + 1 :] or ABSENT
            edit = Edit(paths[0], [*olds, branch], paths[1], without)
            place = Place(branch, (*paths[1], index))
            yield _branch(pair, keyword, place, edit, True, others)


def _branch(
    pair: Pair,
    keyword: str,
    branch: Place,
    edit: Edit,
    is_new: bool,
    others: frozenset[str],
) -> Difference:
    """A branch that only one side has; `others` are the types of all of the other side."""
    side = pair.after_side if is_new else pair.before_side
    types = ValueLimits(side.conjunction(branch.schema)).types
    what = "" if types == ALL_TYPES else f" ({type_words(types)})"
    title = branch.schema.get("title") if isinstance(branch.schema, dict) else None
    if isinstance(title, str):
        what = f" ({name_words(title)})"
    if keyword == "allOf":
        row = f"all-of-{'added' if is_new else 'removed'}"
        says = f"must match one {'more schema' if is_new else 'schema less'}{what}"
    else:
        row = f"{_NAMES[keyword]}-branch-{'added' if is_new else 'removed'}"
        says = f"has one {'more alternative' if is_new else 'alternative less'}{what}"
        if what and types and types.isdisjoint(others):
            kinds = type_words(types)
            says = f"may be {kinds}, too" if is_new else f"cannot be {kinds} any more"
    values = (ABSENT, branch.schema) if is_new else (branch.schema, ABSENT)
    text = f"{pair.subject} {says}"
    return Difference(row, branch.path, *values, text, (edit,), pair)


def _types(side: SchemaSide, branches: list[Any]) -> frozenset[str]:
    """The types that any of the branches takes."""
    found: frozenset[str] = frozenset()
    for branch in branches[:_MOST_PAIRED]:
        found |= ValueLimits(side.conjunction(branch)).types
    return found


def _matched(pair: Pair, olds: list[Any], news: list[Any]) -> dict[int, int]:
    """Which branch became which: the equal ones first, then those that are most alike."""
    found: dict[int, int] = {}
    left = set(range(len(news)))
    for index, branch in enumerate(olds):
        equal = next((i for i in sorted(left) if same(branch, news[i])), None)
        if equal is not None:
            found[index] = equal
            left.discard(equal)
    open_ = [index for index in range(len(olds)) if index not in found]
    if len(open_) * len(left) > _MOST_PAIRED**2:
        # Too many to try each with each: what stands at the same place may be the same.
        return found | {index: index for index in open_ if index in left}
    scores = sorted(
        (
            -_likeness(pair.before_side, olds[one], pair.after_side, news[other]),
            one,
            other,
        )
        for one in open_
        for other in left
    )
    for score, one, other in scores:
        if score <= 0 and one not in found and other in left:
            found[one] = other
            left.discard(other)
    return found


def _likeness(
    one_side: SchemaSide, one: Any, other_side: SchemaSide, other: Any
) -> int:
    """How much two branches have in common; below zero for nothing."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return _UNLIKE
    parts = [one_side.conjunction(one), other_side.conjunction(other)]
    limits = [ValueLimits(part) for part in parts]
    if not limits[0].types & limits[1].types:
        return _UNLIKE
    score: int = 5 * (one.get("$ref", 0) == other.get("$ref", 1))
    score += 5 * (one.get("title", 0) == other.get("title", 1))
    score += limits[0].types == limits[1].types
    told = [_properties(part) for part in limits]
    for name in told[0].keys() & told[1].keys():
        values = [
            ValueLimits(side.conjunction(properties[name])).values
            for side, properties in zip((one_side, other_side), told, strict=True)
        ]
        if values[0] is not None and values[1] is not None:
            shared = any(same(a, b) for a in values[0][:50] for b in values[1][:50])
            score += 3 if shared else -20
        else:
            score += 1
    return max(score, _UNLIKE)


def _properties(limits: ValueLimits) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for properties in limits.all("properties"):
        found.update(properties)
    return found


def _not(pair: Pair) -> Iterator[Difference | Step]:
    old, new = pair.before.get("not"), pair.after.get("not")
    if old is ABSENT and new is ABSENT:
        return
    if old is not ABSENT and new is not ABSENT:
        before, after = pair.before.inner("not"), pair.after.inner("not")
        yield Step(before, after, pair.place + REFUSED, -pair.direction)
        return
    yield from keyword_changes(pair, "not")


def _condition(pair: Pair) -> Iterator[Difference | Step]:
    nodes = (pair.before, pair.after)
    old, new = (_says_something(node) for node in nodes)
    if not old and not new:
        return
    edits = edit_of(pair, *_CONDITION)
    if old != new:
        row = "condition-set" if new else "condition-removed"
        says = "has a condition now" if new else "has a condition less"
        yield difference(pair, row, "if", f"{pair.subject} {says}", edits)
        return
    if not same(pair.before.get("if"), pair.after.get("if")):
        text = f"{pair.subject} has another condition"
        yield difference(pair, "condition-changed", "if", text, edits)
    for keyword in ("then", "else"):
        before, after = (node.inner(keyword) for node in nodes)
        yield Step(before, after, pair.place, pair.direction)


def _says_something(node: Node) -> bool:
    return "if" in node.values and ("then" in node.values or "else" in node.values)


def hidden_texts(
    before: SchemaSide, after: SchemaSide, changes: Sequence[Difference], whole: str
) -> Iterator[Difference]:
    """The descriptions that are new, and that no change tells.

    One beside a `$ref` stands before that of what it names, of a shared definition for
    one. The schema that a model is shown has both.

    Args:
        changes: what is told already.
        whole: what a value of the schemas is, in words.
    """
    old = JsonSchema(before.root).subschemas
    known = [schema.get("description") for schema in old.values()]
    told = {change.path for change in changes}
    for path, schema in JsonSchema(after.root).subschemas.items():
        text = schema.get("description")
        if path not in old or not isinstance(text, str) or text in known:
            continue
        place = (*path, "description")
        if any(place[:length] in told for length in range(1, len(place) + 1)):
            continue
        was = old[path].get("description", ABSENT)
        row = "description-set" if was is ABSENT else "description-changed"
        name = f"`{path[-1]}`" if path else whole
        message = f"the description of {name}, which another one hides, is new"
        one, other = (node_at(side, Place(side.root, ())) for side in (before, after))
        pair = Pair(one, other, "", whole, 1, before, after)
        yield Difference(row, place, was, text, message, (), pair)
