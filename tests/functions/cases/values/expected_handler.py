"""Calls `shop.values:book`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shop.values import book as _function

__all__ = ["book"]

_call: Callable[..., Any] = _function


def book(**arguments: Any) -> Any:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
