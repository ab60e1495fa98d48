"""YAML that every reader takes for the same values: one scalar, and front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcast_runtime.skills import front_matter as written

from .code import Code
from .json_text import compact

__all__ = ["front_matter", "scalar"]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*( [A-Za-z][A-Za-z0-9_-]*)*")
# What YAML takes for the end of a line, or does not allow to stand as it is.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_OTHER_MEANING = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
)


def scalar(text: str) -> Code:
    """The text as a plain scalar where no reader can mistake it, else in double quotes.

    Double quotes are JSON's, which YAML reads in the same way.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_MEANING:
        return Code(text)
    return Code(_ESCAPED.sub(lambda m: f"\\u{ord(m.group()):04x}", compact(text)))


def front_matter(values: Mapping[str, Any], signature: Code) -> Code:
    """What a SKILL.md begins with: its values between marks, below who made the file.

    Raises:
        NotEncoded: the signature is plain text.
    """
    return Code(written.front_matter(values, Code.escape(signature)))
