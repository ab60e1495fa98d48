"""Limits that keep validation within bounded time, for values and for schemas.

A value must be JSON, and small enough for the time and the stack of a validator. A schema must
not make the cost of validation explode, whatever the value:

- The cost of a pattern depends on the states of its automaton. The engine reads a string once if
  the pattern is regular, and tracks all states that the pattern can be in. Look-around and
  back-references are matched by backtracking.
- Alternatives, conditions and overlapping patterns lead a validator to one location of a value
  by several paths. With references, the number of paths can grow exponentially.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from .references import References, as_mapping, group_child_schemas, walk_objects

MAX_LEVELS = 200
"""Maximum levels of nesting. Deeper values overflow the stack of recursive validators."""

MAX_VALUES = 200_000
"""Maximum number of values in a JSON value, including all nested values."""

MAX_CHARACTERS = 16 * 1024 * 1024
"""Maximum number of characters in all strings and names of a value together."""

MAX_DIGITS = 100
"""Maximum number of digits of an integer.

The time to compare integers grows with the square of their length.
"""

_MAX_BITS = 332
_LARGE_INTEGER = 2**63 - 1
_LARGE_FLOAT = 1e15
_NEAR_ZERO = 1e-9
_NONE_TYPE = type(None)

SHORT = 64
"""Maximum length of a short string, which every pattern matches quickly."""

MAX_PATHS = 100_000
"""Maximum number of paths through a schema to one location of a value.

With more paths validation may take unbounded time.
"""

_MAX_STEPS = 20_000
"""Maximum number of schema locations that a count of paths visits."""
_MAX_PATTERN_STATES = 20_000
"""Maximum number of estimated states of all patterns in a schema."""
_MIN_PATTERN_STATES = 10
"""Number of states that is added for every pattern."""
_STATES_PER_CHARACTER_CLASS = 25
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
    """An upper bound on the time to match a pattern, in nanoseconds.

    Attributes:
        states: the states of the automaton, with repetitions expanded.
        per_character: the time per character of a string that is not short, if the time
            grows with the length; otherwise 0.
        squared: the factor of the squared length, if the time grows with that; otherwise 0.
    """

    states: int
    per_character: float
    squared: float = 0.0

    @property
    def per_match(self) -> float:
        """The constant part of the time of every match."""
        return 60.0 + 0.15 * self.states

    @property
    def short(self) -> float:
        """The time per character of a short string, measured with the slowest known patterns."""
        return 50.0 if self.squared else 10.0


@dataclass
class _Sequence:
    """Sequence of atoms in a pattern during parsing, with its finished alternatives.

    Attributes:
        is_look: whether the sequence is a look-around.
        size: the states of the current alternative, with repetitions expanded.
        live: the states that can be active at the same time; 0 before the first repetition.
        finished: the states and active states of the finished alternatives.
        atom: the states and active states of the last atom, and whether it is a single
            character. It is added late, because a repetition may follow.
    """

    is_look: bool = False
    size: int = 0
    live: int = 0
    finished: tuple[int, int] = (0, 0)
    atom: tuple[int, int, bool] = (0, 0, False)

    def add(self, size: int, live: int, is_character: bool = False) -> None:
        """Append an atom, and add the previous atom to the totals."""
        last_size, last_live, _ = self.atom
        self.size += last_size
        self.live += last_size if self.live else last_live
        self.atom = (size, live, is_character)

    def repeat(self, minimum: int, maximum: int | None) -> None:
        """Apply a repetition to the last atom; a maximum of None is unlimited."""
        size, live, is_character = self.atom
        times = max(minimum, maximum or 1, 1)
        if maximum == minimum:
            live *= times
        else:
            live = size * times if self.live or not is_character else 1
        self.atom = (size * times, live, False)

    def finish_alternative(self) -> tuple[int, int]:
        """Finish the current alternative; return states and active states of all so far."""
        self.add(0, 0)
        self.finished = self.finished[0] + self.size, self.finished[1] + self.live
        self.size = self.live = 0
        return self.finished


def estimate_pattern_cost(pattern: str) -> PatternCost:
    """Return an upper bound on the cost of a pattern that the engine accepts."""
    stack = [_Sequence()]
    look_arounds, needs_backtracking = 0, False
    is_anchored = pattern.startswith(("^", "\\A"))
    for token in _TOKENS.finditer(pattern):
        sequence, kind = stack[-1], token.lastgroup
        if kind in ("look", "open"):
            is_look = kind == "look"
            look_arounds += is_look
            is_nested = is_look and any(s.is_look for s in stack)
            if token[0] == "(?>" or is_nested:
                needs_backtracking = True
            stack.append(_Sequence(is_look))
        elif kind == "close" and len(stack) > 1:
            stack.pop()
            stack[-1].add(*sequence.finish_alternative())
            # The engine tries a look-around once per position at the top level, but more often
            # inside a group.
            if sequence.is_look and len(stack) > 1:
                needs_backtracking = True
        elif kind == "alternative":
            is_anchored = is_anchored and len(stack) > 1
            sequence.finish_alternative()
        elif token["repeat"]:
            if token["greed"] == "+":
                needs_backtracking = True
            sequence.repeat(*_parse_repetition(token))
        elif token["back"]:
            needs_backtracking = True
            sequence.add(1, 1)
        elif kind in ("set", "one"):
            sequence.add(1, 0, is_character=True)
    states, live = stack[0].finish_alternative()
    if needs_backtracking or (look_arounds and not is_anchored):
        return PatternCost(states, 0.0, 20.0)
    # A match without an anchor may start at every position, so all states may be active.
    live = live if is_anchored else states
    rate = 3.0 if live <= _FEW_STATES else 20.0 * live
    return PatternCost(states, rate * (look_arounds + 1))


def _parse_repetition(token: re.Match[str]) -> tuple[int, int | None]:
    """Return the minimum and maximum of a repetition; a maximum of None is unlimited."""
    if token["least"] is None:
        return 0, None
    # Nine digits exceed every limit already; converting more digits could take long.
    minimum = int(token["least"][:9])
    if token["comma"] is None:
        return minimum, minimum
    return minimum, int(token["most"][:9]) if token["most"] else None


def has_oversized_patterns(schema: Any) -> bool:
    """Return whether the patterns of a schema take too long to compile."""
    states = 0
    for part in walk_objects(schema):
        patterns = [*as_mapping(part.get("patternProperties")), part.get("pattern")]
        for pattern in patterns:
            if isinstance(pattern, str):
                has_class = "\\p" in pattern or "\\P" in pattern
                factor = _STATES_PER_CHARACTER_CLASS if has_class else 1
                states += (
                    _MIN_PATTERN_STATES + factor * estimate_pattern_cost(pattern).states
                )
        if states > _MAX_PATTERN_STATES:
            return True
    return False


class _PathLimitError(Exception):
    """Number of paths that exceeds the maximum or takes too long to count."""


def count_max_visits(schema: Any, levels: int, maximum: int) -> int | None:
    """Return an upper bound on a validator's visits of one location of a value.

    A validator decides quickly whether a value is valid, but its list of errors has an error
    for each visit.

    Args:
        schema: the schema.
        levels: the levels of nesting of the value.
        maximum: the maximum number; return None above it.
    """
    try:
        return _PathCounter(schema, maximum).count_in_value(schema, levels)
    except (_PathLimitError, RecursionError):
        return None


def exceeds_path_limit(schema: Any, maximum: int = MAX_PATHS) -> bool:
    """Return whether more than `maximum` paths of a schema lead to the same value.

    References in alternatives multiply: seventeen definitions that each refer to the next one
    twice have 131,072 paths, and a validator follows all of them. Recursion into the children
    of a value does not count, nor do references that lead nowhere.
    """
    counter = _PathCounter(schema, maximum)
    try:
        return any(
            counter.count_at_value(part) > maximum for part in walk_objects(schema)
        )
    except RecursionError:
        return True


class _PathCounter:
    """Counter of the paths through a schema to one location of a value."""

    def __init__(self, root: Any, maximum: int) -> None:
        self._references = References(root)
        self._maximum = maximum
        self._at_value: dict[int, int] = {}
        self._in_value: dict[tuple[int, int], int] = {}

    def count_at_value(self, schema: Any) -> int:
        """Return the paths to the value that a schema applies to; loops count once."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key not in self._at_value:
            # Preset 0: a schema that refers to itself adds no path and ends the recursion.
            self._at_value[key] = 0
            tried = self._references.list_tried_schemas(schema)
            paths = 1 + sum(map(self.count_at_value, tried))
            self._at_value[key] = min(paths, self._maximum + 1)
        return self._at_value[key]

    def count_in_value(self, schema: Any, levels: int) -> int:
        """Return the paths to the location of a value that most paths lead to.

        Raises:
            _PathLimitError: there are more paths than the maximum, or too many steps are needed.
        """
        if not isinstance(schema, Mapping) or levels <= 0:
            return 1
        key = (id(schema), levels)
        if key not in self._in_value:
            if len(self._in_value) > _MAX_STEPS:
                raise _PathLimitError
            # Preset a count above the maximum: a schema that applies to the same value again
            # has an infinite number of paths.
            self._in_value[key] = self._maximum + 1
            groups, others = group_child_schemas(schema)
            total = 1
            for tried in self._references.list_tried_schemas(schema):
                total += self.count_in_value(tried, levels)
            total += max(
                (self.count_in_value(s, levels - 1) for group in groups for s in group),
                default=0,
            )
            for other in others:
                total += self.count_in_value(other, levels - 1)
            self._in_value[key] = total
        if self._in_value[key] > self._maximum:
            raise _PathLimitError
        return self._in_value[key]


@dataclass(slots=True)
class Size:
    """The size of a value.

    Attributes:
        problem: the first limit that the value exceeds; None if it exceeds none.
        values: the number of values, including the value itself.
        levels: the levels of nesting: 1 for a string, 2 for an array of strings.
        characters: the characters of all strings and names.
        longest: the characters of the longest string or name.
        numbers: the numbers.
        large_integers: the integers that need more than 63 bits.
        extreme_numbers: the floats whose exact value has many digits.
    """

    problem: str | None = None
    values: int = 0
    levels: int = 0
    characters: int = 0
    longest: int = 0
    numbers: int = 0
    large_integers: int = 0
    extreme_numbers: int = 0

    def add_level(self, level: list[Any]) -> list[Any]:
        """Count the values of one level; return the values of the next level.

        After a problem the next level is empty.
        """
        self.levels += 1
        self.values += len(level)
        next_level: list[Any] = []
        if self.levels > MAX_LEVELS:
            self.problem = f"more than {MAX_LEVELS} levels of nesting"
        elif self.values > MAX_VALUES:
            self.problem = f"more than {MAX_VALUES:,} values"
        # Count all values of a type at once, because this code runs for every value of every
        # call.
        types = set(map(type, level))
        for kind in types if self.problem is None else ():
            items = level
            if len(types) > 1:
                items = [item for item in level if type(item) is kind]
            self.problem = self.problem or self._add(kind, items, next_level)
        return next_level if self.problem is None else []

    def _add(self, kind: type, items: list[Any], children: list[Any]) -> str | None:
        """Count values of one type, and append their items and members to `children`.

        Returns:
            The limit that the values exceed; None if they exceed none.
        """
        if kind is bool or kind is _NONE_TYPE:
            return None
        if issubclass(kind, str):
            return self._add_strings(items)
        if issubclass(kind, dict):
            names = list(chain.from_iterable(items))
            children.extend(chain.from_iterable(map(dict.values, items)))
            return self._add_strings(names)
        if issubclass(kind, (list, tuple)):
            # Check the number before extending: a list that contains itself grows endlessly.
            if sum(map(len, items)) > MAX_VALUES:
                return f"more than {MAX_VALUES:,} values"
            children.extend(chain.from_iterable(items))
            return None
        if issubclass(kind, int):
            return self._add_integers(items)
        if issubclass(kind, float):
            return self._add_floats(items)
        return f"a Python {kind.__name__}"

    def _add_strings(self, strings: list[Any]) -> str | None:
        try:
            joined = "".join(strings)
        except TypeError:
            return "a key that is not a string"
        self.characters += len(joined)
        if self.characters > MAX_CHARACTERS:
            return f"more than {MAX_CHARACTERS:,} characters of strings"
        if len(joined) > self.longest:
            self.longest = max(self.longest, *map(len, strings))
        # Check each string, not the joined text, in which two lone surrogates of adjacent
        # strings would form a valid pair.
        if not joined.isascii() and any(map(_has_surrogate, strings)):
            return "half of a surrogate pair"
        return None

    def _add_integers(self, items: list[Any]) -> str | None:
        self.numbers += len(items)
        if max(items) > _LARGE_INTEGER or min(items) < -_LARGE_INTEGER:
            large = [
                item for item in items if not -_LARGE_INTEGER <= item <= _LARGE_INTEGER
            ]
            self.large_integers += len(large)
            if max(item.bit_length() for item in large) > _MAX_BITS:
                return f"an integer of more than {MAX_DIGITS} digits"
        return None

    def _add_floats(self, items: list[Any]) -> str | None:
        self.numbers += len(items)
        for item in items:
            if not _NEAR_ZERO <= abs(item) <= _LARGE_FLOAT and item:
                if not math.isfinite(item):
                    return f"the number {item}"
                self.extreme_numbers += 1
        return None


def measure_value(value: Any) -> Size:
    """Return the size of a value, level by level and without recursion.

    A value that contains itself has a problem.
    """
    size, level = Size(), [value]
    while level:
        level = size.add_level(level)
    return size


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
