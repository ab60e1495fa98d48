"""Calls `shop.google:search_orders`."""

from __future__ import annotations

from typing import Any

from shop.google import search_orders as _function

__all__ = ["search_orders"]

_call: Any = _function


def search_orders(**arguments: object) -> object:
    """Call it with what the caller sent: what was left out is not given."""
    return _call(**arguments)
