"""Text for findings: types, values, paths, lists and suggestions of similar names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any

TYPE_LABELS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}
"""The types of JSON Schema with their articles, as messages print them."""

# Limits of the search for similar names, which compares a name with every known name.
_MAX_NAME_LENGTH = 100
_MAX_KNOWN_NAMES = 1_000
_MAX_SUGGESTIONS = 20


def format_types(types: Iterable[str]) -> str:
    """Join types of JSON Schema with `or`, as in `an object or a boolean`.

    The order is that of `TYPE_LABELS`; unknown types are omitted.
    """
    included = frozenset(types)
    return " or ".join(label for name, label in TYPE_LABELS.items() if name in included)


def format_path(path: Sequence[str | int]) -> str:
    """Format keys and indexes as a dotted path, such as `a.b[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def describe_value(value: Any) -> str:
    """Describe a JSON value by its type, and by the value itself if that is short.

    Examples: `a string`, `the number 3`, `the boolean true`.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "an array" if isinstance(value, list) else "an object"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean `x`?` for the most similar known name.

    Empty if no name is similar. Case, spaces, `-` and `_` are ignored. A name of more than 100
    characters has no suggestion, and only the first 1,000 known names are compared.
    """
    if len(name) > _MAX_NAME_LENGTH:
        return ""
    import difflib

    known_by_key = {
        _normalize(known_name): known_name
        for known_name in islice(known, _MAX_KNOWN_NAMES)
    }
    matches = difflib.get_close_matches(_normalize(name), known_by_key, 1, 0.7)
    return f"did you mean `{known_by_key[matches[0]]}`?" if matches else ""


def suggest_name(name: str, known: Collection[str]) -> str:
    """Return the help for an unknown name: the most similar known name, or a list.

    At most 20 known names are listed. Without known names: `none is defined`.
    """
    names = list(known)[:_MAX_SUGGESTIONS]
    if not names:
        return "none is defined"
    choices = f"use {'one of ' if len(names) > 1 else ''}{format_quoted_list(names)}"
    return did_you_mean(name, known) or choices


def _normalize(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).casefold()


class Suggestions:
    """Suggests similar names for the first unknown names of a file.

    The number of suggestions is limited, because each one compares all known names.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = list(islice(known, _MAX_KNOWN_NAMES))
        self._remaining = _MAX_SUGGESTIONS

    def near(self, name: str) -> str:
        """Return `did_you_mean` of a name; empty when the limit is reached."""
        self._remaining -= 1
        return did_you_mean(name, self._known) if self._remaining >= 0 else ""


def format_quoted_list(values: Sequence[Any]) -> str:
    """Join values in backticks with commas and `and`."""
    return format_list([f"`{value}`" for value in values])


def format_list(items: Sequence[str], conjunction: str = "and") -> str:
    """Join items with commas and a conjunction before the last one: `a, b and c`."""
    return f" {conjunction} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def format_first(items: Sequence[str], limit: int) -> str:
    """Join the first items with commas, and state how many more there are."""
    omitted = len(items) - limit
    return ", ".join(items[:limit]) + (f" and {omitted:,} more" if omitted > 0 else "")
