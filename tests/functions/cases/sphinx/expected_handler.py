"""Handler that calls `shop.sphinx:greet`."""

from __future__ import annotations

from shop.sphinx import greet as _function

__all__ = ["greet"]


def greet(
    *,
    name: str,
    loud: bool = False,
) -> str:
    """Call the function."""
    return _function(
        name=name,
        loud=loud,
    )
