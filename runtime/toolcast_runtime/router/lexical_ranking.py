"""Tools by the words of a message: SQLite's full-text search, in memory.

FTS5 is a search engine with BM25 ranking, weights for columns and a stemmer for English, and
it comes with Python: nothing to install, and milliseconds to import. A message in other
words, or in another language, matches little, which counts as doubt: then all are shown.
A greeting or thanks needs none.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from .route import Route, RoutedTool

__all__ = ["LexicalRanking"]

# Shown is what scores at least this part of the best, and at most so many.
_LEAST_OF_BEST = 0.3
_MOST_OF_ALL = 0.5
_FEW = 3
# Doubt is when the tools' texts know fewer of the message's words than this part.
_LEAST_KNOWN = 0.3
_WEIGHTS = (4.0, 2.0, 2.0, 1.0)
_HISTORY = 0.3
_MOST_WORDS = 60
_LONGEST_TEXT = 20_000
_SHORTEST_BEGINNING = 4
_MOST_LEVELS = 4
_WORD = re.compile(r"\w{2,40}")
_PARTS = re.compile(r"[_.\-]+|(?<=[a-z])(?=[A-Z])")
# Words that stand in any message, whatever it is about.
_COMMON_WORDS = """
a about after again all also am an and any are as at be been but by can could did do
does doing done for from get give go got had has have he her here him his how if in
into is it its just let like make me my need no not now of off on one or our out
over please put say see she should so some tell than that the their them then there
these they this those to too up us want was we were what when where which who why
will with would you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Words that any message can have that speaks of a time. They are looked for, and that no
# tool knows them is no sign of doubt.
_TIME_WORDS = """
afternoon am april august clock daily day days december evening every february first
friday hour hours january july june last later march midnight minute minutes monday
mondays month monthly months morning next night noon november october pm saturday
september soon sunday sundays thursday time today tomorrow tonight tuesday wednesday week
weekend weekly weeks year yesterday
"""
_TIMES = frozenset(_TIME_WORDS.split())
_GREETING = re.compile(
    r"\b(?:good (?:morning|afternoon|evening|night|day)|hello|hi|hey|greetings|thanks"
    r"|thank you|thx|cheers|good ?bye|bye)\b",
    re.IGNORECASE,
)
_LONGEST_GREETING = 200
# What stands beside a greeting; an answer such as `yes` or `do it` is none of these.
_BESIDE_WORDS = """
a all and are everybody everyone for great how is it lot much my nice so that the there
this to very was well wonderful you your
"""
_BESIDE = frozenset(_BESIDE_WORDS.split())
# A message that begins with a word of few tools' texts, as orders do, is about these.
_FEW_OF_ALL = 0.125
_TEXTS = "name description when_to_use"


class LexicalRanking:
    """An index over the names and texts of tools, made anew for each message."""

    def __init__(self, tools: Sequence[RoutedTool]) -> None:
        self._tools = tools
        self._names = [tool.name for tool in tools]

    def route(self, message: str, history: Sequence[str] = ()) -> Route:
        """The tools that the words of a message speak for.

        The messages before add to the scores of what the message speaks for itself.

        Raises:
            sqlite3.OperationalError: this Python's SQLite was built without FTS5.
        """
        with closing(sqlite3.connect(":memory:")) as self._index:
            self._index.execute(
                "CREATE VIRTUAL TABLE tool USING fts5(name, description, when_to_use,"
                " parameters, tokenize='porter unicode61 remove_diacritics 2')"
            )
            rows = (tuple(_columns(tool)) for tool in self._tools)
            self._index.executemany("INSERT INTO tool VALUES (?, ?, ?, ?)", rows)
            return self._route(message, history)

    def _route(self, message: str, history: Sequence[str]) -> Route:
        if _is_greeting(message):
            return Route(())
        words = _words(message)
        if not words:
            return self._all("the message has no word of its own")
        telling = [word for word in words if word not in _TIMES] or words
        known = sum(1 for word in telling if self._count(word))
        scores = self._scores(words)
        is_sure = known >= _LEAST_KNOWN * len(telling) or self._is_of_few(telling[0])
        if not scores or not is_sure:
            doubt = (
                f"the tools' texts know {known} of the message's {len(telling)} words"
            )
            return self._all(doubt, scores)
        before = self._scores(_words(" ".join(history[-3:])))
        for name in scores:
            scores[name] += _HISTORY * before.get(name, 0.0)
        ordered = sorted(scores, key=lambda name: -scores[name])
        least = _LEAST_OF_BEST * scores[ordered[0]]
        most = max(_FEW, int(_MOST_OF_ALL * len(self._names)))
        chosen = frozenset(n for n in ordered[:most] if scores[n] >= least)
        names = tuple(name for name in self._names if name in chosen)
        return Route(names, {name: scores[name] for name in ordered})

    def _all(self, doubt: str, scores: Mapping[str, float] | None = None) -> Route:
        ordered = sorted((scores or {}).items(), key=lambda item: -item[1])
        return Route(tuple(self._names), dict(ordered), doubt)

    def _is_of_few(self, word: str) -> bool:
        found = self._count(word, f"{{{_TEXTS}}} : ")
        return 0 < found <= max(1, int(_FEW_OF_ALL * len(self._names)))

    def _count(self, word: str, where: str = "") -> int:
        """How many tools' texts have a word."""
        question = "SELECT count(*) FROM tool WHERE tool MATCH ?"
        row = self._index.execute(question, (where + _term(word),)).fetchone()
        return int(row[0])

    def _scores(self, words: Sequence[str]) -> dict[str, float]:
        if not words:
            return {}
        weights = ", ".join(map(str, _WEIGHTS))
        question = f"SELECT rowid, bm25(tool, {weights}) FROM tool WHERE tool MATCH ?"  # noqa: S608 - the weights are ours
        any_of = " OR ".join(map(_term, words))
        found = self._index.execute(question, (any_of,)).fetchall()
        # SQLite's are negative, the better the lower.
        return {self._names[row - 1]: -score for row, score in found}


def _is_greeting(message: str) -> bool:
    """Whether a message says hello, goodbye or thanks, and nothing else."""
    if len(message) > _LONGEST_GREETING:
        return False
    rest, count = _GREETING.subn(" ", message)
    return count > 0 and _BESIDE.issuperset(re.findall(r"\w+", rest.lower()))


def _words(text: str) -> list[str]:
    """The words that say what a text is about, each once."""
    found = (match[0].lower() for match in _WORD.finditer(text[:_LONGEST_TEXT]))
    meaningful = (word for word in found if word not in _COMMON and not word.isdigit())
    return list(dict.fromkeys(meaningful))[:_MOST_WORDS]


def _term(word: str) -> str:
    """A word as FTS5 looks for it; a longer one also where it begins others.

    It has nothing but letters, digits and `_`, so that the quotes hold it.
    """
    return f'"{word}"*' if len(word) >= _SHORTEST_BEGINNING else f'"{word}"'


def _columns(tool: RoutedTool) -> Iterator[str]:
    """The texts of the index's columns."""
    yield _PARTS.sub(" ", tool.name)
    description = tool.description
    if tool.summary not in description:
        description = f"{tool.summary}\n{description}"
    yield description[:_LONGEST_TEXT]
    yield tool.when_to_use[:_LONGEST_TEXT]
    yield " ".join(_parameter_words(tool.parameters, _MOST_LEVELS))[:_LONGEST_TEXT]


def _parameter_words(schema: Any, levels: int) -> Iterator[str]:
    """Names, descriptions and choices of the parameters of a schema."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not levels:
        return
    for name, inner in properties.items():
        yield _PARTS.sub(" ", str(name))
        if isinstance(inner, Mapping):
            description, choices = inner.get("description"), inner.get("enum")
            if isinstance(description, str):
                yield description
            if isinstance(choices, Sequence) and not isinstance(choices, str):
                yield from (_PARTS.sub(" ", c) for c in choices if isinstance(c, str))
            yield from _parameter_words(inner, levels - 1)
