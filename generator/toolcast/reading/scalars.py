"""What a plain (unquoted) YAML scalar means: JSON's words and numbers, else text.

Words that YAML 1.1 and YAML 1.2 read differently are refused, so that a spec means the
same to every tool that reads it.
"""

from __future__ import annotations

import math
import re

__all__ = ["AmbiguousScalar", "resolve_plain"]

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_WORDS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
}
_BOOLEANS = frozenset(["yes", "no", "on", "off"])
_LONGEST_BOOLEAN = 3
# With one of these begins whatever is a number or looks like something else than text.
_STARTS = frozenset("+-.0123456789=<")
_AMBIGUOUS = (
    (re.compile(r"[-+]?0[0-9_]+"), "an octal number"),
    (re.compile(r"[-+]?0o[0-7]+"), "an octal number"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+"), "a hexadecimal number"),
    (re.compile(r"[-+]?0b[01_]+"), "a binary number"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a base-60 number"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"), "a date"),
    (
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:.*"),
        "a time stamp",
    ),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), "not a JSON number"),
    (re.compile(r"\+[0-9][0-9_]*(\.[0-9]*)?"), "a number with a sign"),
    (
        re.compile(
            r"[-+]?(?=.*_)(?=.*[0-9])([0-9][0-9_]*)?(\.[0-9_]*)?([eE][-+][0-9]+)?"
        ),
        "a number with separators",
    ),
    (re.compile(r"[-+]?0[0-9]+\.[0-9]*([eE][-+][0-9]+)?"), "a number"),
    (re.compile(r"[-+]?[0-9]*\.?[0-9]*[eE][-+]?[0-9]+"), "a number"),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.)([eE][-+]?[0-9]+)?"), "a number"),
    (re.compile(r"=|<<"), "a YAML 1.1 special"),
)
_MAX_DIGITS = 400


class AmbiguousScalar(ValueError):
    """A plain scalar that YAML readers disagree about, or that JSON cannot carry."""


def resolve_plain(text: str) -> str | int | float | bool | None:
    """The JSON value of a plain scalar.

    Raises:
        AmbiguousScalar: with one sentence that says what the word looks like.
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_BOOLEAN and text.lower() in _BOOLEANS:
        raise AmbiguousScalar(f"`{text}` is a boolean to some YAML readers")
    if text[0] not in _STARTS:
        return text
    if _INTEGER.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise AmbiguousScalar(f"a number of {len(text)} digits is out of range")
        return int(text)
    if _DECIMAL.fullmatch(text):
        return _decimal(text)
    for pattern, looks_like in _AMBIGUOUS:
        if pattern.fullmatch(text):
            raise AmbiguousScalar(f"`{text[:40]}` is {looks_like} to some YAML readers")
    return text


def _decimal(text: str) -> float:
    from decimal import Decimal

    if len(text) > _MAX_DIGITS:
        raise AmbiguousScalar(f"a number of {len(text)} characters is out of range")
    number = float(text)
    if not math.isfinite(number):
        raise AmbiguousScalar(f"`{text[:40]}` is out of the range of JSON numbers")
    if Decimal(text) != Decimal(repr(number)):
        raise AmbiguousScalar(f"`{text[:40]}` has more digits than JSON readers keep")
    return number
