"""What to write instead of a value that is nearly the one that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..reading.yaml_reader import AmbiguousScalar, resolve_plain

__all__ = ["handler_meant", "help_with_kind"]

_LONGEST = 200
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\.([A-Za-z_]\w*)", re.ASCII)


def help_with_kind(wanted: Iterable[str], value: Any) -> str:
    """What to do about a plain value of a wrong kind; "" where that is not known.

    Args:
        wanted: the types that it could have, as JSON Schema names them.
        value: what stands there.
    """
    kinds = frozenset(wanted)
    if isinstance(value, (bool, int, float)):
        if "string" in kinds:
            return "quote it"
    elif isinstance(value, str) and len(value) <= _LONGEST:
        if _is_one(_plain(value), kinds):
            return f"write `{value}` without quotation marks"
        if "array" in kinds and value.isprintable():
            return f"write a list: `[{value}]`"
    return ""


def handler_meant(value: Any) -> str:
    """`module:function` for a text that has a dot where the colon belongs; else ""."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return ""
    parts = _DOTTED.fullmatch(value)
    if parts is None or parts[2] == "py":
        return ""
    return f"did you mean `{parts[1]}:{parts[2]}`?"


def _plain(text: str) -> Any:
    try:
        return resolve_plain(text)
    except AmbiguousScalar:
        return text


def _is_one(value: Any, kinds: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int):
        return bool(kinds & {"integer", "number"})
    return isinstance(value, float) and "number" in kinds
