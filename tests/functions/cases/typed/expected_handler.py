"""Handler that calls `shop.typed:find_places`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from shop.typed import find_places as _function

if TYPE_CHECKING:
    from generated.toy.tools.find_places import FindPlacesArguments

__all__ = ["find_places"]


def find_places(**arguments: Unpack[FindPlacesArguments]) -> list[dict[str, str]]:
    """Call the function with the arguments that the caller sent."""
    return _function(**arguments)
