"""Whether a value is JSON, and small enough to be checked in bounded time and stack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import Any

MOST_LEVELS = 200
"""Deeper values overflow the stack of validators that follow them by recursion."""

MOST_VALUES = 200_000

MOST_CHARACTERS = 16 * 1024 * 1024
"""Of all texts and names together."""

MOST_DIGITS = 100
"""Of a whole number; comparing longer ones takes time that grows with their square."""

_MOST_BITS = 332
_LARGE = 2**63 - 1
_LARGE_FLOAT = 1e15
_NEAR_ZERO = 1e-9
_NONE = type(None)


@dataclass(slots=True)
class Size:
    """How large a value is.

    Attributes:
        problem: why it cannot be taken, found so far; None when it can.
        values: it and all values in it.
        levels: 1 for a plain value, 2 for a list of them.
        characters: of all texts and names in it.
        longest: characters of the longest of them.
        numbers: numbers in it.
        large_integers: those that are whole and beyond 63 bits.
        extreme_numbers: those that are not, and whose exact value has many digits.
    """

    problem: str | None = None
    values: int = 0
    levels: int = 0
    characters: int = 0
    longest: int = 0
    numbers: int = 0
    large_integers: int = 0
    extreme_numbers: int = 0

    def take(self, level: list[Any]) -> list[Any]:
        """Counts the values of one level; those of the next, none behind a problem."""
        self.levels += 1
        self.values += len(level)
        inner: list[Any] = []
        if self.levels > MOST_LEVELS:
            self.problem = f"more than {MOST_LEVELS} levels deep"
        elif self.values > MOST_VALUES:
            self.problem = f"more than {MOST_VALUES:,} values"
        # This runs for every value of every call: what is of one type is counted at once.
        kinds = set(map(type, level))
        for kind in kinds if self.problem is None else ():
            alike = level
            if len(kinds) > 1:
                alike = [item for item in level if type(item) is kind]
            self.problem = self.problem or self._add(kind, alike, inner)
        return inner if self.problem is None else []

    def _add(self, kind: type, items: list[Any], inner: list[Any]) -> str | None:
        """Counts items of one type, and lists what they hold.

        Returns:
            Why they cannot be taken; None when they can.
        """
        if kind is bool or kind is _NONE:
            return None
        if issubclass(kind, str):
            return self._texts(items)
        if issubclass(kind, dict):
            names = list(chain.from_iterable(items))
            inner.extend(chain.from_iterable(map(dict.values, items)))
            return self._texts(names)
        if issubclass(kind, (list, tuple)):
            # A list that holds itself grows without end.
            if sum(map(len, items)) > MOST_VALUES:
                return f"more than {MOST_VALUES:,} values"
            inner.extend(chain.from_iterable(items))
            return None
        if issubclass(kind, int):
            return self._integers(items)
        if issubclass(kind, float):
            return self._floats(items)
        return f"a Python {kind.__name__}"

    def _texts(self, texts: list[Any]) -> str | None:
        try:
            joined = "".join(texts)
        except TypeError:
            return "a key that is not text"
        self.characters += len(joined)
        if self.characters > MOST_CHARACTERS:
            return f"more than {MOST_CHARACTERS:,} characters of text"
        if len(joined) > self.longest:
            self.longest = max(self.longest, *map(len, texts))
        # Two halves may stand in neighbouring texts, and make no whole in JSON.
        if not joined.isascii() and any(map(_has_surrogate, texts)):
            return "half of a surrogate pair"
        return None

    def _integers(self, items: list[Any]) -> str | None:
        self.numbers += len(items)
        if max(items) > _LARGE or min(items) < -_LARGE:
            large = [item for item in items if not -_LARGE <= item <= _LARGE]
            self.large_integers += len(large)
            if max(item.bit_length() for item in large) > _MOST_BITS:
                return f"a whole number of more than {MOST_DIGITS} digits"
        return None

    def _floats(self, items: list[Any]) -> str | None:
        self.numbers += len(items)
        for item in items:
            if not _NEAR_ZERO <= abs(item) <= _LARGE_FLOAT and item:
                if not math.isfinite(item):
                    return f"the number {item}"
                self.extreme_numbers += 1
        return None


def measure(value: Any) -> Size:
    """Goes through a value level by level, without recursion, also when it holds itself."""
    size, level = Size(), [value]
    while level:
        level = size.take(level)
    return size


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
