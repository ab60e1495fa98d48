"""Texts of a format as Python's values: dates, times, durations, UUIDs and bytes."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from ...core.validation.compiled import ASSERTED
from .encodings import encoding_of

_DURATION = re.compile(
    r"P(?:(\d+)W|(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)", re.ASCII
)
_MOST_DIGITS = 12


class Conversion(NamedTuple):
    """How a text becomes a value.

    Attributes:
        convert: raises ValueError or OverflowError for what Python cannot hold.
        wanted: what it takes, as the end of `must be`.
        type: the name of the value's type.
    """

    convert: Callable[[str], Any]
    wanted: str
    type: str


def _duration(text: str) -> timedelta:
    """A duration of fixed length: years and months have none."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError
    parts = [part or "0" for part in found.groups()]
    if any(len(part) > _MOST_DIGITS for part in parts):
        raise OverflowError
    weeks, days, hours, minutes, seconds = map(int, parts)
    return timedelta(days, seconds, 0, 0, minutes, hours, weeks)


def _upper(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """RFC 3339 has `T` and `Z` in either case."""
    return lambda text: parse(text.upper())


_LIMITS = "of the years 1 to 9999, without a leap second"
_CONVERSIONS: Mapping[str, tuple[Callable[[str], Any], str, str]] = {
    "date": (date.fromisoformat, " of the years 1 to 9999", "date"),
    "date-time": (_upper(datetime.fromisoformat), f" {_LIMITS}", "datetime"),
    "time": (_upper(time.fromisoformat), " without a leap second", "time"),
    "duration": (_duration, " without years and months", "timedelta"),
    "uuid": (uuid.UUID, "", "UUID"),
}


def conversion_of(schema: Mapping[str, Any]) -> Conversion | None:
    """How a schema's texts become values; None where they stay texts."""
    encoding = encoding_of(schema)
    if encoding is not None:
        return Conversion(encoding.decode, encoding.name, "bytes")
    name = schema.get("format")
    if isinstance(name, str) and name in _CONVERSIONS:
        convert, limits, type_ = _CONVERSIONS[name]
        what, example = ASSERTED[name]
        return Conversion(
            convert, f'{what}{limits} (`format: {name}`), such as "{example}"', type_
        )
    return None
