"""What of a value and of a schema, each by itself, keeps a check within bounds.

A value is JSON, and small enough for the time and the stack of a validator. A schema can be
applied in bounded time at all, by its text alone:

A pattern costs what its states cost. The engine reads a text once where an expression is
regular, keeping all the states that it can be in; look-around and back references are
matched by trying. Alternatives, conditions and overlapping patterns lead a validator to one
place of a value several times; with references these ways multiply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from .references import References, mapping, objects_within, schemas_below

MAX_LEVELS = 200
"""Levels of a value. Deeper values overflow the stack of recursive validators."""

MAX_VALUES = 200_000
"""Values inside a value."""

MAX_CHARACTERS = 16 * 1024 * 1024
"""Characters of all strings and property names of a value together."""

MAX_DIGITS = 100
"""Digits of an integer. The time of a comparison grows with their square."""

_MAX_BITS = 332
_LARGE = 2**63 - 1
_LARGE_FLOAT = 1e15
_NEAR_ZERO = 1e-9
_NONE = type(None)

SHORT = 64
"""Characters of a text that is matched in little time whatever the pattern is."""

MAX_PATHS = 100_000
"""Paths to one location; with more, validation may not end in acceptable time."""

_MAX_STEPS = 20_000
"""Schema locations that one count of paths visits."""
_MAX_PATTERN_STATES = 20_000
"""Estimated states of a schema's patterns."""
_MIN_PATTERN_STATES = 10
"""States that every pattern is counted with."""
_STATES_OF_A_SCRIPT = 25
_FEW_STATES = 12
_TOKENS = re.compile(
    r"""
    (?P<look>\(\?<?[=!]|\(\?>)
    |(?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?)
    |(?P<close>\))
    |(?P<alternative>\|)
    |(?P<repeat>(?:[*+]|\{(?P<least>\d+)(?P<comma>,(?P<most>\d*))?\})(?P<greed>[?+]?))
    |(?P<optional>\?\??)
    |(?P<back>\\[1-9]|\\k)
    |(?P<edge>\^|\$|\\[AbBzZ])
    |(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    |(?P<one>\\[pP]\{\w*\}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class PatternCost(NamedTuple):
    """A bound on the time of one match, in nanoseconds.

    Attributes:
        states: how many the engine makes of it, repetitions written out.
        per_character: of a text that is not short, where the time grows with its length; 0
            otherwise.
        squared: where it grows with the square of the length.
    """

    states: int
    per_character: float
    squared: float = 0.0

    @property
    def each(self) -> float:
        """For every match."""
        return 60.0 + 0.15 * self.states

    @property
    def short(self) -> float:
        """For each character of a short text, as measured with the worst patterns known."""
        return 50.0 if self.squared else 10.0


@dataclass
class _Sequence:
    """A sequence of atoms that is being read, and the alternatives to it before.

    Attributes:
        is_look: whether it is a look-around.
        size: its states, repetitions written out.
        live: the states that can be live at one time; 0 before the first repetition.
        ended: size and live states of the alternatives that are read.
        atom: those of the last atom, which a repetition may follow, and whether it is one
            character.
    """

    is_look: bool = False
    size: int = 0
    live: int = 0
    ended: tuple[int, int] = (0, 0)
    atom: tuple[int, int, bool] = (0, 0, False)

    def add(self, size: int, live: int, is_one: bool = False) -> None:
        """Appends an atom."""
        before, live_before, _ = self.atom
        self.size += before
        self.live += before if self.live else live_before
        self.atom = (size, live, is_one)

    def repeat(self, least: int, most: int | None) -> None:
        """The last atom stands there so many times."""
        size, live, is_one = self.atom
        times = max(least, most or 1, 1)
        if most == least:
            live *= times
        else:
            live = size * times if self.live or not is_one else 1
        self.atom = (size * times, live, False)

    def end(self) -> tuple[int, int]:
        """Ends an alternative: size and live states of all so far."""
        self.add(0, 0)
        self.ended = self.ended[0] + self.size, self.ended[1] + self.live
        self.size = self.live = 0
        return self.ended


def pattern_cost(pattern: str) -> PatternCost:
    """A bound on the cost of a pattern that the engine has taken."""
    open_sequences = [_Sequence()]
    looks, is_tried = 0, False
    is_anchored = pattern.startswith(("^", "\\A"))
    for token in _TOKENS.finditer(pattern):
        here, kind = open_sequences[-1], token.lastgroup
        if kind in ("look", "open"):
            is_look = kind == "look"
            looks += is_look
            nested = is_look and any(s.is_look for s in open_sequences)
            is_tried = is_tried or token[0] == "(?>" or nested
            open_sequences.append(_Sequence(is_look))
        elif kind == "close" and len(open_sequences) > 1:
            open_sequences.pop()
            open_sequences[-1].add(*here.end())
            # Look-around at the top level is tried once a position, elsewhere often.
            is_tried = is_tried or (here.is_look and len(open_sequences) > 1)
        elif kind == "alternative":
            is_anchored = is_anchored and len(open_sequences) > 1
            here.end()
        elif token["repeat"]:
            is_tried = is_tried or token["greed"] == "+"
            here.repeat(*_counts(token))
        elif token["back"]:
            is_tried = True
            here.add(1, 1)
        elif kind in ("set", "one"):
            here.add(1, 0, is_one=True)
    states, live = open_sequences[0].end()
    if is_tried or (looks and not is_anchored):
        return PatternCost(states, 0.0, 20.0)
    live = live if is_anchored else states
    rate = 3.0 if live <= _FEW_STATES else 20.0 * live
    return PatternCost(states, rate * (looks + 1))


def _counts(token: re.Match[str]) -> tuple[int, int | None]:
    if token["least"] is None:
        return 0, None
    least = int(token["least"][:9])
    if token["comma"] is None:
        return least, least
    return least, int(token["most"][:9]) if token["most"] else None


def patterns_are_too_large(schema: Any) -> bool:
    """Whether to compile all patterns of a schema takes longer than a call may."""
    states = 0
    for part in objects_within(schema):
        for text in [*mapping(part.get("patternProperties")), part.get("pattern")]:
            if isinstance(text, str):
                is_wide = "\\p" in text or "\\P" in text
                each = _STATES_OF_A_SCRIPT if is_wide else 1
                states += _MIN_PATTERN_STATES + each * pattern_cost(text).states
        if states > _MAX_PATTERN_STATES:
            return True
    return False


class _PathLimitError(Exception):
    """Schema with more paths to one location than the limit."""


def most_visits(schema: Any, levels: int, most: int) -> int | None:
    """A bound on the ways to one place of a value of so many levels; None above `most`.

    A validator decides in bounded time, but whoever asks it for all that is wrong gets an
    error for each way.
    """
    try:
        return _Ways(schema, most).through(schema, levels)
    except (_PathLimitError, RecursionError):
        return None


def multiplies(schema: Any, most: int = MAX_PATHS) -> bool:
    """Whether more than `most` ways lead to one place of a value, at one level.

    References that alternatives share multiply: seventeen definitions that name the next
    one twice make 131,072 ways, and a validator goes them all. Recursion through the levels
    of a value is no such way, nor is a reference that leads nowhere.
    """
    ways = _Ways(schema, most)
    try:
        return any(ways.within(part) > most for part in objects_within(schema))
    except RecursionError:
        return True


class _Ways:
    """The ways through a schema to one place of a value."""

    def __init__(self, root: Any, most: int) -> None:
        self._references = References(root)
        self._most = most
        self._within: dict[int, int] = {}
        self._through: dict[tuple[int, int], int] = {}

    def within(self, schema: Any) -> int:
        """Those to the place of a schema from itself; loops are not followed again."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key not in self._within:
            self._within[key] = 0
            ways = 1 + sum(map(self.within, self._references.tried(schema)))
            self._within[key] = min(ways, self._most + 1)
        return self._within[key]

    def through(self, schema: Any, levels: int) -> int:
        """Those to the place that is reached most often, this place counted in."""
        if not isinstance(schema, Mapping) or levels <= 0:
            return 1
        key = (id(schema), levels)
        if key not in self._through:
            if len(self._through) > _MAX_STEPS:
                raise _PathLimitError
            # A schema that comes back to itself at one place has no bound.
            self._through[key] = self._most + 1
            groups, besides = schemas_below(schema)
            same = [self.through(s, levels) for s in self._references.tried(schema)]
            below = [self.through(s, levels - 1) for group in groups for s in group]
            others = [self.through(s, levels - 1) for s in besides]
            self._through[key] = 1 + sum(same) + max(below, default=0) + sum(others)
        if self._through[key] > self._most:
            raise _PathLimitError
        return self._through[key]


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
        if self.levels > MAX_LEVELS:
            self.problem = f"more than {MAX_LEVELS} levels deep"
        elif self.values > MAX_VALUES:
            self.problem = f"more than {MAX_VALUES:,} values"
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
            if sum(map(len, items)) > MAX_VALUES:
                return f"more than {MAX_VALUES:,} values"
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
        if self.characters > MAX_CHARACTERS:
            return f"more than {MAX_CHARACTERS:,} characters of text"
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
            if max(item.bit_length() for item in large) > _MAX_BITS:
                return f"a whole number of more than {MAX_DIGITS} digits"
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
