"""JSON values as changes compare and show them."""

from __future__ import annotations

import json
from typing import Any

from .change import ABSENT

__all__ = ["is_same", "key_of", "said"]

_WIDTH = 60


def is_same(before: Any, after: Any) -> bool:
    """Whether two JSON values are equal: true is not 1, and the order of keys says nothing."""
    if before is ABSENT or after is ABSENT:
        return before is after
    # Equal values of one kind are the common case, and need no text.
    if before != after:
        return False
    return before.__class__ is after.__class__ and (
        isinstance(before, str) or key_of(before) == key_of(after)
    )


def said(value: Any) -> str:
    """A value as a message says it: one short line in backticks.

    What is longer is cut, what cannot be seen is an escape of JSON. Backticks inside of the value become apostrophes, so that the
    ones around it stay a pair.
    """
    is_plain = isinstance(value, str) and value.isprintable() and value.strip() == value
    text = str(value) if is_plain and value else key_of(value)
    if not text.isprintable():
        text = json.dumps(value, sort_keys=True, default=str)
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 1]}…"
    return f"`{text.replace('`', chr(39))}`"


def key_of(value: Any) -> str:
    """A text that equal values have in common, and no others."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
