"""Phrases that order the use of a named tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from .prefilter import Clues, clue_words, folded

__all__ = ["Steering", "steering"]

_STEER = (
    r"(?:"
    r"\b(?:always|must|never|do not|don['’]t|have to|required to|are to)"
    r" (?:\w+ ){{0,1}}(?:call|use|invoke|run|execute|trust)"
    r"|\b(?:before|after|whenever|every time|each time)"
    r" (?:you )?(?:call|use|invoke|run|execut|us|invok|runn)(?:e|ing)?"
    r"|\b(?:overrides?|replaces?|supersedes?|disables?)"
    r") (?:the |to )?(?:tool |function )?{0}"
    r"|{0} (?:tool |function )?(?:must|should) (?:never|not|always|first|only)"
    r" (?:\w+ ){{0,1}}(?:call|use|invoke|run|execute|trust)\w{{0,2}}\b"
)


# Every match has one of these words.
_VERBS = clue_words(
    [
        *("always", "must", "never", "not", "don", "have", "required", "are", "should"),
        *("before", "after", "whenever", "every", "each"),
        *("override", "overrides", "replace", "replaces", "supersede", "supersedes"),
        *("disable", "disables"),
    ]
)
_LONGEST_NAME = 128
_RUNS = re.compile(r"[\w.-]+")


class Steering:
    """The phrases that order the use of one of many tools.

    A pattern of all names would be tried at each letter of each text; one of the few names
    that a text has is small.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_fold: dict[str, list[str]] = {}
        for name in names:
            self._by_fold.setdefault(folded(name), []).append(name)

    def finditer(
        self, text: str, clues: Clues | None = None
    ) -> Iterator[re.Match[str]]:
        """The matches in a text, each with the name in one of its groups.

        `clues` are those of the text, for a caller who has them.
        """
        clues = Clues(text) if clues is None else clues
        if clues.lacks(_VERBS):
            return
        names = frozenset(self._names_in(clues.text))
        if names:
            yield from _pattern(tuple(sorted(names))).finditer(text)

    def search(self, text: str, clues: Clues | None = None) -> re.Match[str] | None:
        """The first match in a text, or None."""
        return next(self.finditer(text, clues), None)

    def _names_in(self, folded_text: str) -> Iterator[str]:
        """The names that a text may have, one that stands before a full stop among them."""
        runs = frozenset(_RUNS.findall(folded_text))
        for run in runs & self._by_fold.keys():
            yield from self._by_fold[run]
        for run in runs:
            if "." not in run:
                continue
            run = run[:_LONGEST_NAME]
            while "." in run:
                run = run.rpartition(".")[0]
                yield from self._by_fold.get(run, ())


def steering(names: Sequence[str]) -> Steering | None:
    """Finds phrases that order the use of one of the tools; None without tools.

    A name that could be a word of a sentence counts in quotes only.
    """
    return Steering(names) if names else None


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    quoted = "|".join(re.escape(name) for name in names)
    telling = [name for name in names if re.search(r"[_.\d-]|[a-z][A-Z]", name)]
    plain = "|".join(re.escape(name) for name in telling)
    shown = rf"[`'\"‘“]({quoted})[`'\"’”]"
    if plain:
        shown = rf"(?:{shown}|(?<![\w./-])({plain})(?![\w/-]))"
    # The name stands in the pattern twice; groups tell which one was found.
    return re.compile(_STEER.replace(" ", r"\s{{1,4}}").format(shown), re.IGNORECASE)
