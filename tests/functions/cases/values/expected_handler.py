"""Calls `shop.values:book`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from pydantic_core import to_jsonable_python

from shop.values import book as _function

if TYPE_CHECKING:
    from generated.toy.tools.book import BookGiven

__all__ = ["book"]


def book(**arguments: Unpack[BookGiven]) -> object:
    """Call it with what the caller sent: what was left out is not given."""
    return to_jsonable_python(_function(**arguments))
