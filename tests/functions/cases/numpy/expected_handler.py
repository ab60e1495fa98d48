"""Calls `shop.numpy:mean`."""

from __future__ import annotations

from typing import Any

from shop.numpy import mean as _function

__all__ = ["mean"]

_call: Any = _function


async def mean(**arguments: object) -> object:
    """Call it with what the caller sent: what was left out is not given."""
    return await _call(**arguments)
