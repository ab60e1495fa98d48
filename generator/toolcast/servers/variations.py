"""What two readings of one server give otherwise, and whether that is all that is other.

A server that varies at each start is not to be told of each time; one that makes its
changes vary, so that they look like it, is.
"""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from toolcast_runtime.external.server_lock import differing

from ..reading.exact_json import exact_text
from .server_listing import KINDS, ServerListing, Variation

__all__ = ["explains", "variations"]

_WORD = re.compile(r"[\w+/=]+|[^\w+/=]")
_DAYS = frozenset(
    word.casefold()
    for words in (day_name, day_abbr, month_name, month_abbr, ("am", "pm"))
    for word in words
    if word
)


def variations(one: ServerListing, other: ServerListing) -> tuple[Variation, ...]:
    """Where they differ, each place once. The order of entries and of keys says nothing."""
    found = []
    for kind, (_, key) in KINDS.items():
        ones, others = (_by_name(each.entries(kind), key) for each in (one, other))
        for name in dict.fromkeys([*ones, *others]):
            if len(ones[name]) != len(others[name]):
                found.append(Variation(kind, name))
            for entry, twin in zip(ones[name], others[name], strict=False):
                paths = differing(entry, twin, exact_text)
                found += [Variation(kind, name, path) for path in paths]
    if one.instructions != other.instructions:
        found.append(Variation("instructions", ""))
    return tuple(dict.fromkeys(found))


def _by_name(
    entries: Sequence[Mapping[str, Any]], key: str
) -> Mapping[str, list[Mapping[str, Any]]]:
    named = defaultdict(list)
    for entry in entries:
        named[entry[key]].append(entry)
    return named


def explains(
    variation: Variation,
    reviewed: ServerListing,
    one: ServerListing,
    other: ServerListing,
) -> bool:
    """Whether what varies in two readings is why they are not as it was reviewed.

    It is where one of them is what was reviewed, where all words are there in another
    order, and where only those words are others that are others in each reading, or that
    are numbers and names of days, as a time has them that was another hour. A word more,
    or one that both have and was not reviewed, is a change. So is a new entry, also where
    one reading does not have it.
    """
    values = [_value(variation, side) for side in (reviewed, one, other)]
    if values[0] is None:
        return False
    was, first, second = (_words(value) for value in values)
    if was in (first, second) or sorted(was) == sorted(first) == sorted(second):
        return True
    if not len(was) == len(first) == len(second):
        return False
    return all(
        a == b or (_is_of_time(a) and _is_of_time(b))
        for a, b, c in zip(was, first, second, strict=True)
        if b == c
    )


def _value(variation: Variation, side: ServerListing) -> Any:
    """What a reading has at a place; None for nothing."""
    kind, name, path = variation.kind, variation.name, variation.path
    if kind == "instructions":
        return side.instructions
    key = KINDS[kind][1]
    found: Any = [one for one in side.entries(kind) if one[key] == name] or None
    # An entry that is there twice varies as a whole, or not at all.
    if found is not None and path:
        found = found[0]
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def _is_of_time(word: str) -> bool:
    return word.casefold() in _DAYS or any(letter.isdigit() for letter in word)


def _words(value: Any) -> list[str]:
    return _WORD.findall("" if value is None else exact_text(value))
