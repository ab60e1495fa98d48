"""A phrase of attacks, and the search for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Phrase", "first_phrase", "folded", "may_have"]

# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}


@dataclass(frozen=True)
class Phrase:
    """One pattern.

    Attributes:
        what: what it is, as the message names it.
        pattern: a regular expression for folded texts, so in lower case; spaces stand
            for any white space.
        example: a text that it finds.
    """

    what: str
    pattern: str
    example: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, to be searched in a folded text."""
        return re.compile(self.pattern.replace(" ", r"\s{1,4}"))

    @cached_property
    def within(self) -> re.Pattern[str]:
        """The pattern in the midst of words, too.

        A boundary in front hides from `re` which letters to look for first.
        """
        return re.compile(self.pattern.removeprefix(r"\b").replace(" ", r"\s{1,4}"))


def may_have(text: str, phrases: Sequence[Phrase]) -> bool:
    """False only where a text has none of the phrases; quicker than to look for the first."""
    searched = folded(text)
    return any(phrase.within.search(searched) for phrase in phrases)


def first_phrase(text: str, phrases: Sequence[Phrase]) -> tuple[Phrase, str] | None:
    """The phrase that stands first in a text, and its wording; None when there is none."""
    searched = folded(text)
    found = ((phrase, phrase.compiled.search(searched)) for phrase in phrases)
    matches = [(match.span(), phrase) for phrase, match in found if match]
    if not matches:
        return None
    (start, end), phrase = min(matches, key=lambda pair: pair[0][0])
    # Folding replaces characters one by one.
    return phrase, text[start:end]


def folded(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLDS).lower()
