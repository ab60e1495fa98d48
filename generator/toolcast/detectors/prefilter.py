"""What occurs in a text, so that a pattern is run only over texts that can match it.

Running every pattern over every text of every tool takes long; asking which words occur in
a text does not. What is asked here is a condition that every match of a pattern fulfils,
and never more than that: the pattern still decides.
"""

from __future__ import annotations

import string
from functools import cached_property

__all__ = ["Prefilter", "folded"]

# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
_LETTERS = string.ascii_lowercase
_NAMES = f"{_LETTERS}{string.digits}_.-"


def _only(characters: str) -> bytes:
    """A table for `bytes.translate` that makes spaces of all other characters."""
    return bytes(c if chr(c) in characters else 0x20 for c in range(256))


_ONLY_LETTERS, _ONLY_NAMES = _only(_LETTERS), _only(_NAMES)


def folded(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters."""
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
