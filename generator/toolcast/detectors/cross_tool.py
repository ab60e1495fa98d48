"""Finds phrases that order the use of another tool by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from .phrases import folded

__all__ = ["CrossToolInstructions"]

_ORDER = (
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

# What names of tools are made of.
_NAMES = re.compile(r"[a-z0-9_.-]+")
_LONGEST_NAME = 128
# A name that no word of a sentence is.
_TELLING = re.compile(r"[_.\d-]|[a-z][A-Z]")
_OPENING, _CLOSING = "`'\"‘“", "`'\"’”"


class CrossToolInstructions:
    """Finds phrases that order the use of one of many tools.

    A pattern of all names would be tried at each letter of each text; one of the few names
    that occur in a text is small. A name that could be a word of a sentence counts in
    quotes only.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_fold: dict[str, list[str]] = {}
        for name in names:
            self._by_fold.setdefault(folded(name), []).append(name)

    def finditer(self, text: str, own: str = "") -> Iterator[re.Match[str]]:
        """The matches in a text, each with the name in one of its groups.

        Args:
            text: what is searched.
            own: the name of the tool whose text it is, which is not looked for.
        """
        names = self.names_in(text, own)
        if names and _order_of_any().search(text):
            yield from _pattern(tuple(sorted(names))).finditer(text)

    def names_in(self, text: str, own: str = "") -> list[str]:
        """The names that a text has where they count, but for its tool's own."""
        searched = folded(text)
        runs = frozenset(_NAMES.findall(searched))
        return [
            name
            for fold in self._folds_in(runs) - {folded(own)}
            for name in self._by_fold[fold]
            if _TELLING.search(name) or _is_quoted(fold, searched)
        ]

    def _folds_in(self, runs: frozenset[str]) -> frozenset[str]:
        """The names that a text may have, one that stands before a full stop among them."""
        found = set(runs & self._by_fold.keys())
        for run in [run[:_LONGEST_NAME] for run in runs if "." in run]:
            while "." in run:
                run = run.rpartition(".")[0]
                if run in self._by_fold:
                    found.add(run)
        return frozenset(found)


def _is_quoted(fold: str, text: str) -> bool:
    return any(f"{mark}{fold}" in text for mark in _OPENING)


def _spelled_out(name: str) -> str:
    return _ORDER.replace(" ", r"\s{{1,4}}").format(name)


@cache
def _order_of_any() -> re.Pattern[str]:
    """An order to use whatever tool: few texts have one, and a pattern is slow to compile."""
    name = rf"(?:[{_OPENING}]|(?<![\w./-]))[\w.-]{{1,{_LONGEST_NAME}}}[{_CLOSING}]?"
    return re.compile(_spelled_out(name), re.IGNORECASE)


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    quoted = "|".join(re.escape(name) for name in names)
    telling = [name for name in names if _TELLING.search(name)]
    plain = "|".join(re.escape(name) for name in telling)
    shown = rf"[{_OPENING}]({quoted})[{_CLOSING}]"
    if plain:
        shown = rf"(?:{shown}|(?<![\w./-])({plain})(?![\w/-]))"
    # The name stands in the pattern twice; groups tell which one was found.
    return re.compile(_spelled_out(shown), re.IGNORECASE)
