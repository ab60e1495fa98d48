"""Handler that calls `shop.values:book`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from pydantic_core import to_jsonable_python

from shop.values import book as _function

if TYPE_CHECKING:
    from generated.toy.tools.book import BookHandlerArguments

__all__ = ["book"]


def book(**arguments: Unpack[BookHandlerArguments]) -> object:
    """Call the function with the arguments that the caller sent."""
    return to_jsonable_python(_function(**arguments))
