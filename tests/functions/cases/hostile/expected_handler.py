"""Handler that calls `shop.hostile:attack`."""

from __future__ import annotations

from shop.hostile import attack as _function

__all__ = ["attack"]


def attack(
    *,
    text: str = "'; DROP TABLE x; --\n# {{ 7 * 7 }}",
    number: float = -1.5e300,
) -> str:
    """Call the function."""
    return _function(
        text=text,
        number=number,
    )
