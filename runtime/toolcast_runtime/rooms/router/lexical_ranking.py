"""Tools by the words of a message: BM25 over their names and texts, in memory.

BM25 counts how often a tool has a word, more for a rare word and less in a long text. Two
things are our own: a word of the tool's name or summary counts more than one of a parameter,
and another form of the word (`commits`, `committed`) counts less, so that the exact word wins.
A message in other words, or in another language, matches little, which counts as doubt: then
all are shown. A greeting or thanks needs none.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from math import log
from typing import Any

from .message_words import TIMES, is_greeting, joined_words, message_words, stem, words
from .route import Route, RoutedTool

# BM25's own: how soon repeating a word stops to count, and how much a text's length does.
_SATURATION = 1.2
_LENGTH = 0.75
# What a word counts for in each text of a tool, and as another form or only a beginning.
_NAME = 3.0
_SUMMARY = 2.0
_PARAMETERS = 0.3
_OTHER_FORM = 0.6
_BEGINNING = 0.3
_SHORTEST_BEGINNING = 4
_MOST_BEGINNINGS = 50
_SHORTEST_HALF = 3
# Shown is what scores at least a part of the best, the larger the better the best one fits
# the message, and at most so many.
_LEAST_OF_BEST = (0.25, 0.6)
_MOST_OF_ALL = 0.5
_FEW, _MANY = 3, 30
# A tool is shown only for a word that no more than this part of the tools have.
_TELLING = 2 / 3
# Doubt is when the tools' texts know fewer of the message's words than this part, unless it
# begins with a word of few tools' texts, as orders do.
_LEAST_KNOWN = 0.3
_FEW_OF_ALL = 0.125
_HISTORY = 0.3
_MOST_LEVELS = 4
_MOST_CACHED = 32


@lru_cache(maxsize=_MOST_CACHED)
def _cached(tools: tuple[_Key, ...]) -> LexicalRanking:
    return LexicalRanking([key.tool for key in tools])


class _Key:
    """A tool as the key of a cache: equal to one that says the same.

    Its texts are hashed alone. Tools that say the same mostly have the same parameters, not
    only equal ones, so that nothing large is compared.
    """

    def __init__(self, tool: RoutedTool) -> None:
        self.tool = tool
        self._said = (tool.name, tool.summary, tool.description, tool.when_to_use)

    def __hash__(self) -> int:
        return hash(self._said)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Key) or self._said != other._said:
            return False
        mine, others = self.tool.parameters, other.tool.parameters
        return mine is others or mine == others


def ranking(tools: Sequence[RoutedTool]) -> LexicalRanking:
    """The ranking of these tools, made at the first use and cached for the next."""
    return _cached(tuple(_Key(tool) for tool in tools))


class LexicalRanking:
    """An index over the names and texts of tools."""

    def __init__(self, tools: Sequence[RoutedTool]) -> None:
        self._names = [tool.name for tool in tools]
        counted = [_counted(tool) for tool in tools]
        lengths = [sum(counts.values()) for counts in counted]
        usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
        found: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            damping = _SATURATION * (1 - _LENGTH + _LENGTH * length / usual)
            for word, count in counts.items():
                found[word].append((row, count / (count + damping)))
        self._tools: dict[str, list[tuple[int, float]]] = {}
        for word, rows in found.items():
            rarity = self._rarity(len(rows))
            self._tools[word] = [(row, part * rarity) for row, part in rows]
        self._forms: defaultdict[str, list[str]] = defaultdict(list)
        for word in found:
            self._forms[stem(word)].append(word)
        self._sorted = sorted(found)

    def route(self, message: str, history: Sequence[str] = ()) -> Route:
        """The tools that the words of a message speak for.

        The messages before add to the scores of what the message speaks for itself.
        """
        if is_greeting(message):
            return Route(())
        evidence = self._evidence(message)
        asked = list(evidence)
        if not asked:
            return self._all("the message has no word of its own")
        scores = _sums(evidence.values())
        telling = [word for word in asked if word not in TIMES] or asked
        known = sum(1 for word in telling if evidence[word])
        is_sure = known >= _LEAST_KNOWN * len(telling) or self._is_of_few(telling[0])
        if not scores or not is_sure:
            doubt = (
                f"the tools' texts know {known} of the message's {len(telling)} words"
            )
            return self._all(doubt, scores)
        # What a tool would have that is all about these words and nothing else.
        perfect = sum(self._rarity(len(self._tools.get(word, ()))) for word in asked)
        least = min(max(max(scores.values()) / perfect, _LEAST_OF_BEST[0]), 1.0)
        before = _sums(self._evidence(" ".join(history[-3:])).values())
        for row in scores:
            scores[row] += _HISTORY * before.get(row, 0.0)
        ordered = self._ordered(scores)
        enough = min(least, _LEAST_OF_BEST[1]) * next(iter(ordered.values()))
        most = min(_MANY, max(_FEW, int(_MOST_OF_ALL * len(self._names))))
        best = islice(ordered.items(), most)
        told = self._told_apart(evidence) or frozenset(ordered)
        chosen = frozenset(n for n, score in best if score >= enough and n in told)
        return Route(tuple(n for n in self._names if n in chosen), ordered)

    def evidence(self, message: str) -> dict[str, dict[str, float]]:
        """What each word of a message speaks for: tools with their part of the score.

        The words of the message that count, in its order; one that no tool has is empty.
        """
        return {
            word: {self._names[row]: part for row, part in rows.items()}
            for word, rows in self._evidence(message).items()
        }

    def _evidence(self, message: str) -> dict[str, dict[int, float]]:
        """The scores for each word, and for two that a tool writes as one."""
        joined = (word for word in joined_words(message) if word in self._tools)
        asked = dict.fromkeys([*message_words(message), *joined])
        return {word: self._matches(word) for word in asked}

    def _told_apart(
        self, evidence: Mapping[str, Mapping[int, float]]
    ) -> frozenset[str]:
        """The tools that have a word which tells them apart from most of the others."""
        most = _TELLING * len(self._names)
        telling = (rows for rows in evidence.values() if len(rows) <= most)
        return frozenset(self._names[row] for rows in telling for row in rows)

    def _all(self, doubt: str, scores: Mapping[int, float] | None = None) -> Route:
        return Route(tuple(self._names), self._ordered(scores or {}), doubt)

    def _ordered(self, scores: Mapping[int, float]) -> dict[str, float]:
        """The best first; of the same score, as the catalogue has them."""
        best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return {self._names[row]: score for row, score in best_first}

    def _rarity(self, found: int) -> float:
        """BM25's weight of a word that so many tools have; never nothing."""
        return 1 + log(1 + (len(self._names) - found + 0.5) / (found + 0.5))

    def _is_of_few(self, word: str) -> bool:
        return 0 < len(self._matches(word)) <= max(1, _FEW_OF_ALL * len(self._names))

    def _matches(self, word: str) -> dict[int, float]:
        """The scores of the tools that have a word, a form of it, or else something near."""
        return self._forms_of(word) or self._longer(word) or self._halves(word)

    def _forms_of(self, word: str) -> dict[int, float]:
        rows = dict(self._tools.get(word, ()))
        for other in self._forms.get(stem(word), ()):
            if other != word:
                self._add(rows, other, _OTHER_FORM)
        return rows

    def _longer(self, word: str) -> dict[int, float]:
        """For `repo`, what `repository` gives."""
        rows: dict[int, float] = {}
        if len(word) >= _SHORTEST_BEGINNING:
            first = bisect_left(self._sorted, word)
            following = self._sorted[first : first + _MOST_BEGINNINGS]
            for longer in takewhile(lambda one: one.startswith(word), following):
                self._add(rows, longer, _BEGINNING)
        return rows

    def _halves(self, word: str) -> dict[int, float]:
        """For `flowchart`, what tools have that write `flow chart`."""
        rows: dict[int, float] = {}
        for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
            halves = word[:cut], word[cut:]
            if all(stem(half) in self._forms for half in halves):
                one, other = map(self._forms_of, halves)
                for row in one.keys() & other.keys():
                    rows[row] = max(rows.get(row, 0.0), one[row] + other[row])
        return rows

    def _add(self, rows: dict[int, float], word: str, weight: float) -> None:
        for row, score in self._tools[word]:
            rows[row] = max(rows.get(row, 0.0), weight * score)


def _sums(matches: Iterable[Mapping[int, float]]) -> dict[int, float]:
    sums: defaultdict[int, float] = defaultdict(float)
    for rows in matches:
        for row, score in rows.items():
            sums[row] += score
    return dict(sums)


def _counted(tool: RoutedTool) -> dict[str, float]:
    """How often a tool has each word, by the weights of its texts."""
    counts: defaultdict[str, float] = defaultdict(float)
    for text, weight in _texts(tool):
        for word in words(text):
            counts[word] += weight
    return counts


def _texts(tool: RoutedTool) -> Iterator[tuple[str, float]]:
    """The texts that are searched, and what a word of each counts for."""
    summary = tool.summary or tool.description.strip().partition("\n")[0]
    yield tool.name, _NAME
    yield summary, _SUMMARY
    yield tool.description.replace(summary, "", 1), 1.0
    yield tool.when_to_use, 1.0
    yield " ".join(_parameter_texts(tool.parameters, _MOST_LEVELS)), _PARAMETERS


def _parameter_texts(schema: Any, levels: int) -> Iterator[str]:
    """Names, descriptions and choices of the parameters of a schema."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not levels:
        return
    for name, inner in properties.items():
        yield str(name)
        if isinstance(inner, Mapping):
            description, choices = inner.get("description"), inner.get("enum")
            if isinstance(description, str):
                yield description
            if isinstance(choices, Sequence) and not isinstance(choices, str):
                yield from (choice for choice in choices if isinstance(choice, str))
            yield from _parameter_texts(inner, levels - 1)
