"""YAML: one scalar that every YAML reader takes for the text that it is."""

from __future__ import annotations

import re

from .code import Code
from .json_text import compact

__all__ = ["scalar"]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*( [A-Za-z][A-Za-z0-9_-]*)*")
_OTHER_MEANING = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
)


def scalar(text: str) -> Code:
    """The text as a plain scalar where no reader can mistake it, else in double quotes.

    Double quotes are JSON's, which YAML reads in the same way.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_MEANING:
        return Code(text)
    return Code(compact(text))
