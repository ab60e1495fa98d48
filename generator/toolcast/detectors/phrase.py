"""A phrase that texts are searched for, and the cheap signs without which it is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from .prefilter import Clues, clue_words

__all__ = ["Phrase", "first_phrase"]


class Phrase:
    """One pattern.

    Args:
        what: what it is, as the message names it.
        pattern: a regular expression; spaces stand for any white space.
        example: a text that it finds.
        needs: of the words of each entry every match has one; a word is a longest run of
            ASCII letters.
        signs: every match has one of these, in lower case, whatever stands around it.
        run: every match has a run of so many characters without white space.
    """

    def __init__(
        self,
        what: str,
        pattern: str,
        example: str,
        needs: tuple[str, ...] = (),
        signs: tuple[str, ...] = (),
        run: int = 0,
    ) -> None:
        self.what = what
        self.pattern = pattern
        self.example = example
        self.needs = needs
        self.signs = signs
        self.run = run
        self._words = tuple(clue_words(entry.split()) for entry in needs)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, regardless of case."""
        return re.compile(self.pattern.replace(" ", r"\s{1,4}"), re.IGNORECASE)

    def may_be_in(self, clues: Clues) -> bool:
        """Whether a text can have it; the pattern itself tells whether it does."""
        for words in self._words:
            if clues.lacks(words):
                return False
        if self.signs and not any(sign in clues.text for sign in self.signs):
            return False
        return clues.longest >= self.run if self.run else True


_SHORTEST = 8
"""No phrase is shorter; most strings of a schema are."""


def first_phrase(
    text: str, phrases: Sequence[Phrase], clues: Clues | None = None
) -> tuple[Phrase, re.Match[str]] | None:
    """The phrase that stands first in a text, with its match; None when there is none.

    `clues` are those of the text, for a caller who has them.
    """
    if len(text) < _SHORTEST:
        return None
    if clues is None:
        clues = Clues(text)
    first: tuple[Phrase, re.Match[str]] | None = None
    for phrase in phrases:
        if not phrase.may_be_in(clues):
            continue
        match = phrase.compiled.search(text)
        if match and (first is None or match.start() < first[1].start()):
            first = phrase, match
    return first
