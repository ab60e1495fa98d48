"""JSON text of JSON values, as the MCP SDK writes it and as people read it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from ..parsing.characters import is_plain
from ..parsing.exact_json import SpelledNumber
from .code import Code
from .python import WIDTH

_WORDS = {True: "true", False: "false", None: "null"}
_UNUSUAL = re.compile(r"[^ -~]")


def encode_json(value: Mapping[str, Any], opened: tuple[str, ...] = ()) -> Code:
    """An object as people read it, with a final newline; keys stay in their order.

    It has a member a line, and so has each of its members that `opened` names. Other
    objects and arrays stand on one line where they fit; else they have a member a line,
    too. Letters of every script stay readable, what cannot be seen becomes an escape.

    Raises:
        ValueError: the value is not JSON.
    """
    rows = []
    for key, item in value.items():
        lead = f"{_string(key)}: "
        room = 0 if key in opened else WIDTH - 2 - len(lead) - 1
        rows.append(lead + _shown(item, "\n  ", room))
    body = ",\n  ".join(rows)
    return Code(f"{{\n  {body}\n}}\n" if rows else "{}\n")


def _shown(value: Any, gap: str, room: int) -> str:
    """A value that has `room` columns; `gap` is a line break and its line's indent."""
    kind = value.__class__
    if kind is str:
        return _string(value)
    inner = gap + "  "
    within = WIDTH - len(inner)
    if kind is dict:
        rows = []
        for key, item in value.items():
            lead = f"{_string(key)}: "
            rows.append(lead + _shown(item, inner, within - len(lead)))
        opening, closing = "{", "}"
    elif kind is list or kind is tuple:
        rows = [_shown(item, inner, within) for item in value]
        opening, closing = "[", "]"
    else:
        return _scalar(value)
    flat = ", ".join(rows)
    if not rows or (len(flat) + 2 <= room and "\n" not in flat):
        return f"{opening}{flat}{closing}"
    return f"{opening}{inner}{f',{inner}'.join(rows)}{gap}{closing}"


def _scalar(value: Any) -> str:
    if value is True or value is False or value is None:
        return _WORDS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, SpelledNumber):
        return value.spelling
    if isinstance(value, float) and math.isfinite(value):
        return _number(value)
    if isinstance(value, str):
        return _string(str(value))
    if isinstance(value, Mapping):
        raise ValueError("a value is not JSON: a mapping of another kind than dict")
    raise ValueError(f"a value is not JSON: {type(value).__name__}")


def _number(value: float) -> str:
    """A number as the MCP SDK spells it, which below 0.0001 is not as Python does."""
    shown = float.__repr__(value)
    mantissa, small, exponent = shown.partition("e-0")
    if not small:
        return shown
    if exponent == "5":
        return format(Decimal(shown), "f")
    return f"{mantissa}e-{exponent}"


def _string(text: str) -> str:
    if text.__class__ is not str:
        raise ValueError("a value is not JSON: a key is not text")
    shown = encode_basestring(text)
    if shown.isascii() and shown.isprintable():
        return shown
    return _UNUSUAL.sub(_escape, shown)


def _escape(match: re.Match[str]) -> str:
    """A character that is not ASCII, or DEL, as it is where people can see it."""
    if is_plain(match[0]):
        return match[0]
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def encode_compact_json(value: Any) -> str:
    """JSON on one line without spaces; keys keep their order.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
