"""Finds names that are easily confused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolcast_runtime.tools.look_alikes import look_alike_key

__all__ = ["similar_pairs"]

_SHORTEST_WORD = 5
"""Shorter words are often one edit apart (`get` and `set`, `lpop` and `rpop`)."""


def similar_pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of nearly the same names, each once, in order."""
    listed = sorted(set(names))
    found: set[tuple[str, str]] = set()
    by_fold: dict[str, list[str]] = {}
    by_letter: dict[tuple[str, ...], list[str]] = {}
    by_digit: dict[tuple[str, ...], list[str]] = {}
    for name in listed:
        by_fold.setdefault(look_alike_key(name), []).append(name)
        for key, is_letter in _deletions(_words(name)):
            by_key = by_letter if is_letter else by_digit
            by_key.setdefault(key, []).append(name)
    for group in by_fold.values():
        found.update(_pairs(group))
    # Names that differ in their digits alone are meant to; of others one loses a letter.
    for key, group in by_letter.items():
        others = by_digit.get(key)
        if len(group) > 1 or others:
            nearby = _pairs_with(dict.fromkeys(group), dict.fromkeys(others or ()))
            found.update(p for p in nearby if _one_edit(*p))
    yield from sorted(found)


def _pairs_with(
    group: Iterable[str], others: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of a group, and those of one of it with one of the others."""
    listed = list(group)
    yield from _pairs(listed)
    for one in listed:
        for other in others:
            if one != other:
                yield (one, other) if one < other else (other, one)


def _pairs(group: list[str]) -> Iterator[tuple[str, str]]:
    unique = list(dict.fromkeys(group))
    for index, first in enumerate(unique):
        for second in unique[index + 1 :]:
            yield first, second


def _words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[a-z0-9]+", spaced.lower()))


def _deletions(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The words, and all that one deleted character leaves of one longer word.

    Two words are one edit apart only if they share one of these. Each comes with whether
    it lost a letter.
    """
    yield words, False
    for place, word in enumerate(words):
        if len(word) < _SHORTEST_WORD:
            continue
        for index in range(len(word)):
            shorter = word[:index] + word[index + 1 :]
            is_letter = not word[index].isdigit()
            yield (*words[:place], shorter, *words[place + 1 :]), is_letter


def _one_edit(first: str, second: str) -> bool:
    pairs = list(zip(_words(first), _words(second), strict=True))
    differing = [(a, b) for a, b in pairs if a != b]
    if len(differing) != 1:
        return not differing
    shorter, longer = sorted(differing[0], key=len)
    if len(shorter) < _SHORTEST_WORD or _is_plural(shorter, longer):
        return False
    if len(shorter) == len(longer) and not _swapped_or_replaced(shorter, longer):
        return False
    return re.sub(r"\d", "", shorter) != re.sub(r"\d", "", longer)


def _is_plural(shorter: str, longer: str) -> bool:
    return longer in (f"{shorter}s", f"{shorter}d", f"{shorter}r")


def _swapped_or_replaced(first: str, second: str) -> bool:
    places = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(places) == 2 and places[1] == places[0] + 1:
        a, b = places
        return first[a] == second[b] and first[b] == second[a]
    return len(places) == 1
