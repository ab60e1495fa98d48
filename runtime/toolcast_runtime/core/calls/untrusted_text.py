"""Texts of strangers, made fit for logs and errors: escaped, short, without secrets."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import Any

MOST_SHOWN = 300
_HIDDEN = "[hidden]"
# Looked up now: where no file can be opened any more, the log has to tell it.
codecs.lookup("unicode_escape")
# What Unicode calls printable and does not print (Default_Ignorable_Code_Point, blanks) but for
# the selector of a symbol's picture, and marks that pile up over the lines above.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U000e0100-\U000e01ef]|(?<![\u2010-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
    "|(?<=[\u0300-\u036f]{3})[\u0300-\u036f]"
)


def escaped(text: str, most: int = MOST_SHOWN) -> str:
    """The text on one line, with what could drive a terminal or forge a line spelled out.

    Everything but printable characters and plain spaces becomes an escape; what is beyond
    `most` characters is cut off.
    """
    shown = text[:most]
    safe = "".join(
        (
            character
            if character.isprintable() and character != "\\"
            else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        )
        for character in shown
    )
    return safe if len(text) <= most else f"{safe}..."


def shown(text: str) -> str:
    """The text on one line; what is not seen, or turns the line round, is spelled out."""
    spelled = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )
    return _UNSEEN.sub(lambda c: c[0].encode("unicode_escape").decode(), spelled)


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
