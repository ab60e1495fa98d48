"""Calls `shop.numpy:mean`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shop.numpy import mean as _function

__all__ = ["mean"]

_call: Callable[..., Any] = _function


async def mean(**arguments: Any) -> Any:
    """Call it with what the caller sent: what was left out is not given."""
    return await _call(**arguments)
