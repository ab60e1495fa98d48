"""Handler that calls `shop.field_alias:annotate`."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import validate_call
from shop.field_alias import annotate as _function

__all__ = ["annotate"]

# Converts the arguments to the types of the function: enumerations, classes, paths.
_call: Callable[..., str] = validate_call(_function)


def annotate(**arguments: object) -> str:
    """Call the function with the arguments that the caller sent."""
    return _call(**arguments)
