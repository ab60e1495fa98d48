"""Texts of strangers, made fit for logs and errors: escaped, short, without secrets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOST_SHOWN = 300
_HIDDEN = "[hidden]"


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


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret replaced; the longest secrets come first."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, _HIDDEN)
    return text


def without_in(value: Any, secrets: tuple[str, ...]) -> Any:
    """A JSON value, no deeper than `json_bounds` takes, with secrets replaced in texts."""
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
