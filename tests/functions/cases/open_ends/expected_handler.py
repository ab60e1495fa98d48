"""Calls `shop.open_ends:look_up`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shop.open_ends import look_up as _function

__all__ = ["look_up"]

_call: Callable[..., Any] = _function


def look_up(**arguments: Any) -> Any:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
