"""Changes of keywords: what is told only, types, listed values, limits, patterns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from toolcast_runtime.validation.references import REFERENCES

from ...json_schema.dialects import dialect_of
from ..change import ABSENT
from ..json_equality import key_of, same
from .schema_nodes import Difference, Edit, Node, Pair, edit_of
from .schema_rules import KEYWORDS
from .schema_words import (
    limit_words,
    listed,
    name_words,
    number_words,
    shown,
    type_words,
)
from .value_limits import ValueLimits, type_of, types_of

__all__ = [
    "address_changes",
    "annotation_changes",
    "difference",
    "keyword_changes",
    "plain",
    "plain_changes",
]

# The name of the rule, and what is said of a subject where the keyword comes, goes, changes.
_WORDS: dict[str, tuple[str, ...]] = {
    "multipleOf": (
        "multiple-of",
        "{} must be a multiple of {new} now",
        "{} need not be a multiple of {old} any more",
        "{} must be a multiple of {new} now, it was {old}",
    ),
    "pattern": (
        "pattern",
        "{} must match {new} now",
        "{} need not match {old} any more",
        "{} must match {new} now, it was {old}",
    ),
    "uniqueItems": (
        "unique-items",
        "{} may not have an item twice any more",
        "{} may have an item twice",
    ),
    "contains": (
        "contains",
        "{} must contain an item of a kind",
        "{} need not contain an item of a kind",
    ),
    "not": (
        "not",
        "{} may not match a schema",
        "{} may match a schema that it could not",
    ),
    "anyOf": (
        "any-of",
        "{} must match any of some schemas now",
        "{} need not match one of some schemas any more",
    ),
    "oneOf": (
        "one-of",
        "{} must match one of some schemas now",
        "{} need not match one of some schemas any more",
    ),
    "deprecated": ("deprecated", "{} is deprecated", "{} is deprecated no more"),
    "readOnly": ("read-only", "{} is read-only", "{} is read-only no more"),
    "writeOnly": ("write-only", "{} is write-only", "{} is write-only no more"),
    "examples": (
        "examples",
        "{} has examples now",
        "the examples of {} are gone: {old}",
        "the examples of {} are others now",
    ),
}
_TOLD = {
    "title": "title",
    "description": "description",
    "default": "default",
    "format": "format",
    "contentEncoding": "content encoding",
    "contentMediaType": "content media type",
    "contentSchema": "content schema",
    "$comment": "comment",
}
_FLAGS = frozenset(("uniqueItems", "deprecated", "readOnly", "writeOnly"))
_READ_ONLY = _TOLD.keys() | {"examples", "deprecated", "readOnly", "writeOnly"}
_KNOWN = frozenset().union(*KEYWORDS.values(), REFERENCES)


def keyword_changes(
    pair: Pair, keyword: str, edits: tuple[Edit, ...] | None = None
) -> Iterator[Difference]:
    """What has changed of a keyword; nothing where it says the same."""
    old, new = pair.before.get(keyword), pair.after.get(keyword)
    if keyword in _FLAGS:
        old, new = (True if value is True else ABSENT for value in (old, new))
    if same(old, new):
        return
    row, *words = _WORDS.get(keyword) or _told(keyword)
    way = 0 if old is ABSENT else 1 if new is ABSENT else 2
    both = {"old": shown(old) if way else "", "new": "" if way == 1 else shown(new)}
    text = words[way].format(pair.subject, **both)
    row = f"{row}-{('set', 'removed', 'changed')[way]}"
    yield difference(pair, row, keyword, text, edits)


def annotation_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of what is told and not checked, and of words that are no keywords."""
    for word in dict.fromkeys((*pair.before.values, *pair.after.values)):
        if word in _READ_ONLY or word not in _KNOWN:
            # Where formats are asserted, one may refuse values.
            edits = None if word == "format" else ()
            yield from keyword_changes(pair, word, edits)


def _told(keyword: str) -> tuple[str, ...]:
    name = _TOLD.get(keyword)
    row = name.replace(" ", "-") if name else "unknown-keyword"
    what = f"the {name}" if name else f"{name_words(keyword)}, which is no keyword,"
    what = what.replace("{", "{{").replace("}", "}}")
    return (
        row,
        what + " of {} is {new} now",
        what + " of {} is gone: {old}",
        what + " of {} is {new} now, was {old}",
    )


def difference(
    pair: Pair,
    row: str,
    keyword: str,
    message: str,
    edits: tuple[Edit, ...] | None = None,
) -> Difference:
    """A change of one keyword's value."""
    before, after = pair.before.get(keyword), pair.after.get(keyword)
    path = (pair.before if after is ABSENT else pair.after).at(keyword)
    made = edit_of(pair, keyword) if edits is None else edits
    return Difference(row, path, before, after, message, made, pair)


def plain(schema: Any) -> Any:
    """A schema, with one word for those that say nothing."""
    return True if schema == {} or schema is ABSENT else schema


_BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
_COUNTS = (
    ("minLength", "min-length"),
    ("maxLength", "max-length"),
    ("minItems", "min-items"),
    ("maxItems", "max-items"),
    ("minProperties", "min-properties"),
    ("maxProperties", "max-properties"),
    ("minContains", "min-contains"),
    ("maxContains", "max-contains"),
)


def plain_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of types, values, numbers, texts and counts."""
    if pair.before.is_false or pair.after.is_false:
        yield from _allowed(pair)
        return
    yield from _types(pair)
    yield from _values(pair)
    yield from _limits(pair)
    yield from _counts(pair)
    for keyword in ("multipleOf", "pattern", "uniqueItems"):
        yield from keyword_changes(pair, keyword)


def _allowed(pair: Pair) -> Iterator[Difference]:
    before, after = pair.before, pair.after
    if before.is_false == after.is_false:
        return
    row = "value-forbidden" if after.is_false else "value-allowed"
    says = "is not allowed any more" if after.is_false else "is allowed now"
    edit = Edit(before.path, after.original, after.path, before.original)
    yield Difference(
        row,
        after.path,
        before.original,
        after.original,
        f"{pair.subject} {says}",
        (edit,),
        pair,
    )


def _types(pair: Pair) -> Iterator[Difference]:
    before, after = types_of(pair.before.values), types_of(pair.after.values)
    if before == after:
        return
    if after < before:
        row = "type-narrowed"
    else:
        row = "type-widened" if before < after else "type-changed"
    text = f"{pair.subject} is {type_words(after)} now, it was {type_words(before)}"
    yield difference(pair, row, "type", text)


def _values(pair: Pair) -> Iterator[Difference]:
    old, new = _listed(pair.before), _listed(pair.after)
    if old is None and new is None:
        return
    subject = pair.subject
    edits = edit_of(pair, "enum", "const")
    if old is None or new is None:
        has = pair.after if old is None else pair.before
        keyword = "const" if "const" in has.values else "enum"
        if new is not None:
            text = f"{subject} must be {_one_of(new)} now, it was free"
            yield difference(pair, f"{keyword}-set", keyword, text, edits)
        else:
            text = f"{subject} is free now, it had to be {_one_of(old or [])}"
            yield difference(pair, f"{keyword}-removed", keyword, text, edits)
        return
    before, after = {key_of(v): v for v in old}, {key_of(v): v for v in new}
    gone = [value for key, value in before.items() if key not in after]
    come = [value for key, value in after.items() if key not in before]
    if len(before) == len(after) == 1 and gone and "const" in pair.after.values:
        text = f"{subject} must be {shown(come[0])} now, it had to be {shown(gone[0])}"
        yield difference(pair, "const-changed", "const", text, edits)
        return
    keyword = "enum" if "enum" in pair.after.values else "const"
    if gone and _are_renamed(gone, come):
        text = f"{subject} may be {_either(come)} now instead of {_either(gone)}"
        yield difference(pair, "enum-value-renamed", keyword, text, edits)
        return
    if gone:
        kept = [value for key, value in before.items() if key in after]
        text = f"{subject} cannot be {_either(gone)} any more"
        made = _of_values(pair, kept, [*new, *gone])
        yield difference(pair, "enum-value-removed", keyword, text, made)
    if come:
        kept = [value for key, value in after.items() if key in before]
        text = f"{subject} may be {_either(come)}, too"
        made = _of_values(pair, [*old, *come], kept)
        yield difference(pair, "enum-value-added", keyword, text, made)


def _are_renamed(gone: list[Any], come: list[Any]) -> bool:
    """Whether one value took the place of one, or several are written otherwise."""
    if len(gone) != len(come) or len({type_of(value) for value in (*gone, *come)}) > 1:
        return False
    if len(gone) == 1:
        return True
    folded = (
        sorted(re.sub(r"[\W_]", "", str(value)).casefold() for value in values)
        for values in (gone, come)
    )
    return next(folded) == next(folded)


def _listed(node: Node) -> list[Any] | None:
    if "const" not in node.values and "enum" not in node.values:
        return None
    values = {k: v for k, v in node.values.items() if k in ("enum", "const")}
    return ValueLimits((values,)).values


def _of_values(pair: Pair, alone: list[Any], undone: list[Any]) -> tuple[Edit, ...]:
    before, after = pair.before, pair.after
    return (
        Edit(before.at("enum"), alone, after.at("enum"), undone),
        Edit(before.at("const"), ABSENT, after.at("const"), ABSENT),
    )


def _one_of(values: list[Any]) -> str:
    return listed(values) if len(values) == 1 else f"one of {listed(values)}"


def _either(values: list[Any]) -> str:
    return (
        listed(values).replace(" and ", " or ") if len(values) < 6 else listed(values)
    )


def _limits(pair: Pair) -> Iterator[Difference]:
    if _BOUNDS.isdisjoint(pair.before.values) and _BOUNDS.isdisjoint(pair.after.values):
        return
    before, after = ValueLimits((pair.before.values,)), ValueLimits(
        (pair.after.values,)
    )
    is_whole = before.is_whole and after.is_whole
    for keyword, exclusive in (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ):
        is_low = keyword == "minimum"
        old = before.low(whole=False) if is_low else before.high(whole=False)
        new = after.low(whole=False) if is_low else after.high(whole=False)
        if old == new:
            continue
        if is_whole:
            rounded = [
                one.low(whole=True) if is_low else one.high(whole=True)
                for one in (before, after)
            ]
            if rounded[0] == rounded[1]:
                continue
        none = -math.inf if is_low else math.inf
        now = number_words(keyword, new)
        was = number_words(keyword, old)
        end = "lower" if is_low else "upper"
        if old.value == none:
            row, text = f"{keyword}-set", f"is {now} now, it had no {end} limit"
        elif new.value == none:
            row, text = (
                f"{keyword}-removed",
                f"has no {end} limit any more, it was {was}",
            )
        else:
            openness = 1 if is_low else -1
            is_raised = (new.value, openness * new.is_open) > (
                old.value,
                openness * old.is_open,
            )
            row = f"{keyword}-{'raised' if is_raised else 'lowered'}"
            text = f"is {now} now, it was {was}"
        own = pair.after if new.value != none else pair.before
        told = exclusive if _tells(own, keyword, exclusive) else keyword
        edits = edit_of(pair, keyword, exclusive)
        yield difference(pair, row, told, f"{pair.subject} {text}", edits)


def _tells(node: Node, keyword: str, exclusive: str) -> bool:
    """Whether the exclusive limit is the one that counts."""
    limit, other = node.values.get(keyword), node.values.get(exclusive)
    if other is None or isinstance(other, bool):
        return False
    if limit is None:
        return True
    return bool(other >= limit if keyword == "minimum" else other <= limit)


def _counts(pair: Pair) -> Iterator[Difference]:
    for keyword, name in _COUNTS:
        old, new = pair.before.get(keyword), pair.after.get(keyword)
        is_least = keyword.startswith("min")
        if keyword == "minContains":
            # Without it one item is asked for.
            old = 1 if old is ABSENT and "contains" in pair.before.values else old
            new = 1 if new is ABSENT and "contains" in pair.after.values else new
        elif is_least:
            # At least none is no limit.
            old, new = (ABSENT if n == 0 else n for n in (old, new))
        if (old is ABSENT and new is ABSENT) or old == new:
            continue
        if "Contains" in keyword and (
            "contains" not in pair.before.values or "contains" not in pair.after.values
        ):
            continue  # It says nothing by itself.
        if old is ABSENT:
            row, text = f"{name}-set", f"has {limit_words(keyword, new)} now"
        elif new is ABSENT:
            was = limit_words(keyword, old)
            row, text = f"{name}-removed", f"is not limited to {was} any more"
        else:
            row = f"{name}-{'raised' if new > old else 'lowered'}"
            now, was = limit_words(keyword, new), old
            text = f"has {now} now, the limit was {was}"
        yield difference(pair, row, keyword, f"{pair.subject} {text}")


def address_changes(pair: Pair) -> Iterator[Difference]:
    """References that lead nowhere that is known, and the dialect of the whole."""
    for keyword in REFERENCES:
        if not same(pair.before.get(keyword), pair.after.get(keyword)):
            text = f"the reference of {pair.subject} leads elsewhere"
            yield difference(pair, "reference-changed", keyword, text)
    if not pair.before.path and not pair.after.path:
        yield from _dialect(pair)


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
    return str(dialect_of({} if address is None else {"$schema": address}))
