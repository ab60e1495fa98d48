"""Text from untrusted sources for logs and errors: escaped, shortened, without secrets."""

from __future__ import annotations

import logging
import re
import time
import unicodedata
from collections.abc import Iterable
from typing import Any

MAX_SHOWN_CHARACTERS = 300
"""Default maximum number of characters of untrusted text in a message."""
_HIDDEN = "[hidden]"
# Python loads a codec from a file on first use. Load it now, because logging must also work
# after the process has run out of file descriptors.
"".encode("unicode_escape")
# Invisible characters that `str.isprintable` accepts: blanks and Unicode's
# Default_Ignorable_Code_Point. Variation selectors U+FE0E and U+FE0F after a symbol are not
# matched, because they select the symbol's text or emoji form.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U000e0100-\U000e01ef]|(?<![\u2010-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
# Maximum number of combining marks on one character: no script needs more, and a higher stack
# covers other lines.
_MAX_COMBINING_MARKS = 3
_ESCAPED_CONTROLS = {
    code: ascii(chr(code))[1:-1]
    for code in (*range(0x20), *range(0x7F, 0xA0))
    if chr(code) not in "\t\n"
}


def escape_excerpt(text: str, max_characters: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return the first `max_characters` characters of a text as one safe line.

    Control sequences of terminals, line breaks, invisible characters and backslashes are
    escaped. A text that is cut off ends in `...`.
    """
    excerpt = escape_unprintable(text[:max_characters].replace("\\", "\\\\"))
    return excerpt if len(text) <= max_characters else f"{excerpt}..."


def escape_unprintable(text: str) -> str:
    """Escape the characters of a text that are invisible or change how it is displayed.

    These are control characters, line breaks, invisible and bidirectional formatting
    characters, and stacked combining marks. Backslashes stay.
    """
    if text.isascii() and text.isprintable():
        return text
    invisible = {match.start() for match in _INVISIBLE.finditer(text)}
    characters: list[str] = []
    marks = 0
    for index, character in enumerate(text):
        is_mark = unicodedata.category(character) in ("Mn", "Me")
        marks = marks + 1 if is_mark else 0
        if (
            not character.isprintable()
            or index in invisible
            or marks > _MAX_COMBINING_MARKS
        ):
            character = character.encode("unicode_escape").decode()
        characters.append(character)
    return "".join(characters)


def escape_controls(text: str) -> str:
    """Return text with control characters escaped, except tabs and line breaks.

    CRLF becomes LF.
    """
    return text.replace("\r\n", "\n").translate(_ESCAPED_CONTROLS)


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text by `[hidden]`.

    Args:
        secrets: the secrets, the longest first: one secret may be part of another.
    """
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, _HIDDEN)
    return text


def redact_value(value: Any, secrets: tuple[str, ...]) -> Any:
    """Replace the secrets in all strings and keys of a JSON value.

    The function is recursive: the value must not exceed the nesting limit of `limits`.
    """
    if not secrets:
        return value
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, list):
        return [redact_value(item, secrets) for item in value]
    if isinstance(value, dict):
        return {
            redact_text(key, secrets): redact_value(item, secrets)
            for key, item in value.items()
        }
    return value


class RateLimitFilter(logging.Filter):
    """Logging filter that passes at most one record of each kind per second.

    The next record of the kind states how many were suppressed. This keeps clients from
    filling the log with repeated bad requests. The kind of a record is its `extra` field
    `kind`; records without a kind always pass. A kind that contains an object contains a weak
    reference to it: the `id` of an object is used again after its end.

    Args:
        loggers: the names of loggers whose records have the first line of their message as
            their kind.
    """

    def __init__(self, *loggers: str) -> None:
        super().__init__()
        self._loggers = loggers
        # For each kind: the time of the last passed record, and the number of records that were
        # suppressed since.
        self._passed: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        kind = record.__dict__.pop("kind", None)
        if record.name in self._loggers:
            kind = str(record.msg).partition("\n")[0]
        if kind is None:
            return True
        now = time.monotonic()
        last_passed, suppressed = self._passed.get(kind, (-1.0, 0))
        if now - last_passed < 1.0:
            self._passed[kind] = last_passed, suppressed + 1
            return False
        self._passed[kind] = now, 0
        if suppressed:
            record.msg = f"{record.msg} (and {suppressed} more of the kind)"
        return True
