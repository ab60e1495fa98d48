"""Bytes to text, and the characters in it that no reviewer sees.

Control, bidirectional, tag and invisible characters. Source: Unicode general categories;
CVE-2021-42574 for the bidirectional ones. Emoji sequences and the joiners of scripts that
need them are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from ..findings import Finding, Location, Severity

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1 controls but TAB, LF, NEL
    "\u202a-\u202e\u2066-\u2069"  # bidirectional overrides and isolates
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e001f]"  # deprecated language tags
)
# Besides Unicode's default-ignorable characters: blanks that are no spaces, annotations, and
# those of private use, of which nobody can say whether they have a picture.
_INVISIBLE = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ue000-\uf8ff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff\U000f0000-\U0010ffff]"
)
# Marks of direction, which text from right to left needs where it meets other text.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f]+")
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SILENT = f"[\u200b-\u200f\u061c]|{_INVISIBLE.pattern}"
_TAG = "[\U000e0020-\U000e007f]"
# One selector after a letter or emoji chooses its form; what goes on is a message. So are
# many invisible characters in a row.
_HIDDEN_RUN = re.compile(f"{_SELECTOR}{{2,}}|(?:{_SILENT}){{4,}}")
_TAGS = re.compile(f"{_TAG}+")
# Each character of what `forbidden` looks for.
_SUSPECT = re.compile("|".join((_FORBIDDEN.pattern, _SELECTOR, _SILENT, _TAG)))
_SELECTORS = re.compile(f"{_SELECTOR}+")
_JOINERS = re.compile("[\u200c\u200d]+")
_MOST_MARKS = 4
# Texts have kinds of spaces in French punctuation, numbers and names, one at a time. Some
# Chinese paragraphs begin with two wide ones.
_RARE = "\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f"
_SPACES = re.compile(
    f"[{_RARE}][ \t{_RARE}\u3000]|[ \t\u3000][{_RARE}]|\u3000[ \t]|[ \t]\u3000"
)
# Tabs that take turns with spaces; indentation does so once or twice.
_BLANKS = re.compile("(?<![ \t])[ ]*+(?:\t++[ ]++){3,}")
_BETWEEN_WORDS = re.compile(f"(?<=[^\\W\\d_])[{_RARE}](?=[^\\W\\d_])")
_MOST_SPACES = _MOST_VARIANTS = 4
_VARIED_SCRIPTS = ("MYANMAR", "PHAGS-PA", "FULLWIDTH", "IDEOGRAPHIC")
_JOINED_SCRIPTS = tuple(
    (
        "ARABIC SYRIAC MONGOLIAN NKO MANDAIC ADLAM DEVANAGARI BENGALI"
        " GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA KHMER"
        " MYANMAR TIBETAN BALINESE"
    ).split()
)


def forbidden(text: str) -> str | None:
    """The first character that no output can carry safely, or None."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return None
    # The different characters of a text are few, and mostly harmless.
    if not _SUSPECT.search("".join(set(text))):
        return None
    match = _FORBIDDEN.search(text) or _HIDDEN_RUN.search(text)
    if match:
        return match.group()[0]
    for tags in _TAGS.finditer(text):
        # A black flag followed by tags and a cancel tag is a regional flag emoji.
        before = text[tags.start() - 1] if tags.start() else ""
        if before != "\U0001f3f4" or not tags.group().endswith("\U000e007f"):
            return tags.group()[0]
    return None


def invisible(text: str) -> str | None:
    """The first character that people do not see but models read, or None.

    Besides characters without a picture these are joiners and variation selectors where
    no script and no emoji needs them, rare kinds of spaces side by side or between many
    words, tabs and spaces in turns, and marks piled higher than any script does: all can spell a hidden message.
    Source of the selectors: Unicode's StandardizedVariants and emoji-variation-sequences.
    """
    if "\t" in text and _BLANKS.search(text):
        return "\t"
    if text.isascii():
        return None
    match = _INVISIBLE.search(text)
    if match:
        return match.group()
    odd = _odd_selector(text) or _odd_space(text)
    if odd:
        return odd
    for run in _JOINERS.finditer(text):
        before = text[max(0, run.start() - 2) : run.start()]
        if len(run.group()) > 1 or not _is_joined(before, run.group()):
            return run.group()[0]
    for run in _DIRECTIONS.finditer(text):
        if len(run.group()) > 1 or not _has_right_to_left(text):
            return run.group()[0]
    return _piled_mark(text)


def _has_right_to_left(text: str) -> bool:
    letters = (c for c in text if not _DIRECTIONS.match(c))
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)


def _odd_space(text: str) -> str | None:
    """A space of a rare kind beside another, or one too many between words."""
    run = _SPACES.search(text)
    if run:
        return next(space for space in run.group() if space not in " \t")
    between = _BETWEEN_WORDS.findall(text)
    return between[0] if len(between) > _MOST_SPACES else None


def _odd_selector(text: str) -> str | None:
    """A variation selector that chooses no form, or one of too many."""
    chosen: dict[str, str] = {}
    variants = 0
    for run in _SELECTORS.finditer(text):
        selector = run.group()[0]
        before = text[max(0, run.start() - 1) : run.start()]
        if len(run.group()) > 1 or not _is_base(before, selector):
            return selector
        variants += selector not in "\ufe0e\ufe0f"
        if chosen.setdefault(before, selector) != selector or variants > _MOST_VARIANTS:
            return selector
    return None


def _is_base(before: str, selector: str) -> bool:
    """Whether a variation selector can belong to the character before it."""
    if before == "":
        return False
    if selector in "\ufe0e\ufe0f":
        # Emoji are symbols, the digits, `#` and `*` of keycaps, and four other signs.
        return before in "0123456789#*‼⁉ℹ〰" or unicodedata.category(before)[0] == "S"
    if selector > "\ufe0f":
        return unicodedata.name(before, "").startswith("CJK ")
    if selector > "\ufe02":
        return False
    # Each compatibility ideograph is registered as a variant of the one it stands for.
    return before in _varied_ideographs() or (
        unicodedata.category(before) == "Sm"
        or unicodedata.name(before, "").startswith(_VARIED_SCRIPTS)
    )


@cache
def _varied_ideographs() -> frozenset[str]:
    ideographs = (*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20))
    return frozenset(unicodedata.normalize("NFD", chr(code)) for code in ideographs)


def _is_joined(before: str, joiner: str) -> bool:
    """Whether a joiner can stand after the characters before it."""
    letter = before[-1:]
    if letter == "":
        return False
    if unicodedata.name(letter, "").startswith(_JOINED_SCRIPTS):
        return True
    # People, hands and flags join to one emoji, with a selector or skin tone between.
    is_emoji = unicodedata.category(letter) in ("So", "Sk") or letter == "\ufe0f"
    return joiner == "\u200d" and is_emoji


def _piled_mark(text: str) -> str | None:
    piled = 0
    for character in text:
        if character < "\u0300":
            piled = 0
            continue
        piled = piled + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if piled > _MOST_MARKS and character not in "\ufe0e\ufe0f":
            return character
    return None


def describe(character: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def unseen(text: str) -> tuple[str, str, str, Severity] | None:
    """What is found in a text that has characters nobody sees: rule, message, help, how bad."""
    # Line ends of Windows, which only an escape can give, are ones in every output.
    if bad := forbidden(text.replace("\r\n", "\n")):
        message = f"the character {describe(bad)} is not allowed"
        help_ = "remove it; no output can show it safely"
        return "yaml/forbidden-character", message, help_, Severity.ERROR
    if hidden := invisible(text):
        message = f"the invisible character {describe(hidden)} reaches models but not reviewers"
        return "yaml/invisible-character", message, "remove it", Severity.WARNING
    return None


def is_plain(character: str) -> bool:
    """Whether a character can stand in source code as it is: seen, and no separator."""
    return character.isprintable() and not _INVISIBLE.match(character)


def whole_file(file: str, rule: str, message: str, help: str = "") -> Finding:
    """An error of a file as a whole."""
    return Finding(rule, Severity.ERROR, Location(file), message, help)


def decoded(data: bytes) -> str:
    """The text of UTF-8, without a byte order mark, with the line ends of Unix.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def decode(file: str, data: bytes) -> tuple[str | None, list[Finding]]:
    """The text of a file; None, with a finding, when it is not one that can be read."""
    try:
        text = decoded(data)
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start} cannot be decoded"
        help_ = "save the file as UTF-8"
        return None, [whole_file(file, "yaml/encoding", message, help_)]
    if forbidden(text) is None:
        return text, []
    for number, line in enumerate(text.split("\n"), 1):
        bad = forbidden(line)
        if bad:
            column = line.index(bad) + 1
            place = Location(file, number, column, column + 1)
            message = f"the character {describe(bad)} is not allowed"
            help_ = "remove it; no output can show it safely"
            return None, [
                Finding(
                    "yaml/forbidden-character",
                    Severity.ERROR,
                    place,
                    message,
                    help_,
                    line,
                )
            ]
    return text, []


_FORMATS = frozenset(("Cc", "Cf", "Cn", "Co", "Mn"))


def unseen_ones(text: str) -> Counter[str]:
    """The characters of a text that may be unseen: those of formats, and loose marks."""
    normal = unicodedata.normalize("NFC", text)
    found = (one for one in normal if unicodedata.category(one) in _FORMATS)
    return Counter(one for one in found if one not in "\t\n\r")
