"""Calls `shop.values:book`."""

from __future__ import annotations

from typing import Any

from shop.values import book as _function

__all__ = ["book"]

_call: Any = _function


def book(**arguments: object) -> object:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
