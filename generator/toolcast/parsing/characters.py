"""Decode files, and find control, bidirectional, tag and invisible characters in text.

Sources: Unicode general categories, and CVE-2021-42574 for the bidirectional characters. Emoji
sequences, and joiners in scripts that use them, are accepted.
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
# Unicode's default-ignorable characters, blanks that are not spaces, annotation
# characters, and private use characters, which a font may or may not show.
_INVISIBLE = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ue000-\uf8ff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff\U000f0000-\U0010ffff]"
)
# Direction marks; right-to-left text next to left-to-right text needs them.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f]+")
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_INVISIBLE_OR_JOINER = f"[\u200b-\u200f\u061c]|{_INVISIBLE.pattern}"
_TAG = "[\U000e0020-\U000e007f]"
# A single variation selector selects the form of the letter or emoji before it. Several
# selectors or invisible characters in a row can encode a hidden message.
_HIDDEN_RUN = re.compile(f"{_SELECTOR}{{2,}}|(?:{_INVISIBLE_OR_JOINER}){{4,}}")
_TAGS = re.compile(f"{_TAG}+")
# A text without any of these characters has no forbidden sequence.
_SUSPECT = re.compile(
    "|".join((_FORBIDDEN.pattern, _SELECTOR, _INVISIBLE_OR_JOINER, _TAG))
)
_SELECTORS = re.compile(f"{_SELECTOR}+")
_JOINERS = re.compile("[\u200c\u200d]+")
_MAX_COMBINING_MARKS = 4
"""The maximum number of consecutive combining marks that is accepted."""
# French punctuation, numbers and names contain single rare spaces, so only runs are
# reported. Pairs of wide spaces (U+3000) are accepted, because some Chinese paragraphs
# start with two.
_RARE_SPACES = "\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f"
_SPACE_RUN = re.compile(
    f"[{_RARE_SPACES}][ \t{_RARE_SPACES}\u3000]|[ \t\u3000][{_RARE_SPACES}]|\u3000[ \t]|[ \t]\u3000"
)
# Tabs and spaces that alternate three times or more; indentation alternates once or
# twice.
_ALTERNATING_BLANKS = re.compile("(?<![ \t])[ ]*+(?:\t++[ ]++){3,}")
_RARE_SPACE_INSIDE_WORDS = re.compile(f"(?<=[^\\W\\d_])[{_RARE_SPACES}](?=[^\\W\\d_])")
_MAX_RARE_SPACES = _MAX_VARIANTS = 4
_VARIED_SCRIPTS = ("MYANMAR", "PHAGS-PA", "FULLWIDTH", "IDEOGRAPHIC")
_JOINED_SCRIPTS = tuple(
    (
        "ARABIC SYRIAC MONGOLIAN NKO MANDAIC ADLAM DEVANAGARI BENGALI"
        " GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA KHMER"
        " MYANMAR TIBETAN BALINESE"
    ).split()
)


def find_forbidden(text: str) -> str | None:
    """Return the first character that no output can contain safely; None if none."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return None
    # A text has few distinct characters: searching these first is faster than searching
    # the whole text.
    if not _SUSPECT.search("".join(set(text))):
        return None
    match = _FORBIDDEN.search(text) or _HIDDEN_RUN.search(text)
    if match:
        return match.group()[0]
    for tags in _TAGS.finditer(text):
        # Tag characters are valid in a regional flag emoji: a black flag, tags, and a
        # cancel tag.
        before = text[tags.start() - 1] if tags.start() else ""
        if before != "\U0001f3f4" or not tags.group().endswith("\U000e007f"):
            return tags.group()[0]
    return None


def find_invisible(text: str) -> str | None:
    """Return the first character that models read and people do not see, or None.

    Finds everything that can encode a hidden message: characters without a glyph,
    joiners and variation selectors that no script or emoji uses, repeated or frequent
    rare spaces, alternating tabs and spaces, and more stacked marks than any script
    has. Source of the selectors: Unicode's StandardizedVariants and
    emoji-variation-sequences.
    """
    if "\t" in text and _ALTERNATING_BLANKS.search(text):
        return "\t"
    if text.isascii():
        return None
    match = _INVISIBLE.search(text)
    if match:
        return match.group()
    odd = _find_odd_selector(text) or _find_odd_space(text)
    if odd:
        return odd
    for run in _JOINERS.finditer(text):
        before = text[max(0, run.start() - 1) : run.start()]
        if len(run.group()) > 1 or not _can_join(before, run.group()):
            return run.group()[0]
    for run in _DIRECTIONS.finditer(text):
        if len(run.group()) > 1 or not _has_right_to_left(text):
            return run.group()[0]
    return _find_piled_mark(text)


def _has_right_to_left(text: str) -> bool:
    letters = (c for c in text if not _DIRECTIONS.match(c))
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)


def _find_odd_space(text: str) -> str | None:
    """Return a rare space next to another space; None if there is none.

    Also the first rare space between letters, if there are more than
    `_MAX_RARE_SPACES`.
    """
    run = _SPACE_RUN.search(text)
    if run:
        return next(space for space in run.group() if space not in " \t")
    between = _RARE_SPACE_INSIDE_WORDS.findall(text)
    return between[0] if len(between) > _MAX_RARE_SPACES else None


def _find_odd_selector(text: str) -> str | None:
    """Return a variation selector that selects no form; None if there is none.

    Also a second form of the same character, and the first of too many variants.
    """
    chosen: dict[str, str] = {}
    variants = 0
    for run in _SELECTORS.finditer(text):
        selector = run.group()[0]
        before = text[max(0, run.start() - 1) : run.start()]
        if len(run.group()) > 1 or not _is_selector_base(before, selector):
            return selector
        variants += selector not in "\ufe0e\ufe0f"
        if chosen.setdefault(before, selector) != selector or variants > _MAX_VARIANTS:
            return selector
    return None


def _is_selector_base(before: str, selector: str) -> bool:
    """Return whether a variation selector has an effect on the character before it."""
    if before == "":
        return False
    if selector in "\ufe0e\ufe0f":
        # Emoji are symbols; the digits, `#` and `*` are the bases of keycaps; four
        # other signs have an emoji form.
        return before in "0123456789#*‼⁉ℹ〰" or unicodedata.category(before)[0] == "S"
    if selector > "\ufe0f":
        return unicodedata.name(before, "").startswith("CJK ")
    if selector > "\ufe02":
        return False
    # Unicode registers each compatibility ideograph as a variant of its unified
    # ideograph.
    return before in _list_varied_ideographs() or (
        unicodedata.category(before) == "Sm"
        or unicodedata.name(before, "").startswith(_VARIED_SCRIPTS)
    )


@cache
def _list_varied_ideographs() -> frozenset[str]:
    ideographs = (*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20))
    return frozenset(unicodedata.normalize("NFD", chr(code)) for code in ideographs)


def _can_join(before: str, joiner: str) -> bool:
    """Return whether a joiner is valid after the character before it.

    It is valid in scripts with joiners and, for a zero-width joiner, after emoji.
    """
    if before == "":
        return False
    if unicodedata.name(before, "").startswith(_JOINED_SCRIPTS):
        return True
    # A joiner in an emoji sequence follows an emoji, its variation selector or its skin
    # tone.
    is_emoji = unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f"
    return joiner == "\u200d" and is_emoji


def _find_piled_mark(text: str) -> str | None:
    piled = 0
    for character in text:
        if character < "\u0300":
            piled = 0
            continue
        piled = piled + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if piled > _MAX_COMBINING_MARKS and character not in "\ufe0e\ufe0f":
            return character
    return None


def describe_character(character: str) -> str:
    """Return a character's code point and name, such as `U+202E RIGHT-TO-LEFT OVERRIDE`."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def check_characters(text: str) -> tuple[str, str, str, Severity] | None:
    """Return the first problem with the characters of a string value, or None.

    The problem is a rule id, a message, a help and a severity: an error for a forbidden
    character, a warning for an invisible one.
    """
    # A YAML escape can produce CRLF, which every output shows as a line break: it is
    # accepted.
    if bad := find_forbidden(text.replace("\r\n", "\n")):
        message = f"the character {describe_character(bad)} is not allowed"
        help_ = "remove it; no output can show it safely"
        return "yaml/forbidden-character", message, help_, Severity.ERROR
    if hidden := find_invisible(text):
        message = f"the invisible character {describe_character(hidden)} reaches models but not reviewers"
        return "yaml/invisible-character", message, "remove it", Severity.WARNING
    return None


def is_printable(character: str) -> bool:
    """Return whether a character is visible and needs no escape in source code."""
    return character.isprintable() and not _INVISIBLE.match(character)


def build_file_error(file: str, rule: str, message: str, help: str = "") -> Finding:
    """Return a finding of severity error for a file as a whole."""
    return Finding(rule, Severity.ERROR, Location(file), message, help)


def decode_text(data: bytes) -> str:
    """Return UTF-8 bytes as text, without byte order mark, with LF for CRLF.

    Raises:
        UnicodeDecodeError: `data` is not UTF-8.
    """
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def decode_file(file: str, data: bytes) -> tuple[str | None, list[Finding]]:
    """Return the text of a file, and findings about its encoding and characters.

    The text is None if there is a finding: the first forbidden character, or a byte
    that is not UTF-8.
    """
    try:
        text = decode_text(data)
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start} cannot be decoded"
        help_ = "save the file as UTF-8"
        return None, [build_file_error(file, "yaml/encoding", message, help_)]
    if find_forbidden(text) is None:
        return text, []
    for number, line in enumerate(text.split("\n"), 1):
        bad = find_forbidden(line)
        if bad:
            column = line.index(bad) + 1
            place = Location(file, number, column, column + 1)
            message = f"the character {describe_character(bad)} is not allowed"
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


_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Mn"))


def count_invisible(text: str) -> Counter[str]:
    """Count the characters of a text that can be invisible, by character.

    Tabs and line breaks are not counted. Combining marks count only where NFC
    normalization does not merge them into a letter.
    """
    composed = unicodedata.normalize("NFC", text)
    return Counter(
        character
        for character in composed
        if character not in "\t\n\r"
        and unicodedata.category(character) in _INVISIBLE_CATEGORIES
    )
