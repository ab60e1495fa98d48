"""HTML: text of an element or of a quoted attribute."""

from __future__ import annotations

import html
import re

from .code import Code

__all__ = ["text"]

# Source: HTML Living Standard, 13.1.4: text may hold no control but white space, and a
# carriage return would come back as a newline.
_REFUSED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def text(plain: str) -> Code:
    """The text with its five special characters as references.

    Good between tags and between double or single quotes, nowhere else. A parser gives the
    text back exactly.

    Raises:
        ValueError: the text has a character that HTML cannot hold.
    """
    refused = _REFUSED.search(plain)
    if refused:
        raise ValueError(f"HTML cannot hold U+{ord(refused.group()):04X}")
    return Code(html.escape(plain, quote=True))
