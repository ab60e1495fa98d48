"""Handler that calls `shop.google:search_orders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from shop.google import search_orders as _function

if TYPE_CHECKING:
    from generated.toy.tools.search_orders import SearchOrdersArguments

__all__ = ["search_orders"]


def search_orders(**arguments: Unpack[SearchOrdersArguments]) -> list[dict[str, str]]:
    """Call the function with the arguments that the caller sent."""
    return _function(**arguments)
