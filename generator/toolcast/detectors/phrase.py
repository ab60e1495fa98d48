"""A phrase of attacks, and the search for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .prefilter import Prefilter

__all__ = ["Phrase", "first_phrase"]

_SHORTEST = 8
"""No phrase is shorter; most strings of a schema are."""


@dataclass(frozen=True)
class Phrase:
    """One pattern, with what every text has that it matches.

    Attributes:
        what: what it is, as the message names it.
        pattern: a regular expression; spaces stand for any white space.
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
        """The pattern, regardless of case."""
        return re.compile(self.pattern.replace(" ", r"\s{1,4}"), re.IGNORECASE)

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
) -> tuple[Phrase, re.Match[str]] | None:
    """The phrase that stands first in a text, with its match; None when there is none.

    `prefilter` is that of the text, for a caller who has it.
    """
    if len(text) < _SHORTEST:
        return None
    prefilter = prefilter or Prefilter(text)
    first: tuple[Phrase, re.Match[str]] | None = None
    for phrase in phrases:
        if not phrase.may_be_in(prefilter):
            continue
        match = phrase.compiled.search(text)
        if match and (first is None or match.start() < first[1].start()):
            first = phrase, match
    return first
