"""The words of a message and of a tool's texts, and which of them are forms of one another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

_HALF = 30
_MOST_WORDS = 2 * _HALF
_HALF_TEXT = 10_000
_LONGEST_TEXT = 2 * _HALF_TEXT
_LONGEST_WORD = 40
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
# Words that stand in any message, whatever it is about.
COMMON = frozenset("""
a about after again all also am an and any are as at be been but by can could did do
does doing done for from give go got had has have he her here him his how if in into is
it its just let like make me my need no not now of off on one or our out over please put
say see she should so some tell than that the their them then there these they this
those to too up us want was we were what when where which who why will with would you
your
""".split())
"""Words that say nothing of what a message is about."""
# That no tool knows them is no sign of doubt.
TIMES = frozenset("""
afternoon am april august clock daily day days december evening every february first
friday hour hours january july june last later march midnight minute minutes monday
mondays month monthly months morning next night noon november october pm saturday
september soon sunday sundays thursday time today tomorrow tonight tuesday wednesday week
weekend weekly weeks year yesterday
""".split())
"""Words that any message can have that speaks of a time."""
_GREETING = re.compile(
    r"\b(?:good (?:morning|afternoon|evening|night|day)|hello|hi|hey|greetings|thanks"
    r"|thank you|thx|cheers|good ?bye|bye)\b",
    re.IGNORECASE,
)
_LONGEST_GREETING = 200
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


def is_greeting(message: str) -> bool:
    """Whether a message says hello, goodbye or thanks, and nothing else."""
    if len(message) > _LONGEST_GREETING:
        return False
    rest, count = _GREETING.subn(" ", message)
    return count > 0 and _BESIDE.issuperset(re.findall(r"\w+", rest.lower()))


def words(text: str) -> list[str]:
    """The words of a text, in order, in lower case and without accents.

    Names are taken apart at `_`, `-`, `.` and where capitals begin. Where a script has no
    blanks, every two neighbouring letters are a word, as in Lucene's `CJKAnalyzer`.
    """
    plain = text[:_LONGEST_TEXT]
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain)[:_LONGEST_TEXT]
        plain = "".join(c for c in parts if not unicodedata.combining(c))
    found: list[str] = []
    for match in _WORD.finditer(_CAMEL.sub(" ", plain)):
        word = match.group().lower()
        if match["unspaced"]:
            found += map("".join, pairwise(word)) if len(word) > 1 else [word]
        elif 2 <= len(word) <= _LONGEST_WORD:
            found.append(word)
    return found


def message_words(text: str) -> list[str]:
    """The words that say what a message is about, each once.

    Of a long message its beginning and its end: what is asked stands before or after what
    was pasted.
    """
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _HALF_TEXT - 1]} {text[-_HALF_TEXT:]}"
    telling = (w for w in words(text) if w not in COMMON and not w.isdigit())
    each = list(dict.fromkeys(telling))
    return each if len(each) <= _MOST_WORDS else each[:_HALF] + each[-_HALF:]


def joined_words(text: str) -> Iterator[str]:
    """Every two neighbouring words of a text, written as one."""
    return (one + other for one, other in pairwise(words(text)))


def stem(word: str) -> str:
    """What forms of a word have in common, roughly: `commits` and `committed` are `commit`.

    No dictionary: an English ending is taken off, and a doubled letter before it.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    is_doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2]
    return word[:-1] if is_doubled else word
