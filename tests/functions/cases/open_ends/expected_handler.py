"""Calls `shop.open_ends:look_up`."""

from __future__ import annotations

from typing import Any

from shop.open_ends import look_up as _function

__all__ = ["look_up"]

_call: Any = _function


def look_up(**arguments: object) -> object:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
