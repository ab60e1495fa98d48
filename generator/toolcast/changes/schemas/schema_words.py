"""Words for what a schema says, as the messages of changes use them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...suggestions import KINDS
from .value_limits import Bound

__all__ = [
    "ITEMS",
    "NAMES",
    "OTHERS",
    "REFUSED",
    "limit_words",
    "listed",
    "name_words",
    "number_words",
    "shown",
    "subject_words",
    "type_words",
]

# No name of a property that a person would write has it.
_MARK = "\0"
ITEMS, OTHERS, NAMES, REFUSED = (_MARK + end for end in ("[]", "{}", "()", "!"))
"""What stands behind a place for its items, its other values, its names, what it is not."""

_OF = {
    ITEMS: "each item of {}",
    OTHERS: "each other value of {}",
    NAMES: "each name in {}",
    REFUSED: "what {} may not be",
}
_MOST_SHOWN = 100
_MOST_LISTED = 5
_COUNTED = {
    "Length": ("character", "characters"),
    "Items": ("item", "items"),
    "Properties": ("property", "properties"),
    "Contains": ("item that matches `contains`", "items that match `contains`"),
}
_ORDER = ("string", "integer", "fraction", "boolean", "array", "object", "null")


def shown(value: Any, most: int = _MOST_SHOWN) -> str:
    """A value as JSON in backticks, cut where it is long.

    Backticks inside of it become apostrophes, so that those around it stay a pair.
    """
    text = json.dumps(value, ensure_ascii=False).replace("`", "'")
    return f"`{text}`" if len(text) <= most else f"`{text[: most - 1]}…`"


def listed(values: Iterable[Any]) -> str:
    """`"a"`, `"b"` and 3 others."""
    every = list(values)
    texts = [shown(value, 60) for value in every[:_MOST_LISTED]]
    left = len(every) - len(texts)
    if left:
        return f"{', '.join(texts)} and {left} others"
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def name_words(place: str) -> str:
    """A name in backticks; those inside of it become apostrophes, what is unseen an escape."""
    name = place.replace(_MARK, "")
    if not name or not name.isprintable():
        return f"`{json.dumps(name).replace('`', chr(39))}`"
    return f"`{name.replace('`', chr(39))}`"


def subject_words(place: str, whole: str) -> str:
    """What a change is about: a parameter, the items of one, or the whole."""
    for ending, words in _OF.items():
        if place.endswith(ending):
            return words.format(subject_words(place[: -len(ending)], whole))
    return name_words(place) if place else whole


def type_words(types: frozenset[str]) -> str:
    """`text or null`."""
    if types == frozenset(_ORDER):
        return "anything"
    if not types:
        return "nothing"
    words = {**KINDS, "fraction": "a fraction"}
    if types >= {"integer", "fraction"}:
        words["integer"] = KINDS["number"]
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
