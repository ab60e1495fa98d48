"""A phrase of attacks, the search for it, and what says quickly where it cannot be.

Running every pattern over every text of every tool takes long; asking which words occur in
a text does not. What is asked is a condition that every match of a pattern fulfils, and
never more than that: the pattern still decides.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Phrase", "Prefilter", "first_phrase", "folded"]

_SHORTEST = 8
"""No phrase is shorter; most strings of a schema are."""


@dataclass(frozen=True)
class Phrase:
    """One pattern, with what every text has that it matches.

    Attributes:
        what: what it is, as the message names it.
        pattern: a regular expression for folded texts, so in lower case; spaces stand
            for any white space.
        example: a text that it finds.
        needs: of the words of each entry every match has one.
        signs: every match has one of these, in lower case, whatever stands around it.
        run: every match has a run of so many characters without white space.
    """

    what: str
    pattern: str
    example: str
    needs: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    run: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, to be searched in a folded text."""
        return re.compile(self.pattern.replace(" ", r"\s{1,4}"))

    @cached_property
    def _needed(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(entry.split()) for entry in self.needs)

    def may_be_in(self, text: Prefilter) -> bool:
        """Whether a text can have it; the pattern itself decides whether it does."""
        for words in self._needed:
            if text.words.isdisjoint(words):
                return False
        if self.signs and not any(sign in text.text for sign in self.signs):
            return False
        return not self.run or text.longest_run >= self.run


def first_phrase(
    text: str, phrases: Sequence[Phrase], prefilter: Prefilter | None = None
) -> tuple[Phrase, str] | None:
    """The phrase that stands first in a text, and its wording; None when there is none.

    `prefilter` is that of the text, for a caller who has it.
    """
    if len(text) < _SHORTEST:
        return None
    prefilter = prefilter or Prefilter(text)
    first: tuple[Phrase, re.Match[str]] | None = None
    for phrase in phrases:
        if not phrase.may_be_in(prefilter):
            continue
        match = phrase.compiled.search(prefilter.text)
        if match and (first is None or match.start() < first[1].start()):
            first = phrase, match
    if first is None:
        return None
    # Folding replaces characters one by one.
    start, end = first[1].span()
    return first[0], text[start:end]


# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
_LETTERS = string.ascii_lowercase
_NAMES = f"{_LETTERS}{string.digits}_.-"


def _only(characters: str) -> bytes:
    """A table for `bytes.translate` that makes spaces of all other characters."""
    return bytes(c if chr(c) in characters else 0x20 for c in range(256))


_ONLY_LETTERS, _ONLY_NAMES = _only(_LETTERS), _only(_NAMES)


def folded(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLDS).lower()


class Prefilter:
    """What occurs in one text.

    Attributes:
        text: the text, folded.
    """

    def __init__(self, text: str) -> None:
        self.text = folded(text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words: longest runs of ASCII letters, in lower case."""
        return self._runs(_ONLY_LETTERS)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its longest runs of what a tool's name is made of, in lower case."""
        return self._runs(_ONLY_NAMES)

    def _runs(self, table: bytes) -> frozenset[str]:
        # Other characters than ASCII become question marks, and those become spaces.
        data = self.text.encode("ascii", "replace").translate(table)
        return frozenset(data.decode("ascii").split())

    @cached_property
    def longest_run(self) -> int:
        """The length of its longest run without white space."""
        return max(map(len, self.text.split()), default=0)
