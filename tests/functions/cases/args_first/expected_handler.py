"""Handler that calls `shop.args_first:retrieve`."""

from __future__ import annotations

from shop.args_first import retrieve as _function

__all__ = ["retrieve"]


def retrieve(
    *,
    query: str,
    limit: int = 5,
) -> str:
    """Call the function."""
    return _function(
        query=query,
        limit=limit,
    )
