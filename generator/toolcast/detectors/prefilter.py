"""What a text must hold before a pattern can match it, told without running the pattern.

A pattern over every text of every tool is dear; whether a word occurs is not. A clue is a
condition that every match fulfils, never more than that: the pattern still decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["ClueWords", "Clues", "clue_words", "folded"]

# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
_LETTERS = re.compile("[a-z]+")
_ONLY_LETTERS = {
    point: " " for point in range(128) if not ord("a") <= point <= ord("z")
}


def folded(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters."""
    return text.lower() if text.isascii() else text.translate(_FOLDS).lower()


class ClueWords(frozenset[str]):
    """Words, in lower case, of which a text may have one; made by `clue_words`."""


_known: set[str] = set()


def clue_words(words: Iterable[str]) -> ClueWords:
    """Words that texts are asked for. They are made where a module is loaded: a text is
    gone through again when there are more of them."""
    made = ClueWords(words)
    _known.update(made)
    return made


class Clues:
    """What occurs in a text; of its words only those that anyone asks for are kept.

    A word is a longest run of ASCII letters.

    Attributes:
        text: the text, folded.
    """

    __slots__ = ("_asked", "_found", "_longest", "text")

    def __init__(self, text: str) -> None:
        self.text = folded(text)
        self._asked = -1
        self._found: frozenset[str] = frozenset()
        self._longest = -1

    def lacks(self, words: ClueWords) -> bool:
        """Whether the text has none of the words."""
        if self._asked != len(_known):
            self._asked = len(_known)
            self._found = frozenset(_known.intersection(self._words()))
        return self._found.isdisjoint(words)

    def _words(self) -> list[str]:
        if self.text.isascii():
            return self.text.translate(_ONLY_LETTERS).split()
        return _LETTERS.findall(self.text)

    @property
    def longest(self) -> int:
        """The length of its longest run without white space."""
        if self._longest < 0:
            self._longest = max(map(len, self.text.split()), default=0)
        return self._longest
