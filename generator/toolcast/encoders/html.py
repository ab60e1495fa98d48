"""HTML documents: text of specs between tags and in scripts, and what lets scripts through."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import Any

from .code import Code
from .json_text import compact

__all__ = ["document", "element_text", "script_json", "source_hash"]

# What could end the element, begin a comment in it, or end a line for JavaScript.
_UNSAFE = re.compile(r"[<>&\u2028\u2029]")


def element_text(text: str) -> Code:
    """A text between tags or in a quoted attribute."""
    return Code(html.escape(text, quote=True))


def script_json(value: Any) -> Code:
    """A JSON value in `<script type="application/json">`, read with `JSON.parse`.

    No text of it can end the element: HTML, "Restrictions for contents of script elements".

    Raises:
        ValueError: a number is not finite.
    """
    text = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", compact(value))
    return Code(text)


def source_hash(source: str) -> str:
    """What lets one inline script or style sheet through: CSP level 3, `hash-source`."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def document(picture: str, **parts: Code | str) -> str:
    """A document with a part in the place of each `{{name}}`.

    Args:
        picture: a document of our own with such places.
        parts: what no encoder made is the text of our own shipped files.
    """
    pieces = re.split(r"\{\{(\w+)\}\}", picture)
    pieces[1::2] = [str(parts[name]) for name in pieces[1::2]]
    return "".join(pieces)
