"""Tools by the words of a message: BM25 over their names and texts, in memory.

BM25 counts how often a tool has a word, more for a rare word and less in a long text. Two
things are our own: a word of the tool's name or summary counts more than one of a parameter,
and another form of the word (`commits`, `committed`) counts less, so that the exact word wins.
A message in other words, or in another language, matches little, which counts as doubt: then
all are shown. A greeting or thanks needs none.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from math import log
from typing import Any

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
_MAX_PREFIX_MATCHES = 50
"""Words with the same beginning that are considered."""
_SHORTEST_HALF = 3
# Shown is what scores at least a part of the best, the larger the better the best one fits
# the message, and at most so many.
_MIN_SCORE_SHARES = (0.25, 0.6)
_MAX_TOOLS_SHARE = 0.5
_FEW, _MANY = 3, 30
# A tool is shown only for a word that no more than this part of the tools have.
_TELLING = 2 / 3
# Doubt is when the tools' texts know fewer of the message's words than this part, unless it
# begins with a word of few tools' texts, as orders do.
_MIN_KNOWN_SHARE = 0.3
_FEW_OF_ALL = 0.125
_HISTORY = 0.3
_MAX_LEVELS = 4
"""Levels of a parameter schema whose texts are indexed."""
_MAX_CACHED_RANKINGS = 32
"""Cached results of the function below."""
# What is read of a text: of a long message its beginning and its end.
_HALF = 30
_MAX_WORDS = 2 * _HALF
_HALF_TEXT = 10_000
_MAX_TEXT_CHARACTERS = 2 * _HALF_TEXT
_MAX_WORD_CHARACTERS = 40
"""Length of a word that is indexed."""
# Chinese, Japanese, Thai and their neighbours put no blanks between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"  # Japanese syllables
    "\u3400-\u9fff\U00020000-\U0003ffff"  # Chinese characters
)
# Vowels of India's scripts are marks, which are no letters to `re`.
_WORD = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?:[^\W_{_UNSPACED}]|[\u0900-\u0963\u0971-\u0dff])+"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Words that stand in any message and say nothing of what it is about.
_COMMON = frozenset("""
a about after again all also am an and any are as at be been but by can could did do
does doing done for from give go got had has have he her here him his how if in into is
it its just let like make me my need no not now of off on one or our out over please put
say see she should so some tell than that the their them then there these they this
those to too up us want was we were what when where which who why will with would you
your
""".split())
# Words that any message can have that speaks of a time: that no tool knows them is no doubt.
_TIMES = frozenset("""
afternoon am april august clock daily day days december evening every february first
friday hour hours january july june last later march midnight minute minutes monday
mondays month monthly months morning next night noon november october pm saturday
september soon sunday sundays thursday time today tomorrow tonight tuesday wednesday week
weekend weekly weeks year yesterday
""".split())
_GREETING = re.compile(
    r"\b(?:good (?:morning|afternoon|evening|night|day)|hello|hi|hey|greetings|thanks"
    r"|thank you|thx|cheers|good ?bye|bye)\b",
    re.IGNORECASE,
)
_MAX_GREETING_CHARACTERS = 200
"""Length of a message that can be only a greeting."""
# What stands beside a greeting; an answer such as `yes` or `do it` is none of these.
_BESIDE = frozenset("""
a all and are everybody everyone for great how is it lot much my nice so that the there
this to very was well wonderful you your
""".split())
# The longest first; what is left of a word has at least three letters.
_ENDINGS = """
ations ation ings ing ions ion ment ers er ed ly es e s y
""".split()
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class RoutedTool:
    """What is known of a tool when it is chosen.

    Attributes:
        name: its name.
        summary: one line.
        description: what models read.
        when_to_use: when to choose it.
        parameters: the JSON Schema of its arguments.
    """

    name: str
    summary: str = ""
    description: str = ""
    when_to_use: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """A choice.

    Attributes:
        names: the chosen tools, in the order of the catalog.
        scores: how well each tool that matched at all does, the best first; empty where a
            model chose.
        doubt: why every tool was chosen; empty when there was a choice.
    """

    names: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""


@lru_cache(maxsize=_MAX_CACHED_RANKINGS)
def _build_cached(tools: tuple[_ToolKey, ...]) -> LexicalRanking:
    return LexicalRanking([key.tool for key in tools])


class _ToolKey:
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
        if not isinstance(other, _ToolKey) or self._said != other._said:
            return False
        mine, others = self.tool.parameters, other.tool.parameters
        return mine is others or mine == others


def get_ranking(tools: Sequence[RoutedTool]) -> LexicalRanking:
    """The ranking of these tools, made at the first use and cached for the next."""
    return _build_cached(tuple(_ToolKey(tool) for tool in tools))


class LexicalRanking:
    """An index over the names and texts of tools."""

    def __init__(self, tools: Sequence[RoutedTool]) -> None:
        self._names = [tool.name for tool in tools]
        counted = [_count_words(tool) for tool in tools]
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
            self._forms[_stem(word)].append(word)
        self._sorted = sorted(found)

    def route(self, message: str, history: Sequence[str] = ()) -> Route:
        """The tools that the words of a message speak for.

        The messages before add to the scores of what the message speaks for itself.
        """
        if _is_greeting(message):
            return Route(())
        evidence = self._evidence(message)
        asked = list(evidence)
        if not asked:
            return self._all("the message has no word of its own")
        scores = _sum_scores(evidence.values())
        telling = [word for word in asked if word not in _TIMES] or asked
        known = sum(1 for word in telling if evidence[word])
        is_sure = known >= _MIN_KNOWN_SHARE * len(telling) or self._is_of_few(
            telling[0]
        )
        if not scores or not is_sure:
            doubt = (
                f"the tools' texts know {known} of the message's {len(telling)} words"
            )
            return self._all(doubt, scores)
        # What a tool would have that is all about these words and nothing else.
        perfect = sum(self._rarity(len(self._tools.get(word, ()))) for word in asked)
        least = min(max(max(scores.values()) / perfect, _MIN_SCORE_SHARES[0]), 1.0)
        before = _sum_scores(self._evidence(" ".join(history[-3:])).values())
        for row in scores:
            scores[row] += _HISTORY * before.get(row, 0.0)
        ordered = self._ordered(scores)
        enough = min(least, _MIN_SCORE_SHARES[1]) * next(iter(ordered.values()))
        most = min(_MANY, max(_FEW, int(_MAX_TOOLS_SHARE * len(self._names))))
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
        joined = (word for word in _join_word_pairs(message) if word in self._tools)
        asked = dict.fromkeys([*_split_message(message), *joined])
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
        """The best first; of the same score, as the catalog has them."""
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
        for other in self._forms.get(_stem(word), ()):
            if other != word:
                self._add(rows, other, _OTHER_FORM)
        return rows

    def _longer(self, word: str) -> dict[int, float]:
        """For `repo`, what `repository` gives."""
        rows: dict[int, float] = {}
        if len(word) >= _SHORTEST_BEGINNING:
            first = bisect_left(self._sorted, word)
            following = self._sorted[first : first + _MAX_PREFIX_MATCHES]
            for longer in takewhile(lambda one: one.startswith(word), following):
                self._add(rows, longer, _BEGINNING)
        return rows

    def _halves(self, word: str) -> dict[int, float]:
        """For `flowchart`, what tools have that write `flow chart`."""
        rows: dict[int, float] = {}
        for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
            halves = word[:cut], word[cut:]
            if all(_stem(half) in self._forms for half in halves):
                one, other = map(self._forms_of, halves)
                for row in one.keys() & other.keys():
                    rows[row] = max(rows.get(row, 0.0), one[row] + other[row])
        return rows

    def _add(self, rows: dict[int, float], word: str, weight: float) -> None:
        for row, score in self._tools[word]:
            rows[row] = max(rows.get(row, 0.0), weight * score)


def _sum_scores(matches: Iterable[Mapping[int, float]]) -> dict[int, float]:
    sums: defaultdict[int, float] = defaultdict(float)
    for rows in matches:
        for row, score in rows.items():
            sums[row] += score
    return dict(sums)


def _count_words(tool: RoutedTool) -> dict[str, float]:
    """How often a tool has each word, by the weights of its texts."""
    counts: defaultdict[str, float] = defaultdict(float)
    for text, weight in _list_weighted_texts(tool):
        for word in _split_words(text):
            counts[word] += weight
    return counts


def _list_weighted_texts(tool: RoutedTool) -> Iterator[tuple[str, float]]:
    """The texts that are searched, and what a word of each counts for."""
    summary = tool.summary or tool.description.strip().partition("\n")[0]
    yield tool.name, _NAME
    yield summary, _SUMMARY
    yield tool.description.replace(summary, "", 1), 1.0
    yield tool.when_to_use, 1.0
    yield " ".join(_list_parameter_texts(tool.parameters, _MAX_LEVELS)), _PARAMETERS


def _list_parameter_texts(schema: Any, levels: int) -> Iterator[str]:
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
            yield from _list_parameter_texts(inner, levels - 1)


def _is_greeting(message: str) -> bool:
    """Whether a message says hello, goodbye or thanks, and nothing else."""
    if len(message) > _MAX_GREETING_CHARACTERS:
        return False
    rest, count = _GREETING.subn(" ", message)
    return count > 0 and _BESIDE.issuperset(re.findall(r"\w+", rest.lower()))


def _split_words(text: str) -> list[str]:
    """The words of a text, in order, in lower case and without accents.

    Names are taken apart at `_`, `-`, `.` and where capitals begin. Where a script has no
    blanks, every two neighbouring letters are a word, as in Lucene's `CJKAnalyzer`.
    """
    plain = text[:_MAX_TEXT_CHARACTERS]
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain)[:_MAX_TEXT_CHARACTERS]
        plain = "".join(c for c in parts if not unicodedata.combining(c))
    found: list[str] = []
    for match in _WORD.finditer(_CAMEL.sub(" ", plain)):
        word = match.group().lower()
        if match["unspaced"]:
            found += map("".join, pairwise(word)) if len(word) > 1 else [word]
        elif 2 <= len(word) <= _MAX_WORD_CHARACTERS:
            found.append(word)
    return found


def _split_message(text: str) -> list[str]:
    """The words that say what a message is about, each once.

    Of a long message its beginning and its end: what is asked stands before or after what
    was pasted.
    """
    if len(text) > _MAX_TEXT_CHARACTERS:
        text = f"{text[: _HALF_TEXT - 1]} {text[-_HALF_TEXT:]}"
    telling = (w for w in _split_words(text) if w not in _COMMON and not w.isdigit())
    each = list(dict.fromkeys(telling))
    return each if len(each) <= _MAX_WORDS else each[:_HALF] + each[-_HALF:]


def _join_word_pairs(text: str) -> Iterator[str]:
    """Every two neighbouring words of a text, written as one."""
    return (one + other for one, other in pairwise(_split_words(text)))


def _stem(word: str) -> str:
    """What forms of a word have in common, roughly: `commits` and `committed` are `commit`.

    No dictionary: an English ending is taken off, and a doubled letter before it.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    is_doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2]
    return word[:-1] if is_doubled else word
