"""Values of specs within a report, on a line."""

from __future__ import annotations

import json
from typing import Any

from ..changes.change import ABSENT

__all__ = ["differing", "one_line"]

_AROUND = 24


def one_line(value: Any, most: int) -> str:
    """A value as JSON, cut in its middle where it is longer than `most` characters."""
    return _cut(json.dumps(value, ensure_ascii=False), most)


def differing(before: Any, after: Any, most: int) -> tuple[str, str]:
    """Two values as JSON, empty for ABSENT.

    Of two long texts what they have in common at their ends is cut.
    """
    texts = [
        "" if value is ABSENT else json.dumps(value, ensure_ascii=False)
        for value in (before, after)
    ]
    if all(texts) and max(map(len, texts)) > most:
        texts = list(_without_common(*texts))
    return _cut(texts[0], most), _cut(texts[1], most)


def _without_common(one: str, other: str) -> tuple[str, str]:
    shortest = min(len(one), len(other))
    head = next((i for i in range(shortest) if one[i] != other[i]), shortest)
    rest = shortest - head
    tail = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return _window(one, head, tail), _window(other, head, tail)


def _window(text: str, head: int, tail: int) -> str:
    """The text from a little before what differs to a little behind it, in whole words."""
    start, end = max(0, head - _AROUND), len(text) - max(0, tail - _AROUND)
    if start:
        start = text.find(" ", start, head) + 1 or start
    if end < len(text):
        behind = text.rfind(" ", len(text) - tail, end)
        end = behind if behind > 0 else end
    return (
        f"{'... ' if start else ''}{text[start:end]}{' ...' if end < len(text) else ''}"
    )


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"
