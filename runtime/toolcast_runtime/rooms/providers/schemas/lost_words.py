"""What is lost of a schema, told in its description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST_CHARACTERS = 400
_MOST_OF_FIELDS = 4_000
"""Without its fields nobody can send an object."""
_UNTOLD = frozenset("title readOnly writeOnly $comment".split())
_WORDS = {"default": "default", "examples": "for example"}


def told(lost: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """What to add to a description, and the keywords that it tells.

    A keyword stands with its value as JSON, as Anthropic's and other SDKs put it:
    `(minimum: 1, maximum: 10)`. One whose value is long, or that tells a model nothing, is left
    out.
    """
    parts = {}
    for keyword, value in lost.items():
        if keyword not in _UNTOLD:
            part = _part(keyword, value)
            is_fields = keyword == "properties"
            most = _MOST_OF_FIELDS if is_fields else _MOST_CHARACTERS
            if part and len(part) <= most:
                parts[keyword] = part
    return (f"({', '.join(parts.values())})" if parts else ""), frozenset(parts)


def _part(keyword: str, value: Any) -> str:
    if keyword == "deprecated":
        return "deprecated" if value is True else ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if keyword == "examples" and isinstance(value, (list, tuple)):
        text = text[1:-1]
    return f"{_WORDS.get(keyword, keyword)}: {text}"


def added(description: Any, text: str) -> str:
    """A description and what is told besides."""
    return f"{description} {text}" if description else text
