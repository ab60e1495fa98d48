"""Results that are larger than an answer may be: whole items of their largest lists are left out.

Items go from the end, and only as many as have to. Nothing else of a result is changed, so that
what is there is what the tool gave; what is not there is told.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from ..core.calls.untrusted_text import escape_excerpt

# Common words are one token, long ones are two or three; the marks of JSON come in groups.
_PIECE = re.compile(
    r"[A-Za-z]{1,10}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,4}|[^\x00-\x7f]", re.ASCII
)
_MAX_LISTS = 16
"""Arrays of a result that are shortened; the others remain complete."""
_MAX_VALIDATIONS = 32
"""Validations of a shortened result against its schema."""
_BOUNDARY = 3
"""By so much a text may be larger than the sizes of its parts say."""
_MAX_PATH_CHARACTERS = 60
"""Characters of an array's path in a note."""
_encode = json.JSONEncoder(ensure_ascii=False).encode

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a list; none for a result that is one."""
_Sized = tuple[Sequence[Any], Sequence[int]]
"""The items of a list, and the size of each with what is behind it."""


def estimated_tokens(text: str) -> int:
    """About as many tokens as models count for a text.

    A token is up to ten letters of a word, three digits, four marks that stand together, or
    one letter of another script; how far off that is stands in `docs/tokens.md`.
    """
    return sum(1 for _ in _PIECE.finditer(text))


def json_text(value: Any) -> str:
    """The JSON text of a value; half of a surrogate pair, which no text has, is an escape in it."""
    return _encode(value).encode("utf-8", "backslashreplace").decode("utf-8")


class Limits(NamedTuple):
    """What is sent of a result.

    Attributes:
        most: how large its JSON text and the note may be together.
        count: the size of a text; of two texts in one it is no more than the sum.
        is_valid: whether a value is one that the tool may give.
        rest: how to get what is left out of a list, by all its items and how many are kept;
            empty where nobody knows.
    """

    most: int
    count: Callable[[str], int]
    is_valid: Callable[[Any], bool]
    rest: Callable[[Sequence[Any], int], str]


class Shortening:
    """Leaves items out of one result: a JSON value, and the size of its JSON text."""

    def __init__(self, value: Any, size: int, limits: Limits) -> None:
        self._value, self._size, self._limits = value, size, limits
        self._checks = 0
        self._kept: dict[Path, int] = {}
        self._lists: dict[Path, _Sized] = {}
        self._outer: dict[Path, _Sized] = {}

    def result(self) -> tuple[Any, str] | None:
        """What is small enough of the result, and a note of what it lacks; None for nothing.

        A list that cannot be shortened validly stays as it is, and the lists in it are tried;
        so are those in the first item of a list of which only that one fits, or not even it.
        """
        if self._size <= self._limits.most:
            return self._value, ""
        self._outer = self._lists_in((), self._value)
        waiting = {**self._outer}
        while waiting and len(self._lists) < _MAX_LISTS:
            path = max(waiting, key=lambda one: sum(waiting[one][1]))
            items, _ = self._lists[path] = waiting.pop(path)
            fits = self._most_that_fits(path)
            kept = self._least_valid(path, max(fits, 1))
            self._keep(path, kept)
            if kept == fits:
                break
            for index, item in enumerate(items[:kept]):
                waiting |= self._lists_in((*path, index), item)
        # Where one item of each list is too much: lists without any, the innermost first.
        is_small = self._is_small()
        for path in sorted(self._lists, key=len, reverse=True):
            if not is_small and self._is_taken(path, 0):
                self._keep(path, 0)
                is_small = self._is_small()
        return (self._value, self._note(self._kept)) if is_small else None

    def _lists_in(self, path: Path, value: Any) -> dict[Path, _Sized]:
        """The lists of a value that are in no other, but for empty ones."""
        found: dict[Path, _Sized] = {}
        waiting: list[tuple[Path, Any]] = [(path, value)]
        while waiting:
            here, one = waiting.pop()
            if isinstance(one, list) and one:
                found[here] = one, [
                    self._limits.count(f"{json_text(item)}, ") for item in one
                ]
            elif isinstance(one, Mapping):
                waiting += [((*here, name), part) for name, part in one.items()]
        return found

    def _most_that_fits(self, path: Path) -> int:
        """With how many items of a list the result is small enough; 0 where with none."""
        items, sizes = self._lists[path]
        kept = len(items)
        dropped = [0, *accumulate(reversed(sizes))]
        beyond = self._size + _BOUNDARY - self._limits.most
        while kept > 0:
            note = self._note({**self._kept, path: kept})
            needed = beyond + self._limits.count(note)
            if dropped[len(items) - kept] >= needed:
                return kept
            kept = len(items) - bisect_left(dropped, needed)
        return 0

    def _least_valid(self, path: Path, least: int) -> int:
        """The fewest items of a list, and no fewer than `least`, of which the result is valid."""
        every = len(self._lists[path][0])
        if least >= every or self._is_taken(path, least):
            return least
        more = range(least + 1, every)
        return more.start + bisect_left(more, True, key=partial(self._is_taken, path))

    def _is_taken(self, path: Path, kept: int) -> bool:
        self._checks += 1
        value = _with_first(self._value, path, kept)
        return self._checks <= _MAX_VALIDATIONS and self._limits.is_valid(value)

    def _is_small(self) -> bool:
        texts = json_text(self._value), self._note(self._kept)
        return sum(map(self._limits.count, texts)) <= self._limits.most

    def _keep(self, path: Path, kept: int) -> None:
        """Leaves the other items of a list out."""
        items, sizes = self._lists[path]
        if kept == len(items):
            return
        self._value = _with_first(self._value, path, kept)
        # No less than the text's is, whatever is left out.
        self._size += _BOUNDARY - sum(sizes[kept:])
        self._kept = {p: n for p, n in self._kept.items() if p[: len(path)] != path}
        self._kept[path] = kept

    def _note(self, kept: Mapping[Path, int]) -> str:
        """What is left out, and how to get it, where one list alone can be what a call goes on in."""
        if not kept:
            return ""
        parts = []
        for path, first in kept.items():
            items, _ = self._lists[path]
            name = escape_excerpt(".".join(map(str, path)), _MAX_PATH_CHARACTERS)
            of = f"{len(items):,} of `{name}`" if path else f"{len(items):,} items"
            parts.append(f"the last {len(items) - first:,} of {of}")
        ways = [
            (kept.get(path), way)
            for path, (items, _) in self._outer.items()
            if (way := self._limits.rest(items, kept.get(path, len(items))))
        ]
        more = f" For more, {ways[0][1]}." if len(ways) == 1 and ways[0][0] else ""
        return f"Left out: {', '.join(parts)}.{more}"


def _with_first(value: Any, path: Path, kept: int) -> Any:
    """A value with the first items of one of its lists; it is not changed itself."""
    holder: Any = [value]
    made, steps = holder, (0, *path)
    for step in steps[:-1]:
        holder[step] = holder[step].copy()
        holder = holder[step]
    holder[steps[-1]] = holder[steps[-1]][:kept]
    return made[0]
