"""When two JSON values are the same: `1` is `1.0` and is not `true`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["key_of", "same"]


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same; the order of names says nothing."""
    if one is other:
        return True
    # Python takes true for 1: the texts tell them apart, and are alike most of the time.
    return bool(one == other) and (
        repr(one) == repr(other) or key_of(one) == key_of(other)
    )


def key_of(value: Any) -> Hashable:
    """What is equal for values that are the same, and for no others."""
    if isinstance(value, bool) or value is None:
        return ("", value)
    if isinstance(value, dict):
        return frozenset((name, key_of(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(key_of(inner) for inner in value)
    return ("n", value) if isinstance(value, (int, float)) else str(value)
