"""Handler that calls `shop.numpy:mean`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from shop.numpy import mean as _function

__all__ = ["mean"]

_call: Callable[..., Awaitable[float]] = _function


async def mean(**arguments: object) -> float:
    """Call the function with the arguments that the caller sent."""
    return await _call(**arguments)
