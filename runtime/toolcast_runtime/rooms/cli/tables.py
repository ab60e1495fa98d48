"""JSON values as a person reads them: records as tables, the rest as lines."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.calls.untrusted_text import escaped

WIDTH = 80
_GAP = "  "
_LEAST = 8
_MOST_LINES = 4
_DEEPEST = 8


def safe_lines(text: str) -> Iterator[str]:
    """The lines of a text, in which nothing can drive a terminal."""
    for line in text.split("\n"):
        parts = line.removesuffix("\r").split("\t")
        # A backslash stays one: people read paths and patterns.
        yield "    ".join(_plain(part) for part in parts)


def _plain(text: str) -> str:
    return "\\".join(escaped(part, len(part)) for part in text.split("\\"))


def lines_of(value: Any, width: int = WIDTH, depth: int = 0) -> list[str]:
    """A JSON value as lines; those of a table are no wider than `width`."""
    if depth == _DEEPEST:
        return [_plain(_compact(value))]
    if isinstance(value, str):
        return list(safe_lines(value))
    if isinstance(value, Mapping):
        return list(_fields(value, width, depth)) or ["{}"]
    if not isinstance(value, list):
        return [_compact(value)]
    if not value:
        return ["(none)"]
    if all(isinstance(item, Mapping) and item for item in value):
        return _records(value, width, depth)
    return [line for item in value for line in _item(item, width, depth)]


def _item(item: Any, width: int, depth: int) -> Iterator[str]:
    first, *rest = lines_of(item, width - 2, depth + 1)
    yield f"- {first}"
    yield from (f"  {line}" for line in rest)


def _fields(value: Mapping[str, Any], width: int, depth: int) -> Iterator[str]:
    for key, field in value.items():
        name = _plain(key)
        below = lines_of(field, width - 2, depth + 1)
        is_plain = not isinstance(field, (list, Mapping)) or not field
        if field and _is_flat(field):
            joined = _plain(_cell(field))
            below = [joined] if _width(joined) + _width(name) + 2 <= width else below
            is_plain = len(below) == 1
        if is_plain and len(below) == 1:
            yield f"{name}: {below[0]}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in below)


def _records(rows: Sequence[Mapping[str, Any]], width: int, depth: int) -> list[str]:
    """The rows as a table; below each other where one would be too wide or too tall."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_plain(_cell(row.get(key, ""))) for key in columns] for row in rows]
    heads = [_plain(key) for key in columns]
    table = _table([heads, *cells], width)
    if table is not None:
        return table
    shown: list[str] = []
    for row in rows:
        shown += ["", *_fields(row, width, depth + 1)] if shown else []
        shown = shown or list(_fields(row, width, depth + 1))
    return shown


def _table(rows: Sequence[Sequence[str]], width: int) -> list[str] | None:
    natural = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    widths = _shared(natural, width - len(_GAP) * (len(natural) - 1))
    if widths is None:
        return None
    lines: list[str] = []
    for number, row in enumerate(rows):
        wrapped = [_wrap(cell, most) for cell, most in zip(row, widths, strict=True)]
        tallest = max(map(len, wrapped))
        if tallest > _MOST_LINES:
            return None
        for index in range(tallest):
            parts = [cell[index] if index < len(cell) else "" for cell in wrapped]
            padded = [
                part + " " * (most - _width(part))
                for part, most in zip(parts, widths, strict=True)
            ]
            lines.append(_GAP.join(padded).rstrip())
        if number == 0:
            lines.append(_GAP.join("-" * most for most in widths))
    return lines


def _shared(natural: Sequence[int], room: int) -> list[int] | None:
    """The widths of columns: the widest give way; None when they would be too narrow."""
    widths = [max(1, one) for one in natural]
    while sum(widths) > room:
        widest = max(widths)
        if widest <= _LEAST:
            return None
        # All of the widest together, down to the next, or as far as is needed.
        at = [index for index, one in enumerate(widths) if one == widest]
        following = max((one for one in widths if one < widest), default=0)
        over = sum(widths) - room
        target = max(following, _LEAST, widest - -(-over // len(at)))
        for index in at:
            widths[index] = target
    return widths


def _wrap(text: str, most: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        room = most - _width(lines[-1]) - bool(lines[-1])
        if _width(word) <= room:
            lines[-1] += f" {word}" if lines[-1] else word
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if _width(lines[-1] + character) > most:
                lines.append("")
            lines[-1] += character
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if value and _is_flat(value):
        return ", ".join(map(_cell, value))
    return "" if value is None else _compact(value)


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(i, (str, int)) for i in value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
