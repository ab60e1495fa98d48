"""Words for what a schema says, as the messages of changes use them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .value_limits import Bound

__all__ = [
    "limit_words",
    "listed",
    "number_words",
    "shown",
    "subject_words",
    "type_words",
]

_MOST_SHOWN = 100
_MOST_LISTED = 5
_COUNTED = {
    "Length": "characters",
    "Items": "items",
    "Properties": "properties",
    "Contains": "items of its kind",
}
_TYPES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "fraction": "a fraction",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}


def shown(value: Any, most: int = _MOST_SHOWN) -> str:
    """A value as JSON in backticks, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= most else f"`{text[: most - 1]}…`"


def listed(values: Iterable[Any]) -> str:
    """`"a"`, `"b"` and 3 others."""
    every = list(values)
    texts = [shown(value, 60) for value in every[:_MOST_LISTED]]
    left = len(every) - len(texts)
    if left:
        return f"{', '.join(texts)} and {left} others"
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def subject_words(place: str, whole: str) -> str:
    """What a change is about: a parameter, the items of one, or the whole."""
    if place.endswith("[]"):
        return f"each item of {subject_words(place[:-2], whole)}"
    if place.endswith("{}"):
        return f"each other value of {subject_words(place[:-2], whole)}"
    return f"`{place}`" if place else whole


def type_words(types: frozenset[str]) -> str:
    """`a text or null`."""
    if types == frozenset(_TYPES):
        return "anything"
    if not types:
        return "nothing"
    words = dict(_TYPES)
    if types >= {"integer", "fraction"}:
        words["integer"] = "a number"
        types -= {"fraction"}
    return " or ".join(words[one] for one in _TYPES if one in types)


def number_words(keyword: str, bound: Bound) -> str:
    """`at most 100`, `above 0`."""
    if keyword == "maximum":
        return f"{'below' if bound.is_open else 'at most'} {bound.value}"
    return f"{'above' if bound.is_open else 'at least'} {bound.value}"


def limit_words(keyword: str, number: Any) -> str:
    """`at most 10 items`."""
    end = "at most" if keyword.startswith("max") else "at least"
    counted = _COUNTED[keyword[3:]]
    if number == 1 and counted.endswith("s"):
        counted = (
            counted.replace("ies", "y") if counted.endswith("ies") else counted[:-1]
        )
    return f"{end} {number} {counted}"
