"""Calls `acme.classes:place_order`."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, validate_call
from pydantic_core import to_jsonable_python

from acme.classes import place_order as _function

__all__ = ["place_order"]

# Makes what the function takes of what is sent: enumerations, classes, paths.
_call: Any = validate_call(
    _function,
    config=ConfigDict(arbitrary_types_allowed=True),
)


def place_order(**arguments: object) -> Any:
    """Call it with what the caller sent: what was left out is not given."""
    return to_jsonable_python(_call(**arguments))
