"""JSON text of JSON values, as the MCP SDK writes it and as people read it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from .code import Code

__all__ = ["compact", "indented", "pretty"]

_WORDS = {True: "true", False: "false", None: "null"}


def pretty(value: Any) -> Code:
    """Indented JSON with a final newline; keys stay in their order.

    Raises:
        ValueError: the text does not give the value back.
    """
    return Code(indented(value) + "\n")


def indented(value: Any, columns: int = 0) -> str:
    """The same without the newline, for a line that is itself indented by columns.

    Raises:
        ValueError: the text does not give the value back.
    """
    return _indented(value, "\n" + " " * columns)


def _indented(value: Any, gap: str) -> str:
    """What `json.dumps` makes of a value with an indent of two, in a fraction of the time.

    Its encoder in C cannot indent, and the one in Python is made of generators.
    """
    kind = value.__class__
    if kind is str:
        return encode_basestring(value)
    inner = gap + "  "
    if kind is dict:
        rows = []
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError("a value is not JSON: a key is not text")
            if item.__class__ is str:
                rows.append(f"{encode_basestring(key)}: {encode_basestring(item)}")
            else:
                rows.append(f"{encode_basestring(key)}: {_indented(item, inner)}")
        return f"{{{inner}{f',{inner}'.join(rows)}{gap}}}" if rows else "{}"
    if kind is list:
        rows = [_indented(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(rows)}{gap}]" if rows else "[]"
    if value is True or value is False or value is None:
        return _WORDS[value]
    if kind is int:
        return int.__repr__(value)
    if kind is float and math.isfinite(value):
        return float.__repr__(value)
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if json.loads(text) != value:
        raise ValueError("a value is not JSON: its text gives another one back")
    return text.replace("\n", gap)


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
            from decimal import Decimal

            return format(Decimal(repr(value)), "f")
        return f"{mantissa}e-{exponent}" if below else mantissa
    return json.dumps(value, ensure_ascii=False)
