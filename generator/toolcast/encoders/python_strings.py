"""Texts as Python string literals, on one line or in pieces below each other."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..reading.characters import is_plain
from .layout import WIDTH, text_width

__all__ = ["broken", "string"]

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNUSUAL = re.compile(r"[^ -~]")


def string(text: str) -> str:
    """A Python string literal of any text, in the quotes that black prefers.

    Letters of every script stay readable; control, invisible and unassigned characters
    become escapes. `ast.literal_eval` gives the text back exactly.
    """
    if text.isascii() and '"' not in text and "\\" not in text and text.isprintable():
        return f'"{text}"'
    quote = '"' if text.count('"') <= text.count("'") else "'"
    return quote + _escaped(text).replace(quote, "\\" + quote) + quote


def _escaped(text: str) -> str:
    """The text with everything escaped but quotes."""
    text = text.replace("\\", "\\\\")
    if text.isascii() and text.isprintable():
        return text
    return _UNUSUAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    if is_plain(char):
        return char
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def broken(text: str, shown: str, indent: int, before: int, after: int) -> str:
    """A text whose literal is `shown`, in pieces where the line is too short for it."""
    width = text_width(shown)
    if before + width + after <= WIDTH:
        return shown
    inner = indent + 4
    room = WIDTH - inner
    if width <= room:
        pieces = [shown]
    else:
        pieces = _pieces(text, room)
        if len(pieces) == 1:
            return shown
    gap = "\n" + " " * inner
    return f"({gap}{gap.join(pieces)}\n{' ' * indent})"


def _pieces(text: str, room: int) -> list[str]:
    """Literals that join to the text, broken after newlines and spaces to fit the room."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        start = end = width = double = single = 0
        for word in _words(line):
            double += word.count('"')
            single += word.count("'")
            width += text_width(_escaped(word))
            if start < end and width + min(double, single) + 2 > room:
                pieces.append(string(line[start:end]))
                start = end
                double, single = word.count('"'), word.count("'")
                width = text_width(_escaped(word))
            end += len(word)
        pieces.append(string(line[start:]))
    return pieces


def _words(line: str) -> Iterable[str]:
    """The words of a line, each with the spaces after it."""
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]
