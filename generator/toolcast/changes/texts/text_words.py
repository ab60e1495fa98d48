"""What a text says, as far as words can tell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

__all__ = [
    "content_words",
    "first_sentence",
    "leading_words",
    "marks_and_words",
    "words_by_stem",
]

# Letters of scripts that put no spaces between words count one by one.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
# An end mark with space behind it, or a list below; but `e.g.` and `i.e.` end nothing.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?](?=\s|$)|[。！？]|\n\s*(?:\n|[-*•]\s|\d+[.)]\s)"
)
_MARK_OR_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+|-(?=\d)|!=|[^\w\s]")
_SAY_NOTHING = frozenset(
    "a an the this that these those it its of to in on at by for from with as and or is are"
    " be been was were will would can could may might should shall do does did has have had"
    " you your they their them there here which who whom what when where how if then than so"
    " such use uses used using tool tools any powerful comprehensive ideal easily".split()
)
_ENDINGS = (
    "ations",
    "ation",
    "ions",
    "ion",
    "ings",
    "ing",
    "ers",
    "ies",
    "ed",
    "er",
    "es",
    "s",
    "e",
    "y",
)
_SHORTEST_STEM = 3
_ALIKE = (
    "get fetch return retrieve read give obtain load",
    "list show enumerate display",
    "delete remove erase drop",
    "create add make insert new",
    "update edit modify change",
    "search find lookup query look",
    "send post deliver submit",
    "run execute start launch perform",
    "store save keep write record",
    "take capture grab",
    "image picture screenshot",
    "folder directory",
    "url link address",
    "id identifier",
)
"""Words that say about the same where tools are described: one for another is no new purpose."""


def content_words(text: str) -> frozenset[str]:
    """The words that carry what a text says, without endings, one for all that are alike.

    Left out are articles, prepositions, praise and the like; a word that turns the sense
    round, as `not` does, is none of those.
    """
    return frozenset(_in_order(text))


def leading_words(text: str) -> frozenset[str]:
    """The first three of those words, which say in most sentences what is done to what."""
    return frozenset(list(dict.fromkeys(_in_order(text)))[:3])


def _in_order(text: str) -> Iterator[str]:
    return (_ONE_FOR_ALL.get(stem, stem) for stem in words_by_stem(text))


@lru_cache(maxsize=256)
def words_by_stem(text: str) -> Mapping[str, str]:
    """The same words as they are written, by what is left without their endings."""
    words = (match[0].strip("_") for match in _WORD.finditer(_normal(text)))
    return {
        _stem(word.casefold()): word
        for word in words
        if word and word.casefold() not in _SAY_NOTHING
    }


def first_sentence(text: str) -> str:
    """The first sentence of a text, which says what the thing is for."""
    text = text.strip()
    match = _END.search(text)
    return text if match is None else text[: match.start()]


def marks_and_words(text: str) -> list[str]:
    """The words of a text and the signs that have a meaning of their own, in order.

    Two texts with the same ones differ in white space, case and punctuation alone. Signs
    with a meaning are those of mathematics and money and pictures, not stops and brackets.
    """
    found = (
        match[0].strip("_")
        for match in _MARK_OR_WORD.finditer(_normal(text).casefold())
    )
    return [each for each in found if each and _says_something(each)]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _says_something(found: str) -> bool:
    if len(found) > 1 or found.isalnum() or found == "-":
        return True
    category = unicodedata.category(found)
    return category.startswith("S") and category != "Sk"


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


_ONE_FOR_ALL = {
    _stem(word): _stem(words.split()[0]) for words in _ALIKE for word in words.split()
}
