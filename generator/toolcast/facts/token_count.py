"""How many tokens a text is, estimated offline."""

from __future__ import annotations

import re

__all__ = ["estimated_tokens"]

# Common words are one token, long ones are two or three; the marks of JSON come in groups.
_PIECE = re.compile(
    r"[A-Za-z]{1,10}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,4}|[^\x00-\x7f]", re.ASCII
)


def estimated_tokens(text: str) -> int:
    """About as many tokens as models count for a text.

    A token is up to ten letters of a word, three digits, four marks that stand together, or
    one letter of another script. Measured on 801 tools of 31 public MCP servers as JSON
    against OpenAI's `o200k_base`: together 1 % above, nine of ten tools between 5 % below and
    9 % above, the furthest 12 % below and 15 % above; against `cl100k_base` 2 % higher. Other
    vendors do not publish what they count; expect some 20 % more there.
    """
    return len(_PIECE.findall(text))
