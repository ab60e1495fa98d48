"""Handler that calls `shop.fields:find_items`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from pydantic import validate_call
from shop.fields import find_items as _function

if TYPE_CHECKING:
    from generated.toy.tools.find_items import FindItemsArguments

__all__ = ["find_items"]

# Converts the arguments to the types of the function: enumerations, classes, paths.
_call: Callable[..., list[str]] = validate_call(_function)


def find_items(**arguments: Unpack[FindItemsArguments]) -> list[str]:
    """Call the function with the arguments that the caller sent."""
    return _call(**arguments)
