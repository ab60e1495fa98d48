"""Walks through two schemas side by side: places, alternatives, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...json_schema.graph import JsonSchema
from ..change import ABSENT, build_json_key, is_equal_json
from .container_changes import array_changes, object_changes
from .inclusion import Effort, Inclusion, accept_the_same
from .keyword_changes import (
    address_changes,
    annotation_changes,
    keyword_changes,
    plain_changes,
    row_of,
    value_changes,
)
from .schema_pairs import (
    ONE_OF,
    REFUSED,
    Difference,
    Edit,
    Node,
    Pair,
    Place,
    Step,
    listed,
    name_words,
    pair_at,
    shown,
    type_words,
    whole_pair,
    whole_step,
)
from .schema_version import ANNOTATIONS, SchemaSide, has_references
from .value_limits import ALL_TYPES, ValueLimits

_MAX_PAIRS = 1_200
"""Pairs of schema locations that one comparison visits."""
_MAX_STEPS = 250
"""Steps of one inclusion proof during the comparison."""
_OF_VALUES = ANNOTATIONS | {"type", "const", "enum"}
_COMBINING = frozenset(("allOf", "anyOf", "oneOf", "not", "if"))


class SchemaTooLargeError(Exception):
    """Schemas with more pairs of locations than the comparison allows."""


def differences(before: SchemaSide, after: SchemaSide, whole: str) -> list[Difference]:
    """What differs between two schemas, in the order of the new one.

    Args:
        before: the old schema.
        after: the new one.
        whole: what a value of them is, in words.

    Raises:
        SchemaTooLargeError: they are too large, or their references lead to too many pairs.
    """
    found: list[Difference] = []
    seen: set[tuple[Any, ...]] = set()
    told: set[tuple[Any, ...]] = set()
    effort = Effort(_MAX_STEPS)
    kept: list[Pair] = []  # so that no identity comes twice
    waiting = [whole_step(before, after)]
    shares = not before.has_references and not after.has_references
    while waiting:
        step = waiting.pop()
        old, new = step.before.schema, step.after.schema
        key = (*_key(step.before), *_key(step.after), step.direction)
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > _MAX_PAIRS:
            raise SchemaTooLargeError
        if (shares or not has_references(old)) and is_equal_json(old, new):
            continue
        pair = pair_at(step, before, after, whole)
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
    before, after = pair.nodes
    yield from annotation_changes(pair)
    yield from address_changes(pair)
    if _is_written_anew(pair, effort):
        # What the branches tell may be another text.
        yield from (one for one in _branch_changes(pair) if isinstance(one, Step))
        return
    are_choices = [bool(_choice(node)) for node in pair.nodes]
    says_nothing = any(ANNOTATIONS.issuperset(node.values) for node in pair.nodes)
    if are_choices[0] != are_choices[1] and not says_nothing:
        yield from _wrapped(pair)
        return
    yield from plain_changes(pair)
    if before.is_false or after.is_false:
        return
    yield from object_changes(pair)
    yield from array_changes(pair)
    yield from _branch_changes(pair)


def _is_written_anew(pair: Pair, effort: Effort) -> bool:
    """Whether alternatives and the like say the same in another way."""
    if all(_COMBINING.isdisjoint(node.values) for node in pair.nodes):
        return False
    schemas = pair.before.original, pair.after.original
    return accept_the_same(pair.sides, schemas, effort)


_CHOICES = ("anyOf", "oneOf")
_MAX_BRANCHES = 20
"""Alternatives of each version that are all compared with each other."""
_MAX_SHOWN_BRANCHES = 5
"""Alternatives that a message quotes."""
_UNLIKE = -1


def _branch_changes(pair: Pair) -> Iterator[Difference | Step]:
    """What has changed of alternatives and conditions, and the branches to compare next."""
    for keyword in ("allOf", *_CHOICES):
        yield from _branches(pair, keyword)
    if ABSENT in pair.values("not"):
        yield from keyword_changes(pair, "not")
    else:
        yield pair.inner("not", place=pair.location + REFUSED, turn=-1)
    yield from _condition(pair)


def _choice(node: Node) -> str:
    """The keyword of a schema that is a choice of others and nothing else; or empty."""
    said = [word for word in node.values if word not in ANNOTATIONS]
    return said[0] if len(said) == 1 and said[0] in _CHOICES else ""


def _wrapped(pair: Pair) -> Iterator[Difference | Step]:
    """Compares a choice of schemas with the one schema that stands on the other side."""
    keyword = _choice(pair.after)
    is_new = bool(keyword)
    keyword = keyword or _choice(pair.before)
    node, other = pair.nodes[is_new], pair.nodes[not is_new]
    node_side, other_side = pair.sides[is_new], pair.sides[not is_new]
    branches = [node.inner(keyword, i) for i in range(len(node.values[keyword]))]
    single = {w: v for w, v in other.values.items() if w not in ANNOTATIONS}
    scores = [
        _likeness(other_side, single, node_side, branch.schema) for branch in branches
    ]
    best = max(range(len(branches)), key=lambda i: scores[i], default=-1)
    if best < 0 or scores[best] == _UNLIKE:
        best = -1
    elif _are_told_apart(other_side, single, node_side, branches, best):
        both = Place(single, other.path), branches[best]
        direction = pair.direction if keyword == "anyOf" else 0
        yield Step(*(both if is_new else both[::-1]), pair.location, direction)
    else:
        words = [_alternative(node_side, branch.schema) for branch in branches]
        text = f"must be one of {len(words)} alternatives now: "
        if not is_new:
            text = f"no longer has to be one of {len(words)} alternatives: "
        text += "; ".join(words[:_MAX_SHOWN_BRANCHES]) + "; …" * (
            len(words) > _MAX_SHOWN_BRANCHES
        )
        row = f"{row_of(keyword)}-{'set' if is_new else 'removed'}"
        made = pair.difference(row, keyword, (pair.whole_edit,))
        yield made._replace(message=f"{pair.subject} {text}")
        return
    others = ValueLimits(other_side.conjunction(single)).types
    for index, branch in enumerate(branches):
        if index != best:
            yield _branch(pair, keyword, branch, pair.whole_edit, is_new, others)


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
    proof = Inclusion(side, other, Effort(_MAX_STEPS), only_declared=False)
    return proof.is_proved(sent, other.conjunction(branches[best].schema))


def _alternative(side: SchemaSide, schema: Any) -> str:
    """`"latest"`, `text that matches "^v"`."""
    limits = ValueLimits(side.conjunction(schema))
    if limits.values:
        return listed(limits.values)
    patterns = " and ".join(map(shown, limits.all("pattern")))
    return type_words(limits.types) + (f" that matches {patterns}" if patterns else "")


def _branches(pair: Pair, keyword: str) -> Iterator[Difference | Step]:
    values = pair.values(keyword)
    if keyword != "allOf" and ABSENT in values:
        yield from keyword_changes(pair, keyword)
        return
    olds, news = (node.sequence(keyword) for node in pair.nodes)
    old, new = (_values(*one) for one in zip(pair.sides, (olds, news), strict=True))
    if keyword != "allOf" and old is not None and new is not None:
        yield from _other_values(pair, keyword, old, new)
        return
    pairs = _matched(pair, olds, news)
    for one, other in pairs.items():
        yield Step(
            pair.before.inner(keyword, one),
            pair.after.inner(keyword, other),
            pair.location
            + ONE_OF * (keyword != "allOf" and _is_one_of(pair, news, other)),
            0 if keyword == "oneOf" else pair.direction,
        )
    paths = [node.at(keyword) for node in pair.nodes]
    for is_new, own, others in ((False, olds, news), (True, news, olds)):
        types = _types(pair.sides[not is_new], others)
        known = [*pairs.values()] if is_new else [*pairs]
        for index, branch in enumerate(own):
            if index not in known:
                less = own[:index] + own[index + 1 :] or ABSENT
                both = (
                    ([*others, branch], less) if is_new else (less, [*others, branch])
                )
                edit = Edit(paths[0], both[0], paths[1], both[1])
                place = Place(branch, (*paths[is_new], index))
                yield _branch(pair, keyword, place, edit, is_new, types)


def _is_one_of(pair: Pair, branches: list[Any], index: int) -> bool:
    """Whether other alternatives have values of the types of one, too."""
    others = _types(pair.after_side, branches[:index] + branches[index + 1 :])
    return not others.isdisjoint(_types(pair.after_side, [branches[index]]))


def _values(side: SchemaSide, branches: list[Any]) -> list[list[Any]] | None:
    """The values of each of some alternatives; None where one asks for anything else."""
    found: list[list[Any]] = []
    for branch in branches:
        if not isinstance(branch, dict) or not branch.keys() <= _OF_VALUES:
            return None
        limits = ValueLimits(side.conjunction(branch))
        values = [None] if limits.types == {"null"} else limits.values
        if values is None:
            return None
        found.append(values)
    return found


def _other_values(
    pair: Pair, keyword: str, old: list[list[Any]], new: list[list[Any]]
) -> Iterator[Difference | Step]:
    """What has changed of alternatives that are values, and those to compare next."""
    there = {build_json_key(values): index for index, values in enumerate(new)}
    for index, values in enumerate(old):
        if build_json_key(values) in there:
            now = there[build_json_key(values)]
            both = pair.before.inner(keyword, index), pair.after.inner(keyword, now)
            yield Step(*both, pair.location, pair.direction)
    paths = [node.at(keyword) for node in pair.nodes]

    def edits(alone: list[Any], undone: list[Any]) -> tuple[Edit, ...]:
        return (Edit(paths[0], [{"enum": alone}], paths[1], [{"enum": undone}]),)

    flat = [[value for values in side for value in values] for side in (old, new)]
    yield from value_changes(pair, keyword, flat[0], flat[1], edits)


def _branch(
    pair: Pair,
    keyword: str,
    branch: Place,
    edit: Edit,
    is_new: bool,
    others: frozenset[str],
) -> Difference:
    """A branch that only one side has; `others` are the types of all of the other side."""
    types = ValueLimits(pair.sides[is_new].conjunction(branch.schema)).types
    kinds = type_words(types)
    what = "" if types == ALL_TYPES else f" ({kinds})"
    title = branch.schema.get("title") if isinstance(branch.schema, dict) else None
    if isinstance(title, str):
        what = f" ({name_words(title)})"
    of = "all-of" if keyword == "allOf" else f"{row_of(keyword)}-branch"
    row = f"{of}-{'added' if is_new else 'removed'}"
    values = (ABSENT, branch.schema) if is_new else (branch.schema, ABSENT)
    made = pair.told(row, branch.path, values, (edit,), what=what)
    if keyword != "allOf" and what and types and types.isdisjoint(others):
        says = f"can now be {kinds}" if is_new else f"can no longer be {kinds}"
        made = made._replace(message=f"{pair.subject} {says}")
    return made


def _types(side: SchemaSide, branches: list[Any]) -> frozenset[str]:
    """The types that any of the branches takes."""
    found: frozenset[str] = frozenset()
    for branch in branches[:_MAX_BRANCHES]:
        found |= ValueLimits(side.conjunction(branch)).types
    return found


def _matched(pair: Pair, olds: list[Any], news: list[Any]) -> dict[int, int]:
    """Which branch became which: the equal ones first, then those that are most alike."""
    found: dict[int, int] = {}
    left = set(range(len(news)))
    for index, branch in enumerate(olds):
        equal = next((i for i in sorted(left) if is_equal_json(branch, news[i])), None)
        if equal is not None:
            found[index] = equal
            left.discard(equal)
    open_ = [index for index in range(len(olds)) if index not in found]
    if len(open_) * len(left) > _MAX_BRANCHES**2:
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
            shared = any(
                is_equal_json(a, b) for a in values[0][:50] for b in values[1][:50]
            )
            score += 3 if shared else -20
        else:
            score += 1
    return max(score, _UNLIKE)


def _properties(limits: ValueLimits) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for properties in limits.all("properties"):
        found.update(properties)
    return found


def _condition(pair: Pair) -> Iterator[Difference | Step]:
    old, new = (_says_something(node) for node in pair.nodes)
    if not old and not new:
        return
    edits = pair.edits("if", "then", "else")
    if old != new:
        row = "condition-set" if new else "condition-removed"
        yield pair.difference(row, "if", edits)
        return
    if not is_equal_json(*pair.values("if")):
        yield pair.difference("condition-changed", "if", edits)
    for keyword in ("then", "else"):
        yield pair.inner(keyword)


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
        pair = whole_pair(before, after, whole)
        yield Difference(row, place, was, text, message, (), pair)
