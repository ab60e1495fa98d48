"""What matching a regular expression can cost, by its text alone.

The engine reads a text once where an expression is regular, keeping all the states that it
can be in. Look-around and back references are matched by trying.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SHORT = 64
"""Characters of a text that is matched in little time whatever the pattern is."""

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
        per_character: where the time grows with the length of the text; 0 otherwise.
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

    def of(self, length: int) -> float:
        """The time for a text of so many characters."""
        if length <= SHORT:
            return self.each + length * self.short
        return self.each + length * self.per_character + length * length * self.squared


class _Sequence:
    """A sequence of atoms that is being read.

    Attributes:
        size: its states, repetitions written out.
        live: the states that can be live at one time; 0 before the first repetition.
    """

    def __init__(self, is_look: bool = False) -> None:
        self.is_look = is_look
        self.size = self.live = 0
        self.ended_size = self.ended_live = 0
        self.atom: tuple[int, int, bool] = (0, 0, False)

    def add(self, size: int, live: int, is_one: bool = False) -> None:
        """Appends an atom."""
        self.settle()
        self.atom = (size, live, is_one)

    def settle(self) -> None:
        """Nothing can be said of the last atom any more."""
        size, live, _ = self.atom
        self.size += size
        self.live += size if self.live else live
        self.atom = (0, 0, False)

    def repeat(self, least: int, most: int | None) -> None:
        """The last atom stands there so many times."""
        size, live, is_one = self.atom
        times = max(least, most or 1, 1)
        whole = size * times
        if most == least:
            live = live * times
        elif self.live or not is_one:
            live = whole
        else:
            live = 1
        self.atom = (whole, live, False)

    def next_alternative(self) -> None:
        """One alternative ends here."""
        self.settle()
        self.ended_size += self.size
        self.ended_live += self.live
        self.size = self.live = 0


def pattern_cost(pattern: str) -> PatternCost:
    """A bound on the cost of a pattern that the engine has taken."""
    open_sequences = [_Sequence()]
    looks, is_tried = 0, False
    is_anchored = pattern.startswith(("^", "\\A"))
    for token in _TOKENS.finditer(pattern):
        here, kind = open_sequences[-1], token.lastgroup
        if kind in ("look", "open"):
            looks += kind == "look"
            is_tried = is_tried or token[0] == "(?>"
            nested = kind == "look" and any(s.is_look for s in open_sequences)
            is_tried = is_tried or nested
            open_sequences.append(_Sequence(kind == "look"))
        elif kind == "close" and len(open_sequences) > 1:
            open_sequences.pop()
            here.next_alternative()
            above = open_sequences[-1]
            above.add(here.ended_size, here.ended_live)
            # Look-around at the top level is tried once a position, elsewhere often.
            is_tried = is_tried or (here.is_look and len(open_sequences) > 1)
        elif kind == "alternative":
            is_anchored = is_anchored and len(open_sequences) > 1
            here.next_alternative()
        elif token["repeat"]:
            is_tried = is_tried or token["greed"] == "+"
            here.repeat(*_counts(token))
        elif token["back"]:
            is_tried = True
            here.add(1, 1)
        elif kind in ("set", "one"):
            here.add(1, 0, is_one=True)
    whole = open_sequences[0]
    whole.next_alternative()
    states = whole.ended_size
    if is_tried or (looks and not is_anchored):
        return PatternCost(states, 0.0, 20.0)
    live = whole.ended_live if is_anchored else whole.ended_size
    rate = 3.0 if live <= _FEW_STATES else 20.0 * live
    return PatternCost(states, rate * (looks + 1))


def _counts(token: re.Match[str]) -> tuple[int, int | None]:
    if token["least"] is None:
        return 0, None
    least = int(token["least"][:9])
    if token["comma"] is None:
        return least, least
    return least, int(token["most"][:9]) if token["most"] else None
