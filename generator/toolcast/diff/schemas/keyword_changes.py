"""Changes of keywords: what is told only, types, listed values, limits, patterns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from toolcast_runtime.core.validation.references import REFERENCES

from ...json_schema.dialects import get_dialect
from ..change import ABSENT, build_json_key, is_equal_json
from .schema_pairs import (
    Difference,
    Edit,
    Node,
    Pair,
    limit_words,
    listed,
    name_words,
    number_words,
    shown,
    type_words,
)
from .schema_rules import KEYWORDS
from .value_limits import ValueLimits, type_of, types_of

_FLAGS = frozenset(("uniqueItems", "deprecated", "readOnly", "writeOnly"))
_READ_ONLY = frozenset(
    (
        "title description default format contentEncoding contentMediaType contentSchema"
        " $comment examples deprecated readOnly writeOnly"
    ).split()
)
_KNOWN = frozenset().union(*KEYWORDS.values(), REFERENCES)
_COUNTS = tuple(
    end + of
    for of in ("Length", "Items", "Properties", "Contains")
    for end in ("min", "max")
)


def row_of(keyword: str) -> str:
    """What the names of a keyword's rows begin with: `min-length` for `minLength`."""
    return re.sub(r"([A-Z])", r"-\1", keyword.removeprefix("$")).lower()


def keyword_changes(
    pair: Pair, keyword: str, edits: tuple[Edit, ...] | None = None
) -> Iterator[Difference]:
    """What has changed of a keyword; nothing where it says the same."""
    old, new = pair.values(keyword)
    if keyword in _FLAGS:
        old, new = (True if value is True else ABSENT for value in (old, new))
    if is_equal_json(old, new):
        return
    way = "set" if old is ABSENT else "removed" if new is ABSENT else "changed"
    row = row_of(keyword) if keyword in _KNOWN else "unknown-keyword"
    words = {
        name: shown(value)
        for name, value in (("old", old), ("new", new))
        if value is not ABSENT
    }
    yield pair.difference(
        f"{row}-{way}", keyword, edits, name=name_words(keyword), **words
    )


def annotation_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of what is told and not checked, and of words that are no keywords."""
    for word in dict.fromkeys((*pair.before.values, *pair.after.values)):
        if word in _READ_ONLY or word not in _KNOWN:
            # Where formats are asserted, one may refuse values.
            edits = None if word == "format" else ()
            yield from keyword_changes(pair, word, edits)


def plain_changes(pair: Pair) -> Iterator[Difference]:
    """What has changed of types, values, numbers, texts and counts."""
    before, after = pair.nodes
    if before.is_false or after.is_false:
        if before.is_false != after.is_false:
            row = "value-forbidden" if after.is_false else "value-allowed"
            values = before.original, after.original
            yield pair.told(row, after.path, values, (pair.whole_edit,))
        return
    yield from _types(pair)
    yield from _values(pair)
    yield from _limits(pair)
    yield from _counts(pair)
    for keyword in ("multipleOf", "pattern", "uniqueItems"):
        yield from keyword_changes(pair, keyword)


def _types(pair: Pair) -> Iterator[Difference]:
    before, after = types_of(pair.before.values), types_of(pair.after.values)
    if before == after:
        return
    if after < before:
        row = "type-narrowed"
    else:
        row = "type-widened" if before < after else "type-changed"
    yield pair.difference(row, "type", new=type_words(after), old=type_words(before))


def _values(pair: Pair) -> Iterator[Difference]:
    old, new = (_listed(node) for node in pair.nodes)
    if old is None and new is None:
        return
    edits = pair.edits("enum", "const")
    if old is None or new is None:
        node, values = (pair.before, old) if new is None else (pair.after, new)
        keyword = "const" if "const" in node.values else "enum"
        row = f"{keyword}-{'removed' if new is None else 'set'}"
        text = listed(values or ())
        text = text if len(values or ()) == 1 else f"one of {text}"
        yield pair.difference(row, keyword, edits, old=text, new=text)
        return
    keyword = "enum" if "enum" in pair.after.values else "const"
    yield from value_changes(pair, keyword, old, new, partial(_of_values, pair))


def value_changes(
    pair: Pair,
    keyword: str,
    old: list[Any],
    new: list[Any],
    edits_of: Callable[[list[Any], list[Any]], tuple[Edit, ...]],
) -> Iterator[Difference]:
    """What has changed of a list of values, whichever keyword has it.

    Args:
        edits_of: what makes one change alone, by the values that each side then lists.
    """
    before, after = {build_json_key(v): v for v in old}, {
        build_json_key(v): v for v in new
    }
    gone = [value for key, value in before.items() if key not in after]
    come = [value for key, value in after.items() if key not in before]
    edits = edits_of(new, old)
    if len(before) == len(after) == 1 and gone and "const" in pair.after.values:
        words = {"old": shown(gone[0]), "new": shown(come[0])}
        yield pair.difference("const-changed", "const", edits, **words)
        return
    words = {"old": listed(gone, "or"), "new": listed(come, "or")}
    if gone and _are_renamed(gone, come):
        yield pair.difference("enum-value-renamed", keyword, edits, **words)
        return
    kept = [value for key, value in before.items() if key in after]
    if gone:
        edits = edits_of(kept, [*new, *gone])
        yield pair.difference("enum-value-removed", keyword, edits, **words)
    if come:
        kept = [value for key, value in after.items() if key in before]
        edits = edits_of([*old, *come], kept)
        yield pair.difference("enum-value-added", keyword, edits, **words)


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
    values = {k: v for k, v in node.values.items() if k in ("enum", "const")}
    return ValueLimits((values,)).values


def _of_values(pair: Pair, alone: list[Any], undone: list[Any]) -> tuple[Edit, ...]:
    before, after = pair.nodes
    return (
        Edit(before.at("enum"), alone, after.at("enum"), undone),
        Edit(before.at("const"), ABSENT, after.at("const"), ABSENT),
    )


def _limits(pair: Pair) -> Iterator[Difference]:
    before, after = (ValueLimits((node.values,)) for node in pair.nodes)
    is_whole = before.is_whole and after.is_whole
    for keyword, none in (("minimum", -math.inf), ("maximum", math.inf)):
        old, new = (one.limit(keyword, whole=False) for one in (before, after))
        if old == new:
            continue
        if is_whole:
            rounded = [one.limit(keyword, whole=True) for one in (before, after)]
            if rounded[0] == rounded[1]:
                continue
        if old.value == none:
            way = "set"
        elif new.value == none:
            way = "removed"
        else:
            openness = 1 if keyword == "minimum" else -1
            ranks = [(one.value, openness * one.is_open) for one in (old, new)]
            way = "raised" if ranks[1] > ranks[0] else "lowered"
        exclusive = f"exclusive{keyword.capitalize()}"
        node, told = (pair.before, old) if way == "removed" else (pair.after, new)
        # In draft-04 the second keyword only says how the first is meant.
        is_exclusive = told.is_open and not isinstance(node.get(exclusive), bool)
        yield pair.difference(
            f"{keyword}-{way}",
            exclusive if is_exclusive else keyword,
            pair.edits(keyword, exclusive),
            new=number_words(keyword, new),
            old=number_words(keyword, old),
        )


def _counts(pair: Pair) -> Iterator[Difference]:
    for keyword in _COUNTS:
        old, new = pair.values(keyword)
        if keyword == "minContains":
            # Without it one item is asked for.
            old = 1 if old is ABSENT and "contains" in pair.before.values else old
            new = 1 if new is ABSENT and "contains" in pair.after.values else new
        elif keyword.startswith("min"):
            # At least none is no limit.
            old, new = (ABSENT if n == 0 else n for n in (old, new))
        if (old is ABSENT and new is ABSENT) or old == new:
            continue
        if keyword.endswith("Contains") and any(
            "contains" not in node.values for node in pair.nodes
        ):
            continue  # It says nothing by itself.
        if old is ABSENT:
            way, words = "set", {"new": limit_words(keyword, new)}
        elif new is ABSENT:
            way, words = "removed", {"old": limit_words(keyword, old)}
        else:
            way = "raised" if new > old else "lowered"
            words = {"new": limit_words(keyword, new), "old": str(old)}
        yield pair.difference(f"{row_of(keyword)}-{way}", keyword, None, **words)


def address_changes(pair: Pair) -> Iterator[Difference]:
    """References that lead nowhere that is known, and the dialect of the whole."""
    for keyword in REFERENCES:
        if not is_equal_json(*pair.values(keyword)):
            yield pair.difference("reference-changed", keyword)
    if pair.before.path or pair.after.path:
        return
    addresses = [node.values.get("$schema") for node in pair.nodes]
    dialects = [
        get_dialect({} if one is None else {"$schema": one}) for one in addresses
    ]
    if dialects[0] != dialects[1]:
        old, new = (
            f"`{one}`" if one else "2020-12 (as none is named)" for one in addresses
        )
        yield pair.difference("dialect-changed", "$schema", old=old, new=new)
