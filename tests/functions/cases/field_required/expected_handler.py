"""Handler that calls `shop.field_required:age`."""

from __future__ import annotations

from shop.field_required import age as _function

__all__ = ["age"]


def age(
    *,
    years: int,
) -> str:
    """Call the function."""
    return _function(
        years=years,
    )
