"""JSON text of JSON values, as the MCP SDK writes it and as people read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .code import Code

__all__ = ["compact", "pretty"]


def pretty(value: Any) -> Code:
    """Indented JSON with a final newline; keys stay in their order.

    Raises:
        ValueError: the text does not give the value back.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if json.loads(text) != value:
        raise ValueError("a value is not JSON: its text gives another one back")
    return Code(text + "\n")


def compact(value: Any) -> str:
    """JSON without spaces, byte for byte as the MCP SDK sends it; keys keep their order."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # The SDK spells numbers below 0.0001 otherwise than Python does.
    return _spelled(value) if "e-0" in text else text


def _spelled(value: Any) -> str:
    if isinstance(value, Mapping):
        members = (f"{_spelled(key)}:{_spelled(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_spelled(item) for item in value) + "]"
    if isinstance(value, float):
        mantissa, below, exponent = repr(value).partition("e-0")
        if exponent == "5":
            return format(Decimal(repr(value)), "f")
        return f"{mantissa}e-{exponent}" if below else mantissa
    return json.dumps(value, ensure_ascii=False)
