"""Texts of strangers, made fit for logs and errors: escaped, short, without secrets."""

from __future__ import annotations

import logging
import re
import time
import unicodedata
from collections.abc import Iterable
from typing import Any

MAX_SHOWN_CHARACTERS = 300
"""Characters of untrusted text in a message, by default."""
_HIDDEN = "[hidden]"
# Its codec is loaded now: where no file can be opened any more, the log has to tell it.
"".encode("unicode_escape")
# What Unicode calls printable and does not print (Default_Ignorable_Code_Point, blanks) but for
# the selector of a symbol's picture.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U000e0100-\U000e01ef]|(?<![\u2010-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
# Those over one character; more pile up over the lines above, and no script needs them.
_MAX_COMBINING_MARKS = 3
_CONTROLS = {
    code: ascii(chr(code))[1:-1]
    for code in (*range(0x20), *range(0x7F, 0xA0))
    if chr(code) not in "\t\n"
}


def escaped(text: str, most: int = MAX_SHOWN_CHARACTERS) -> str:
    """The text on one line, with what could drive a terminal or forge a line spelled out.

    So is a backslash, and what `shown` spells out; what is beyond `most` characters is cut off.
    """
    safe = shown(text[:most].replace("\\", "\\\\"))
    return safe if len(text) <= most else f"{safe}..."


def shown(text: str) -> str:
    """The text on one line; what is not seen, turns it round or piles up is spelled out."""
    if text.isascii() and text.isprintable():
        return text
    unseen = {found.start() for found in _UNSEEN.finditer(text)}
    spelled: list[str] = []
    marks = 0
    for place, one in enumerate(text):
        marks = marks + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        is_seen = (
            one.isprintable() and place not in unseen and marks <= _MAX_COMBINING_MARKS
        )
        spelled.append(one if is_seen else one.encode("unicode_escape").decode())
    return "".join(spelled)


def undriving(text: str) -> str:
    """The text in its lines, in which what could drive a terminal is spelled out."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret replaced; the longest secrets come first."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, _HIDDEN)
    return text


def without_in(value: Any, secrets: tuple[str, ...]) -> Any:
    """A JSON value, no deeper than `limits` takes, with secrets replaced in texts."""
    if not secrets:
        return value
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, list):
        return [without_in(item, secrets) for item in value]
    if isinstance(value, dict):
        return {
            without(key, secrets): without_in(item, secrets)
            for key, item in value.items()
        }
    return value


class OneASecond(logging.Filter):
    """Lets one record of a kind by in a second; the next one says how many were left out.

    So nobody fills a log who asks as often as they like. A record is of the kind that its
    `extra` names as `kind`; one without is let by.

    Args:
        loggers: whose records are of one kind when they begin with the same line.
    """

    def __init__(self, *loggers: str) -> None:
        super().__init__()
        self._loggers = loggers
        self._told: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is let by."""
        kind = record.__dict__.pop("kind", None)
        if record.name in self._loggers:
            kind = str(record.msg).partition("\n")[0]
        if kind is None:
            return True
        now = time.monotonic()
        last, left_out = self._told.get(kind, (-1.0, 0))
        if now - last < 1.0:
            self._told[kind] = last, left_out + 1
            return False
        self._told[kind] = now, 0
        if left_out:
            record.msg = f"{record.msg} (and {left_out} more of the kind)"
        return True
