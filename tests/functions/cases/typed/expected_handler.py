"""Calls `shop.typed:find_places`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from shop.typed import find_places as _function

if TYPE_CHECKING:
    from generated.toy.tools.find_places import FindPlacesArguments

__all__ = ["find_places"]


def find_places(**arguments: Unpack[FindPlacesArguments]) -> list[dict[str, str]]:
    """Call it with what the caller sent: what was left out is not given."""
    return _function(**arguments)
