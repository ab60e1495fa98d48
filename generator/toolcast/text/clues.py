"""What a text must hold before a pattern can match it, told without running the pattern.

A pattern over every text of every tool is dear; whether a word occurs is not. A clue is a
condition that every match fulfils, never more than that: the pattern still decides.
"""

from __future__ import annotations

import re
from functools import cached_property

__all__ = ["Clues", "folded"]

# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
_LETTERS = re.compile("[a-z]+")
_ONLY_LETTERS = {
    point: " " for point in range(128) if not ord("a") <= point <= ord("z")
}


def folded(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters."""
    return text.lower() if text.isascii() else text.translate(_FOLDS).lower()


class Clues:
    """What occurs in a text.

    Attributes:
        text: the text, folded.
    """

    def __init__(self, text: str) -> None:
        self.text = folded(text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its longest runs of ASCII letters, lower case."""
        if self.text.isascii():
            return frozenset(self.text.translate(_ONLY_LETTERS).split())
        return frozenset(_LETTERS.findall(self.text))

    @cached_property
    def longest(self) -> int:
        """The length of its longest run without white space."""
        return max(map(len, self.text.split()), default=0)
