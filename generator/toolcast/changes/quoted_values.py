"""JSON values as messages say them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["quoted"]

_WIDTH = 60


def quoted(value: Any) -> str:
    """A value as a message says it: one short line in backticks.

    What is longer is cut, what cannot be seen is an escape of JSON. Backticks inside of the
    value become apostrophes, so that the ones around it stay a pair.
    """
    is_plain = isinstance(value, str) and value.isprintable() and value.strip() == value
    text = (
        str(value)
        if is_plain and value
        else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    )
    if not text.isprintable():
        text = json.dumps(value, sort_keys=True, default=str)
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 1]}…"
    return f"`{text.replace('`', chr(39))}`"
