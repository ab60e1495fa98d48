"""The line by which a generated file says that it is one, and what it was made from."""

from __future__ import annotations

import re

__all__ = ["source_of"]

_BEGIN = 2_000
_LINES = 5
# A comment of any language: what stands before the words is punctuation.
_COMMENT = re.compile(
    rb"[^\w\r\n]{0,8}(?:Code g|G)enerated by Toolcast from ([^\r\n]{1,500}?)\. DO NOT EDIT\."
)
_JSON = re.compile(
    rb'\s*\{\s*"generated":\s*"by Toolcast from ([^"\r\n]{1,500}?)\. DO NOT EDIT\."'
)


def source_of(data: bytes) -> str | None:
    """The spec, or the folder of specs, that signed bytes name; None without a signature.

    It stands where a format allows the first comment: in the first lines, or as the first
    key of JSON.
    """
    begin = data[:_BEGIN]
    found = _JSON.match(begin)
    for line in begin.split(b"\n")[:_LINES]:
        found = found or _COMMENT.match(line)
    return found[1].decode("utf-8", "replace") if found else None
