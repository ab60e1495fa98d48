"""Where a text says the name of a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = [
    "Mention",
    "is_plain_word",
    "mention_pattern",
    "mentions_in",
    "names_in_lines",
]

_BEFORE, _BEHIND = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
# As clients call a server's tool: `mcp__notes__find_note`.
_OF_SERVER = r"mcp__[A-Za-z0-9_-]+?__"
# `memory` is a word of the language, and a tool's name where somebody is told to call it.
_WORD = re.compile(r"[A-Za-z][a-z]*")
_ORDERS = r"\b(?:[Cc]all|[Ii]nvoke|[Pp]refer|[Rr]un)(?:s|ed|ing)?\s+"
_CODE_BEFORE = frozenset("/\\=@$<")
_CODE_BEHIND = re.compile(r"[/\\=]|\.\w")


class Mention(NamedTuple):
    """One place of a text that says a name.

    Attributes:
        name: the name.
        start: where it begins in the text.
        is_code: it is part of a path, an address or an expression, and may be something
            else's.
    """

    name: str
    start: int
    is_code: bool


def mention_pattern(
    names: Iterable[str], *, in_code: bool = False
) -> re.Pattern[str] | None:
    """What finds the names in a text; None without names.

    A name that is a plain word counts in backticks, behind `call`, `invoke`, `prefer` and
    `run`, and behind a server's name as clients write it. The name is the one group that matched.

    Args:
        in_code: such a word counts as a literal of its own, too: `"memory"`.
    """
    ordered = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(n) for n in ordered if is_plain_word(n))
    others = "|".join(re.escape(n) for n in ordered if not is_plain_word(n))
    parts = [rf"{_BEFORE}(?:{_OF_SERVER})?({others}){_BEHIND}"] if others else []
    if words:
        if in_code:
            parts.append(rf"(?<=[\"'])({words})(?=[\"'])")
        parts += [rf"`({words})`", rf"{_ORDERS}({words}){_BEHIND}"]
        parts.append(rf"{_BEFORE}{_OF_SERVER}({words}){_BEHIND}")
    return re.compile("|".join(parts)) if parts else None


def is_plain_word(name: str) -> bool:
    """Whether a name may be a word of the language as well: `memory`."""
    return _WORD.fullmatch(name) is not None


def mentions_in(text: str, pattern: re.Pattern[str] | None) -> Iterator[Mention]:
    """The mentions of a text, in its order."""
    for match in () if pattern is None else pattern.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        before = text[start - 1 : start]
        is_code = before in _CODE_BEFORE if before else False
        is_code = is_code or _CODE_BEHIND.match(text, end) is not None
        yield Mention(match[group], start, is_code)


def names_in_lines(
    lines: Iterable[str], pattern: re.Pattern[str]
) -> Iterator[tuple[str, int, int]]:
    """The names that lines say, each with its line and column, which count from 1."""
    for number, line in enumerate(lines, 1):
        for match in pattern.finditer(line):
            group = match.lastindex or 0
            yield match[group], number, match.start(group) + 1
