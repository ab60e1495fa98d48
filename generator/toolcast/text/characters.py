"""Characters that a spec may not hide: control, bidirectional, tag and invisible ones.

Source: Unicode general categories; CVE-2021-42574 for the bidirectional ones. Emoji
sequences and the joiners of scripts that need them are left alone.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["describe", "forbidden", "invisible", "is_plain"]

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1 controls but TAB, LF, NEL
    "\u202a-\u202e\u2066-\u2069"  # bidirectional overrides and isolates
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e001f]"  # deprecated language tags
)
_INVISIBLE = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0]"
)
# One selector after a letter or emoji chooses its form; what goes on is a message. So are
# many invisible characters in a row.
_HIDDEN_RUN = re.compile(
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
    "|(?:[\u200b-\u200d]|" + _INVISIBLE.pattern + "){4,}"
)
# Joiners belong to emoji and to scripts beyond Armenian, not between Latin letters.
_NEEDLESS_JOINER = re.compile("(?:(?<=[\x00-\u058f])|^)[\u200c\u200d]")
_TAGS = re.compile("[\U000e0020-\U000e007f]+")


def forbidden(text: str) -> str | None:
    """The first character that no output can carry safely, or None."""
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
    """The first character that people do not see but models read, or None."""
    match = _INVISIBLE.search(text) or _NEEDLESS_JOINER.search(text)
    return match.group() if match else None


def describe(character: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def is_plain(character: str) -> bool:
    """Whether a character can stand in source code as it is: seen, and no separator."""
    return character.isprintable() and not _INVISIBLE.match(character)
