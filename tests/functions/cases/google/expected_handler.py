"""Calls `shop.google:search_orders`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shop.google import search_orders as _function

__all__ = ["search_orders"]

_call: Callable[..., Any] = _function


def search_orders(**arguments: Any) -> Any:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
