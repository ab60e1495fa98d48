"""Texts as Python's values: dates, times, durations and UUIDs by `format`, bytes by an encoding.

Base16, 32 and 64 of RFC 4648, which JSON Schema Validation 2020-12, section 8.3, has for
`contentEncoding` beside what RFC 2045 has: base64 with line breaks, and quoted-printable. Two
formats of OpenAPI name base64, too.
"""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from ...core.validation.compiled import ASSERTED

_URL_LETTERS = str.maketrans("-_", "+/")
# What may not stand in a text by RFC 2045, section 6.7.
_NOT_QUOTED = re.compile(r"[^\t\r\n -~]|=(?![0-9A-Fa-f]{2}|\r?\n)|\r(?!\n)")


class Encoding(NamedTuple):
    """How bytes are a text.

    Attributes:
        name: it, as the end of `must be`.
        decode: raises ValueError for a text that is not of it.
        encode: the text of bytes.
    """

    name: str
    decode: Callable[[str], bytes]
    encode: Callable[[bytes], str]


def _base64(text: str) -> bytes:
    return _padded(text.replace("\r", "").replace("\n", ""))


def _base64url(text: str) -> bytes:
    """With or without its padding, which most writers leave out."""
    if "+" in text or "/" in text:
        raise ValueError
    if "=" not in text:
        text += "=" * (-len(text) % 4)
    return _padded(text.translate(_URL_LETTERS))


def _padded(text: str) -> bytes:
    # Python's own strictness lets padding follow what needs none.
    if len(text) % 4 or text.endswith("==="):
        raise ValueError
    return binascii.a2b_base64(text, strict_mode=True)


def _unquoted(text: str) -> bytes:
    if _NOT_QUOTED.search(text):
        raise ValueError
    return binascii.a2b_qp(text)


def _quoted(value: bytes) -> str:
    # Which line break it takes for its own depends on the first one in the value.
    lines = binascii.b2a_qp(value, istext=False).decode("ascii")
    return lines.replace("\r", "").replace("\n", "\r\n")


def _said_by(encode: Callable[[bytes], bytes]) -> Callable[[bytes], str]:
    return lambda value: encode(value).decode("ascii")


ENCODINGS: Mapping[str, Encoding] = {
    "base64": Encoding("base64", _base64, _said_by(base64.b64encode)),
    "base64url": Encoding("base64url", _base64url, _said_by(base64.urlsafe_b64encode)),
    "base32": Encoding(
        "base32",
        lambda text: base64.b32decode(text, casefold=True),
        _said_by(base64.b32encode),
    ),
    "base32hex": Encoding(
        "base32hex",
        lambda text: base64.b32hexdecode(text, casefold=True),
        _said_by(base64.b32hexencode),
    ),
    "base16": Encoding(
        "base16",
        lambda text: base64.b16decode(text, casefold=True),
        _said_by(base64.b16encode),
    ),
    "quoted-printable": Encoding("quoted-printable", _unquoted, _quoted),
}
"""Those that bytes become, by the names of `contentEncoding`."""

# `binary` is raw octets, which JSON has no text for.
_FORMATS = {"byte": "base64", "base64": "base64", "base64url": "base64url"}


def encoding_of(schema: Mapping[str, Any]) -> Encoding | None:
    """How a schema's texts are bytes; None where they are not."""
    name = schema.get("contentEncoding")
    if isinstance(name, str) and name in ENCODINGS:
        return ENCODINGS[name]
    format_ = schema.get("format")
    named = _FORMATS.get(format_) if isinstance(format_, str) else None
    return None if named is None else ENCODINGS[named]


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
