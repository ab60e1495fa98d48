"""Encode JSON values as text: pretty-printed, or compact on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from ..parsing.characters import is_printable
from ..parsing.exact_json import SpelledNumber
from .code import Code
from .python import WIDTH

_CONSTANTS = {True: "true", False: "false", None: "null"}
_NON_ASCII = re.compile(r"[^ -~]")


def encode_json(value: Mapping[str, Any], expanded: tuple[str, ...] = ()) -> Code:
    """Encode an object as pretty-printed JSON with a final newline.

    Keys keep their order. The object itself and the members named in `expanded` have one
    member per line. All other objects and arrays are on one line if they fit into 88 columns,
    or else have one member per line. Printable Unicode characters are not escaped.

    Raises:
        ValueError: the value is not JSON.
    """
    rows = []
    for key, item in value.items():
        lead = f"{_encode_string(key)}: "
        # A width of 0 forces one member per line. The line also has an indent of two
        # columns and a comma.
        width = 0 if key in expanded else WIDTH - 2 - len(lead) - 1
        rows.append(lead + _encode_value(item, "\n  ", width))
    body = ",\n  ".join(rows)
    return Code(f"{{\n  {body}\n}}\n" if rows else "{}\n")


def _encode_value(value: Any, line_start: str, width: int) -> str:
    """Encode a value that may use `width` columns of the current line.

    `line_start` is a newline and the indent of the value's line.
    """
    value_class = value.__class__
    if value_class is str:
        return _encode_string(value)
    member_start = line_start + "  "
    member_width = WIDTH - len(member_start)
    if value_class is dict:
        rows = []
        for key, item in value.items():
            lead = f"{_encode_string(key)}: "
            rows.append(
                lead + _encode_value(item, member_start, member_width - len(lead))
            )
        opening, closing = "{", "}"
    elif value_class is list or value_class is tuple:
        rows = [_encode_value(item, member_start, member_width) for item in value]
        opening, closing = "[", "]"
    else:
        return _encode_scalar(value)
    flat = ", ".join(rows)
    # A member that spans several lines cannot be on one line with its siblings.
    if not rows or (len(flat) + 2 <= width and "\n" not in flat):
        return f"{opening}{flat}{closing}"
    body = f",{member_start}".join(rows)
    return f"{opening}{member_start}{body}{line_start}{closing}"


def _encode_scalar(value: Any) -> str:
    if value is True or value is False or value is None:
        return _CONSTANTS[value]
    # Enum members and other subclasses of `int` and `float` can override `__repr__`.
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, SpelledNumber):
        return value.spelling
    if isinstance(value, float) and math.isfinite(value):
        return _encode_number(value)
    if isinstance(value, str):
        return _encode_string(str(value))
    if isinstance(value, Mapping):
        raise ValueError("not a JSON value: a Mapping whose class is not dict")
    raise ValueError(f"not a JSON value: {type(value).__name__}")


def _encode_number(value: float) -> str:
    """Encode a float as the MCP SDK does, which differs from Python below 0.0001.

    `1e-05` becomes `0.00001`, and `1e-07` becomes `1e-7`.
    """
    text = float.__repr__(value)
    mantissa, small, exponent = text.partition("e-0")
    if not small:
        return text
    if exponent == "5":
        return format(Decimal(text), "f")
    return f"{mantissa}e-{exponent}"


def _encode_string(text: str) -> str:
    if text.__class__ is not str:
        raise ValueError("not a JSON value: an object key is not a string")
    encoded = encode_basestring(text)
    if encoded.isascii() and encoded.isprintable():
        return encoded
    return _NON_ASCII.sub(_escape, encoded)


def _escape(match: re.Match[str]) -> str:
    """Escape a DEL or a non-ASCII character; visible characters are returned unchanged."""
    if is_printable(match[0]):
        return match[0]
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def encode_compact_json(value: Any) -> str:
    """Encode a JSON value on one line without spaces; keys keep their order.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
