"""Texts that probably match a regular expression; whoever needs to know has to try them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["texts_of"]

_MOST_REPEATS = 40
_LONGEST = 2_000
_CLASSES = {
    "d": "0123456789",
    "w": "aA0_zZ9",
    "s": " \t",
    "D": "a-Z",
    "W": " -.",
    "S": "aA0-",
}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_ANY = "aA0 -_"
_OTHERS = "aA0_- ./:@zZ9"


class _Style(NamedTuple):
    """Which of the many texts is made.

    Attributes:
        more: how often something is repeated beyond the least number.
        pick: which of several alternatives and characters is taken.
    """

    more: int
    pick: int


_STYLES = tuple(
    _Style(more, pick) for more, pick in ((0, 0), (1, 0), (0, 1), (3, 2), (8, 0))
)


class _Unreadable(Exception):
    """The expression has something that is not written by this module."""


def texts_of(pattern: str) -> list[str]:
    """Some texts, the shortest first; none for an expression that cannot be read."""
    found: dict[str, None] = {}
    for style in _STYLES:
        try:
            reader = _Reader(pattern, style)
            text = reader.alternatives()
            if reader.at != len(pattern):
                return []
        except (_Unreadable, RecursionError):
            return []
        found[text] = None
    return list(found)


class _Reader:
    """Reads an expression and writes a text at the same time."""

    def __init__(self, pattern: str, style: _Style) -> None:
        self.pattern = pattern
        self.style = style
        self.at = 0

    @property
    def next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def alternatives(self) -> str:
        """What stands up to the end, or to the next closing bracket."""
        found = [self.sequence()]
        while self.next == "|":
            self.at += 1
            found.append(self.sequence())
        return found[self.style.pick % len(found)]

    def sequence(self) -> str:
        written = ""
        while self.next and self.next not in "|)":
            atom = self.atom()
            written += self.repeated(atom)
            if len(written) > _LONGEST:
                raise _Unreadable
        return written

    def atom(self) -> str:
        char = self.next
        self.at += 1
        if char in "^$":
            return ""
        if char == ".":
            return _ANY[self.style.pick % len(_ANY)]
        if char == "[":
            return self.one_of()
        if char == "\\":
            return self.escape()
        if char == "(":
            return self.group()
        return char

    def group(self) -> str:
        is_empty = False
        if self.next == "?":
            self.at += 1
            kind = self.next
            self.at += 1
            if kind in "=!":
                is_empty = True
            elif kind == "<" and self.next in ("=", "!"):
                is_empty = True
                self.at += 1
            elif kind in ("P", "<"):
                end = self.pattern.find(">", self.at)
                if end < 0:
                    raise _Unreadable
                self.at = end + 1
            elif kind != ":":
                raise _Unreadable
        inner = self.alternatives()
        if self.next != ")":
            raise _Unreadable
        self.at += 1
        return "" if is_empty else inner

    def escape(self) -> str:
        char = self.next
        self.at += 1
        if char in "bBAzZ":
            return ""
        if char in _CLASSES:
            return _CLASSES[char][self.style.pick % len(_CLASSES[char])]
        if char in ("u", "x"):
            size = 4 if char == "u" else 2
            digits = self.pattern[self.at : self.at + size]
            self.at += size
            try:
                return chr(int(digits, 16))
            except ValueError:
                raise _Unreadable from None
        if char in "pPk" or not char:
            raise _Unreadable
        if char.isdigit() and char != "0":
            raise _Unreadable
        return _ESCAPES.get(char, char)

    def one_of(self) -> str:
        is_not = self.next == "^"
        self.at += is_not
        chars: list[str] = []
        first = True
        while self.next and (first or self.next != "]"):
            first = False
            if self.next == "\\":
                name = self.pattern[self.at + 1 : self.at + 2]
                self.at += 1
                here = self.escape()
                chars += _CLASSES.get(name, here)
            else:
                here = self.next
                self.at += 1
                chars.append(here)
            if self.next == "-" and self.pattern[self.at + 1 : self.at + 2] not in (
                "]",
                "",
            ):
                self.at += 1
                last = self.escape_or_char()
                chars += [last, chr((ord(here[:1] or "a") + ord(last[:1] or "a")) // 2)]
        if self.next != "]":
            raise _Unreadable
        self.at += 1
        if is_not:
            chars = [char for char in _OTHERS if char not in chars]
        if not chars:
            raise _Unreadable
        return chars[self.style.pick % len(chars)]

    def escape_or_char(self) -> str:
        if self.next == "\\":
            self.at += 1
            return self.escape()
        char = self.next
        self.at += 1
        return char

    def repeated(self, atom: str) -> str:
        char = self.next
        least, most = 1, 1.0
        if char in ("*", "+", "?"):
            self.at += 1
            least = int(char == "+")
            most = 1.0 if char == "?" else float("inf")
        elif char == "{":
            end = self.pattern.find("}", self.at)
            low, comma, high = self.pattern[self.at + 1 : end].partition(",")
            if end < 0 or not low.isdecimal() or (high and not high.isdecimal()):
                return atom
            self.at = end + 1
            least = int(low)
            most = float(high) if high else float("inf") if comma else float(least)
        else:
            return atom
        if self.next in ("?", "+"):
            self.at += 1
        times = min(least + self.style.more, most)
        if times > _MOST_REPEATS + least or least > _LONGEST:
            raise _Unreadable
        return atom * int(times)
