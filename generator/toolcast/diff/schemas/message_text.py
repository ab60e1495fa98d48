"""Text for messages about schema changes: values, names, types, limits.

A location is the path to a value inside arguments or a result, such as `options.depth`. A
suffix marks locations that are not a property: the items of an array, its property names, and
so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...suggestions import TYPE_LABELS, format_list
from ..change import shorten_pair
from .value_limits import ALL_TYPES, Bound

# The suffixes start with a character that does not occur in names of properties.
_SUFFIX_START = "\0"
ITEMS = f"{_SUFFIX_START}[]"
"""Suffix of a location for the items of an array."""
ADDITIONAL = f"{_SUFFIX_START}{{}}"
"""Suffix of a location for the values of properties that are not listed by name."""
NAMES = f"{_SUFFIX_START}()"
"""Suffix of a location for the property names of an object."""
EXCLUDED = f"{_SUFFIX_START}!"
"""Suffix of a location for the values that a `not` schema excludes."""
ALTERNATIVE = f"{_SUFFIX_START}|"
"""Suffix of a location for one of several `anyOf` or `oneOf` schemas of the same types."""

_SUBJECT_TEMPLATES = {
    ITEMS: "each item of {}",
    ADDITIONAL: "each additional property of {}",
    NAMES: "each property name of {}",
    EXCLUDED: "the `not` schema of {}",
}
_MAX_VALUE_LENGTH = 100
"""Characters of a value in a message."""
_MAX_LISTED_VALUE_LENGTH = 60
"""Characters of each value in a list of values."""
_MAX_LISTED_VALUES = 5
"""Values that a message lists."""
_COUNTED_NOUNS = {
    "Length": ("character", "characters"),
    "Items": ("item", "items"),
    "Properties": ("property", "properties"),
    "Contains": ("item that matches `contains`", "items that match `contains`"),
}
_TYPE_ORDER = ("string", "integer", "fraction", "boolean", "array", "object", "null")


def format_value(value: Any, max_length: int = _MAX_VALUE_LENGTH) -> str:
    """Format a value as JSON in backticks, truncated to a number of characters.

    Backticks in the value become apostrophes, since a message is Markdown.
    """
    text = json.dumps(value, ensure_ascii=False).replace("`", "'")
    if len(text) > max_length:
        text = f"{text[: max_length - 1]}…"
    return f"`{text}`"


def format_value_pair(old: Any, new: Any) -> tuple[str, str]:
    """Format two different values in backticks; of long ones, the part that differs."""
    old_text, new_text = (
        json.dumps(value, ensure_ascii=False).replace("`", "'") for value in (old, new)
    )
    old_text, new_text = shorten_pair(old_text, new_text, _MAX_VALUE_LENGTH)
    return f"`{old_text}`", f"`{new_text}`"


def format_values(values: Iterable[Any], conjunction: str = "and") -> str:
    """Format a list of values, such as `"a"`, `"b"` and 3 others.

    Args:
        values: the values; only the first ones are listed.
        conjunction: the word before the last value, if all values are listed.
    """
    all_values = list(values)
    if not all_values:
        return "no values"
    texts = [
        format_value(value, _MAX_LISTED_VALUE_LENGTH)
        for value in all_values[:_MAX_LISTED_VALUES]
    ]
    omitted = len(all_values) - len(texts)
    if omitted:
        return f"{', '.join(texts)} and {omitted} other{'s' if omitted > 1 else ''}"
    return format_list(texts, conjunction)


def format_name(location: str) -> str:
    """Format a location as a name in backticks; unprintable characters are escaped."""
    if ALTERNATIVE in location:
        return f"{format_name(location.replace(ALTERNATIVE, ''))} in one alternative"
    name = location.replace(_SUFFIX_START, "")
    if not name or not name.isprintable():
        name = json.dumps(name)
    return f"`{name.replace('`', chr(39))}`"


def format_subject(location: str, root_label: str) -> str:
    """Format a location as the subject of a message, such as: each item of `tags`.

    Args:
        location: the location; empty for the root.
        root_label: the name of the root in messages, such as: a call.
    """
    for suffix, template in _SUBJECT_TEMPLATES.items():
        if location.endswith(suffix):
            return template.format(format_subject(location[: -len(suffix)], root_label))
    if location == ALTERNATIVE:
        return f"{root_label} in one alternative"
    return format_name(location) if location else root_label


def format_types(types: frozenset[str]) -> str:
    """Format types with their articles, such as: a string or null."""
    if types == ALL_TYPES:
        return "any type"
    if not types:
        return "no type"
    labels = {**TYPE_LABELS, "fraction": "a non-integer number"}
    # The disjoint types `integer` and `fraction` together are JSON Schema's `number`.
    if types >= {"integer", "fraction"}:
        labels["integer"] = TYPE_LABELS["number"]
        types -= {"fraction"}
    return " or ".join(labels[name] for name in _TYPE_ORDER if name in types)


def format_bound(keyword: str, bound: Bound) -> str:
    """Format a bound of numbers, such as: at most 100, above 0."""
    if keyword == "maximum":
        return f"{'below' if bound.is_exclusive else 'at most'} {bound.value}"
    return f"{'above' if bound.is_exclusive else 'at least'} {bound.value}"


def format_count(keyword: str, count: Any) -> str:
    """Format the value of `maxItems` or a similar keyword, such as: at most 10 items."""
    comparison = "at most" if keyword.startswith("max") else "at least"
    singular, plural = _COUNTED_NOUNS[keyword[3:]]
    return f"{comparison} {count} {singular if count == 1 else plural}"
