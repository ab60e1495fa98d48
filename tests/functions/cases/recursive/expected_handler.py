"""Handler that calls `shop.recursive:count_comments`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from pydantic import validate_call
from shop.recursive import count_comments as _function

if TYPE_CHECKING:
    from generated.toy.tools.count_comments import CountCommentsArguments

__all__ = ["count_comments"]

# Converts the arguments to the types of the function: enumerations, classes, paths.
_call: Callable[..., int] = validate_call(_function)


def count_comments(**arguments: Unpack[CountCommentsArguments]) -> int:
    """Call the function with the arguments that the caller sent."""
    return _call(**arguments)
