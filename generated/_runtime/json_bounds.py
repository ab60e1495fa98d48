"""Whether a value is JSON, and small enough to be checked in bounded time and stack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["MOST_LEVELS", "MOST_VALUES", "Size", "measure"]

MOST_LEVELS = 200
"""Deeper values overflow the stack of validators that follow them by recursion."""

MOST_VALUES = 1_000_000


@dataclass(frozen=True, slots=True)
class Size:
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
            if isinstance(item, str):
                if not item.isascii() and _has_surrogate(item):
                    return Size("half of a surrogate pair", values, levels)
            elif isinstance(item, dict):
                for key in item:
                    if not isinstance(key, str):
                        return Size("a key that is not text", values, levels)
                    if not key.isascii() and _has_surrogate(key):
                        return Size("half of a surrogate pair", values, levels)
                inner.extend(item.values())
            elif isinstance(item, (list, tuple)):
                inner.extend(item)
            elif isinstance(item, float):
                if not math.isfinite(item):
                    return Size(f"the number {item}", values, levels)
            elif item is not None and not isinstance(item, int):
                return Size(f"a Python {type(item).__name__}", values, levels)
        level = inner
    return Size(None, values, levels)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
