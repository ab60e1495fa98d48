"""Handler that calls `acme.classes:place_order`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from pydantic import ConfigDict, validate_call
from pydantic_core import to_jsonable_python

from acme.classes import place_order as _function

if TYPE_CHECKING:
    from generated.toy.tools.place_order import PlaceOrderArguments

__all__ = ["place_order"]

# Converts the arguments to the types of the function: enumerations, classes, paths.
_call: Any = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(_function)


def place_order(**arguments: Unpack[PlaceOrderArguments]) -> Any:
    """Call the function with the arguments that the caller sent."""
    return to_jsonable_python(_call(**arguments))
