"""Whether a value is JSON, and small enough to be checked in bounded time and stack."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["MOST_LEVELS", "MOST_VALUES", "Size", "measure"]

MOST_LEVELS = 200
"""Deeper values overflow the stack of validators that follow them by recursion."""

MOST_VALUES = 1_000_000

_SURROGATE = "half of a surrogate pair"


class Size(NamedTuple):
    """How large a value is.

    Attributes:
        problem: why it cannot be taken; None when it can.
        values: it and all values in it.
        levels: 1 for a plain value, 2 for a list of them.
    """

    problem: str | None
    values: int
    levels: int


def measure(value: Any) -> Size:
    """Goes through a value level by level, without recursion, also when it holds itself."""
    level, values, levels = [value], 0, 0
    while level:
        levels += 1
        values += len(level)
        if levels > MOST_LEVELS:
            return Size(f"more than {MOST_LEVELS} levels deep", values, levels)
        if values > MOST_VALUES:
            return Size(f"more than {MOST_VALUES:,} values", values, levels)
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            # What most arguments are made of comes first, and by identity: this runs for
            # every value of every call.
            if kind is str:
                if not item.isascii() and _has_surrogate(item):
                    return Size(_SURROGATE, values, levels)
            elif kind is int or kind is bool or item is None:
                continue
            elif isinstance(item, dict):
                try:
                    keys = "".join(item)
                except TypeError:
                    return Size("a key that is not text", values, levels)
                if not keys.isascii() and any(map(_has_surrogate, item)):
                    return Size(_SURROGATE, values, levels)
                inner.extend(item.values())
            elif isinstance(item, (list, tuple)):
                inner.extend(item)
            elif isinstance(item, float):
                if not math.isfinite(item):
                    return Size(f"the number {item}", values, levels)
            elif isinstance(item, str):
                if _has_surrogate(item):
                    return Size(_SURROGATE, values, levels)
            elif not isinstance(item, int):
                return Size(f"a Python {kind.__name__}", values, levels)
        level = inner
    return Size(None, values, levels)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
