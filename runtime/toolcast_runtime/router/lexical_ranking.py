"""Lexical ranking of tools for a message: BM25 over their names and text, in memory.

BM25 counts the words of a message in each tool's text. A rare word has more weight, and a word in a
long text less. This ranking adds two things: a word in the tool's name or summary has more weight than
one in a parameter, and another form of a word (`commits`, `committed`) has less weight than the word
itself. A message in other words or in another language matches few of them. This counts as doubt, and
all tools are offered. A greeting or thanks needs no tools.
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
from itertools import islice, pairwise
from math import log
from typing import Any

# Parameters of BM25: k1, the saturation of repeated words, and b, the influence of a text's
# length.
_SATURATION = 1.2
_LENGTH_NORMALIZATION = 0.75
# Weights of words by their position in a tool's text; other positions have the weight 1.
_NAME_WEIGHT = 3.0
_SUMMARY_WEIGHT = 2.0
_PARAMETERS_WEIGHT = 0.3
# Weights of matches of another form of a word, and of a longer word with the same beginning.
_OTHER_FORM_WEIGHT = 0.6
_PREFIX_WEIGHT = 0.3
_MIN_PREFIX_LETTERS = 4
"""Minimum length of a word that matches longer words with the same beginning."""
_MAX_PREFIX_MATCHES = 50
"""Maximum number of words with the same beginning that are considered."""
_MIN_HALF_LETTERS = 3
"""Minimum length of each half of a compound word."""
# A tool is offered if its score reaches a share of the best score. The share is between these
# limits, and is larger if the best tool matches more words of the message.
_MIN_SCORE_SHARES = (0.25, 0.6)
# Maximum share of all tools that is offered; the resulting number is limited to the range from
# `_MIN_OFFERED` to `_MAX_OFFERED`.
_MAX_TOOLS_SHARE = 0.5
_MIN_OFFERED = 3
_MAX_OFFERED = 30
_MAX_DISTINCTIVE_SHARE = 2 / 3
"""Maximum share of the tools that may contain a word for the word to select a tool."""
_MIN_KNOWN_SHARE = 0.3
"""Minimum share of the message's words that the tools' text must contain; else in doubt."""
_RARE_WORD_SHARE = 0.125
"""There is no doubt if at most this share of the tools contains the message's first word.

Commands begin with such a word.
"""
_HISTORY_WEIGHT = 0.3
"""The weight of the previous messages."""
_MAX_LEVELS = 4
"""Maximum nesting of a parameter schema whose text is indexed."""
_MAX_CACHED_RANKINGS = 32
"""Maximum number of cached rankings."""
# Of a long message only the beginning and the end are searched, up to these numbers each.
_MAX_WORDS_PER_END = 30
_MAX_WORDS = 2 * _MAX_WORDS_PER_END
_MAX_CHARACTERS_PER_END = 10_000
_MAX_TEXT_CHARACTERS = 2 * _MAX_CHARACTERS_PER_END
_MAX_WORD_CHARACTERS = 40
"""Maximum length of a word that is indexed."""
# Characters of scripts that are written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"  # Japanese syllables
    "\u3400-\u9fff\U00020000-\U0003ffff"  # Chinese characters
)
# A word: letters and digits, and the vowel signs of Indic scripts, which `\w` does not match
# because Unicode classifies them as marks.
_WORD = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?:[^\W_{_UNSPACED}]|[\u0900-\u0963\u0971-\u0dff])+"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Words that are ignored, because they occur in messages about any subject.
_STOP_WORDS = frozenset("""
a about after again all also am an and any are as at be been but by can could did do
does doing done for from give go got had has have he her here him his how if in into is
it its just let like make me my need no not now of off on one or our out over please put
say see she should so some tell than that the their them then there these they this
those to too up us want was we were what when where which who why will with would you
your
""".split())
# Words for times do not count as unknown: `tomorrow` is no reason to doubt a selection.
_TIME_WORDS = frozenset("""
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
"""Maximum length of a message that may be only a greeting."""
# Words that may occur in a message that is only a greeting. Answers such as `yes` and `do it`
# are missing on purpose: they may need tools.
_GREETING_WORDS = frozenset("""
a all and are everybody everyone for great how is it lot much my nice so that the there
this to very was well wonderful you your
""".split())
# English endings that `_stem` removes, longest first.
_ENDINGS = """
ations ation ings ing ions ion ment ers er ed ly es e s y
""".split()
_MIN_STEM_LETTERS = 3
"""Minimum length of a word without its ending."""


@dataclass(frozen=True, slots=True)
class RoutedTool:
    """Text of a tool on which the selection is based.

    Attributes:
        name: the tool's name.
        summary: one line.
        description: the description for models.
        when_to_use: when to choose the tool.
        parameters: the JSON Schema of its arguments.
    """

    name: str
    summary: str = ""
    description: str = ""
    when_to_use: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """Selection of tools for a message.

    Attributes:
        names: the selected tools, in the order of the catalog.
        scores: the score of each tool that matched, best first; empty if a model selected.
        doubt: the reason why all tools are selected; "" if the selection is certain.
    """

    names: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""


@lru_cache(maxsize=_MAX_CACHED_RANKINGS)
def _build_cached(tools: tuple[_ToolKey, ...]) -> LexicalRanking:
    return LexicalRanking([key.tool for key in tools])


class _ToolKey:
    """Tool as a cache key: tools with the same text are equal.

    The hash omits the parameters, which may be large. Tools with equal text usually have the
    identical parameters object, so that these are rarely compared in full.
    """

    def __init__(self, tool: RoutedTool) -> None:
        self.tool = tool
        self._texts = (tool.name, tool.summary, tool.description, tool.when_to_use)

    def __hash__(self) -> int:
        return hash(self._texts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ToolKey) or self._texts != other._texts:
            return False
        parameters, other_parameters = self.tool.parameters, other.tool.parameters
        return parameters is other_parameters or parameters == other_parameters


def get_ranking(tools: Sequence[RoutedTool]) -> LexicalRanking:
    """Return the ranking of some tools, from a cache if these tools were ranked before."""
    return _build_cached(tuple(_ToolKey(tool) for tool in tools))


class LexicalRanking:
    """Index of the words in the names and text of tools.

    A row in the index is a tool's position in the passed sequence.
    """

    def __init__(self, tools: Sequence[RoutedTool]) -> None:
        self._names = [tool.name for tool in tools]
        word_counts = [_count_terms(tool) for tool in tools]
        lengths = [sum(counts.values()) for counts in word_counts]
        average_length = sum(lengths) / len(lengths) if any(lengths) else 1.0
        frequencies: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, (counts, length) in enumerate(zip(word_counts, lengths, strict=True)):
            relative_length = length / average_length
            damping = _SATURATION * (
                1 - _LENGTH_NORMALIZATION + _LENGTH_NORMALIZATION * relative_length
            )
            for word, count in counts.items():
                frequencies[word].append((row, count / (count + damping)))
        self._scores_by_word: dict[str, list[tuple[int, float]]] = {}
        for word, rows in frequencies.items():
            rarity = self._compute_rarity(len(rows))
            self._scores_by_word[word] = [
                (row, frequency * rarity) for row, frequency in rows
            ]
        self._words_by_stem: defaultdict[str, list[str]] = defaultdict(list)
        for word in frequencies:
            self._words_by_stem[_stem(word)].append(word)
        self._sorted_words = sorted(frequencies)

    def route(self, message: str, history: Sequence[str] = ()) -> Route:
        """Select the tools that match the words of a message.

        A greeting selects no tools. All tools are selected, with a `doubt`, if the message has
        no specific word or too few words that the tools' text contains. The last three messages
        of the history only increase the scores of tools that match the message itself.
        """
        if _is_greeting(message):
            return Route(())
        evidence = self._score_terms(message)
        words = list(evidence)
        if not words:
            return self._select_all("the message contains no specific word")
        scores = _sum_scores(evidence.values())
        specific_words = [word for word in words if word not in _TIME_WORDS] or words
        known_count = sum(1 for word in specific_words if evidence[word])
        is_certain = known_count >= _MIN_KNOWN_SHARE * len(
            specific_words
        ) or self._is_rare(specific_words[0])
        if not scores or not is_certain:
            return self._select_all(
                f"the tools' text contains {known_count} of the message's"
                f" {len(specific_words)} words",
                scores,
            )
        # The score that a tool would have if its text contained every word of the message.
        perfect_score = sum(
            self._compute_rarity(len(self._scores_by_word.get(word, ())))
            for word in words
        )
        min_share, max_share = _MIN_SCORE_SHARES
        share = min(max(max(scores.values()) / perfect_score, min_share), max_share)
        history_scores = _sum_scores(self._score_terms(" ".join(history[-3:])).values())
        for row in scores:
            scores[row] += _HISTORY_WEIGHT * history_scores.get(row, 0.0)
        ordered = self._order_by_score(scores)
        best_score = next(iter(ordered.values()))
        min_score = share * best_score
        max_offered = int(_MAX_TOOLS_SHARE * len(self._names))
        max_offered = min(_MAX_OFFERED, max(_MIN_OFFERED, max_offered))
        distinctive = self._find_distinctive(evidence) or frozenset(ordered)
        chosen = frozenset(
            name
            for name, score in islice(ordered.items(), max_offered)
            if score >= min_score and name in distinctive
        )
        return Route(tuple(name for name in self._names if name in chosen), ordered)

    def evidence(self, message: str) -> dict[str, dict[str, float]]:
        """Return the score of each matching tool by name, for each specific word of a message.

        Words are in the order of the message. A word that no tool contains has an empty dict.
        """
        return {
            word: {self._names[row]: score for row, score in rows.items()}
            for word, rows in self._score_terms(message).items()
        }

    def _score_terms(self, message: str) -> dict[str, dict[int, float]]:
        """Return the scores by row for each specific word of a message.

        Also for two adjacent words that the tools' text contains as one word.
        """
        pairs = [
            pair for pair in _join_term_pairs(message) if pair in self._scores_by_word
        ]
        words = dict.fromkeys([*_split_message(message), *pairs])
        return {word: self._score_term(word) for word in words}

    def _find_distinctive(
        self, evidence: Mapping[str, Mapping[int, float]]
    ) -> frozenset[str]:
        """Return the names of tools that match a word in at most two thirds of the tools."""
        max_tools = _MAX_DISTINCTIVE_SHARE * len(self._names)
        return frozenset(
            self._names[row]
            for rows in evidence.values()
            if len(rows) <= max_tools
            for row in rows
        )

    def _select_all(
        self, doubt: str, scores: Mapping[int, float] | None = None
    ) -> Route:
        return Route(tuple(self._names), self._order_by_score(scores or {}), doubt)

    def _order_by_score(self, scores: Mapping[int, float]) -> dict[str, float]:
        """Return the scores by name, highest first; equal scores in the order of the tools."""
        best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return {self._names[row]: score for row, score in best_first}

    def _compute_rarity(self, tool_count: int) -> float:
        """Return BM25's weight of a word that a number of tools contain; at least 1."""
        missing = len(self._names) - tool_count
        return 1 + log(1 + (missing + 0.5) / (tool_count + 0.5))

    def _is_rare(self, word: str) -> bool:
        max_tools = max(1, _RARE_WORD_SHARE * len(self._names))
        return 0 < len(self._score_term(word)) <= max_tools

    def _score_term(self, word: str) -> dict[int, float]:
        """Return the scores by row of the tools that contain a word or a form of the word.

        If no tool does, longer words with this beginning count, and then the word's halves.
        """
        return (
            self._score_forms(word)
            or self._score_prefix_matches(word)
            or self._score_halves(word)
        )

    def _score_forms(self, word: str) -> dict[int, float]:
        scores = dict(self._scores_by_word.get(word, ()))
        for form in self._words_by_stem.get(_stem(word), ()):
            if form != word:
                self._add_scores(scores, form, _OTHER_FORM_WEIGHT)
        return scores

    def _score_prefix_matches(self, word: str) -> dict[int, float]:
        """Score words that begin with a word: `repo` matches `repository`."""
        scores: dict[int, float] = {}
        if len(word) >= _MIN_PREFIX_LETTERS:
            start = bisect_left(self._sorted_words, word)
            candidates = self._sorted_words[start : start + _MAX_PREFIX_MATCHES]
            for candidate in candidates:
                if not candidate.startswith(word):
                    break
                self._add_scores(scores, candidate, _PREFIX_WEIGHT)
        return scores

    def _score_halves(self, word: str) -> dict[int, float]:
        """Score the halves of a compound word: `flowchart` matches `flow chart`."""
        scores: dict[int, float] = {}
        for cut in range(_MIN_HALF_LETTERS, len(word) - _MIN_HALF_LETTERS + 1):
            first_scores = self._score_forms(word[:cut])
            if not first_scores:
                continue
            second_scores = self._score_forms(word[cut:])
            for row in first_scores.keys() & second_scores.keys():
                total = first_scores[row] + second_scores[row]
                scores[row] = max(scores.get(row, 0.0), total)
        return scores

    def _add_scores(self, scores: dict[int, float], word: str, weight: float) -> None:
        for row, score in self._scores_by_word[word]:
            scores[row] = max(scores.get(row, 0.0), weight * score)


def _sum_scores(matches: Iterable[Mapping[int, float]]) -> dict[int, float]:
    sums: defaultdict[int, float] = defaultdict(float)
    for rows in matches:
        for row, score in rows.items():
            sums[row] += score
    return dict(sums)


def _count_terms(tool: RoutedTool) -> dict[str, float]:
    """Count each word of a tool, weighted by the part of the text that it is in."""
    counts: defaultdict[str, float] = defaultdict(float)
    for text, weight in _list_weighted_texts(tool):
        for word in _split_terms(text):
            counts[word] += weight
    return counts


def _list_weighted_texts(tool: RoutedTool) -> Iterator[tuple[str, float]]:
    """Yield the parts of a tool's text with their weights."""
    summary = tool.summary or tool.description.strip().partition("\n")[0]
    yield tool.name, _NAME_WEIGHT
    yield summary, _SUMMARY_WEIGHT
    # Remove the summary from the description, which usually begins with it, so that its words
    # do not count twice.
    yield tool.description.replace(summary, "", 1), 1.0
    yield tool.when_to_use, 1.0
    parameter_texts = _list_parameter_texts(tool.parameters, _MAX_LEVELS)
    yield " ".join(parameter_texts), _PARAMETERS_WEIGHT


def _list_parameter_texts(schema: Any, levels: int) -> Iterator[str]:
    """Yield the names, descriptions and enum values of a schema's properties."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not levels:
        return
    for name, subschema in properties.items():
        yield str(name)
        if isinstance(subschema, Mapping):
            description, values = subschema.get("description"), subschema.get("enum")
            if isinstance(description, str):
                yield description
            if isinstance(values, Sequence) and not isinstance(values, str):
                yield from (value for value in values if isinstance(value, str))
            yield from _list_parameter_texts(subschema, levels - 1)


def _is_greeting(message: str) -> bool:
    """Return whether a message is only a greeting, a goodbye or thanks."""
    if len(message) > _MAX_GREETING_CHARACTERS:
        return False
    rest, count = _GREETING.subn(" ", message)
    return count > 0 and _GREETING_WORDS.issuperset(re.findall(r"\w+", rest.lower()))


def _split_terms(text: str) -> list[str]:
    """Return the words of a text, in order, in lower case and without accents.

    Names are split at `_`, `-`, `.` and capitals. In scripts without spaces each pair of
    adjacent letters is a word, as in Lucene's `CJKAnalyzer`.
    """
    text = text[:_MAX_TEXT_CHARACTERS]
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)[:_MAX_TEXT_CHARACTERS]
        text = "".join(char for char in decomposed if not unicodedata.combining(char))
    words: list[str] = []
    for match in _WORD.finditer(_CAMEL.sub(" ", text)):
        word = match.group().lower()
        if match["unspaced"]:
            words += map("".join, pairwise(word)) if len(word) > 1 else [word]
        elif 2 <= len(word) <= _MAX_WORD_CHARACTERS:
            words.append(word)
    return words


def _split_message(message: str) -> list[str]:
    """Return the specific words of a message, each once.

    Stop words and numbers are omitted. Of a long message only the beginning and the end are
    read, because users write their request before or after pasted text.
    """
    if len(message) > _MAX_TEXT_CHARACTERS:
        start = message[: _MAX_CHARACTERS_PER_END - 1]
        message = f"{start} {message[-_MAX_CHARACTERS_PER_END:]}"
    specific_words = (
        word
        for word in _split_terms(message)
        if word not in _STOP_WORDS and not word.isdigit()
    )
    words = list(dict.fromkeys(specific_words))
    if len(words) <= _MAX_WORDS:
        return words
    return words[:_MAX_WORDS_PER_END] + words[-_MAX_WORDS_PER_END:]


def _join_term_pairs(text: str) -> Iterator[str]:
    """Yield each pair of adjacent words, joined to one word."""
    return (first + second for first, second in pairwise(_split_terms(text)))


def _stem(word: str) -> str:
    """Return the stem of a word: `commit` for `commits` and `committed`.

    No dictionary is used: an English ending is removed, and then a doubled last letter.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LETTERS:
            word = word[: -len(ending)]
            break
    is_doubled = len(word) > _MIN_STEM_LETTERS and word[-1] == word[-2]
    return word[:-1] if is_doubled else word
