"""Words for values, constraints and near names, as findings use them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any

TYPE_LABELS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
"""The types of JSON Schema in the words of people."""

_LONGEST_WORD = 100
_MOST_KNOWN = 1_000
_MOST_SUGGESTIONS = 20


def format_types(types: Iterable[str]) -> str:
    """The types of JSON Schema in words: `a mapping or true or false`."""
    wanted = frozenset(types)
    return " or ".join(words for kind, words in TYPE_LABELS.items() if kind in wanted)


def format_path(path: Sequence[str | int]) -> str:
    """`a.b[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def describe_value(value: Any) -> str:
    """What a value is, in the words of people: `text`, `the number 3`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a mapping"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean `x`?` for the nearest known word; empty when none is near."""
    if len(word) > _LONGEST_WORD:
        return ""
    import difflib

    by_fold = {_folded(name): name for name in islice(known, _MOST_KNOWN)}
    near = difflib.get_close_matches(_folded(word), by_fold, 1, 0.7)
    return f"did you mean `{by_fold[near[0]]}`?" if near else ""


def suggest_name(word: str, known: Collection[str]) -> str:
    """What could be meant by a word that nothing is called: the nearest, or all there are."""
    there = format_quoted_list(list(known)[:_MOST_SUGGESTIONS]) or "none"
    verb = "is" if len(known) == 1 else "are"
    return did_you_mean(word, known) or f"there {verb} {there}"


def _folded(word: str) -> str:
    return re.sub(r"[-_\s]", "", word).casefold()


class Suggestions:
    """Near words for the first unknown ones of a file.

    A file with more of them has another problem, and the search is not free.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = list(islice(known, _MOST_KNOWN))
        self._left = _MOST_SUGGESTIONS

    def near(self, word: str) -> str:
        """As `did_you_mean`; empty when there are no suggestions left."""
        self._left -= 1
        return did_you_mean(word, self._known) if self._left >= 0 else ""


def format_quoted_list(words: Sequence[Any]) -> str:
    """`a`, `b` and `c`."""
    return format_list([f"`{word}`" for word in words])


def format_list(words: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def format_first(words: Sequence[str], most: int) -> str:
    """a, b and 3 more: so many of the words, and how many are left."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")
