"""Bytes as texts, by `contentEncoding` or by a format of OpenAPI.

Base16, 32 and 64 of RFC 4648, which JSON Schema Validation 2020-12, section 8.3, has beside
what RFC 2045 has: base64 with line breaks, and quoted-printable.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

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
