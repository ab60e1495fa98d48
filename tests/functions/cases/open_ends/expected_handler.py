"""Handler that calls `shop.open_ends:look_up`."""

from __future__ import annotations

from typing import Any

from shop.open_ends import look_up as _function

__all__ = ["look_up"]

_call: Any = _function


def look_up(**arguments: object) -> object:
    """Call the function with the arguments that the caller sent."""
    return _call(**arguments)
