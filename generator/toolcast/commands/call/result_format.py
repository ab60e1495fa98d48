"""The answer to a call as a person wants to read it: records as tables, the rest as lines.

Nothing that was answered can drive the terminal. Images, sounds and files become files, none of
which was there before. Needs `click`.
"""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from toolcast_runtime.cli.terminal import echo, encoded_of, held_by
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.safe_folder import Folder

_WIDTH = 80
_GAP = "  "
_MIN_COLUMN_WIDTH = 8
"""Width in characters below which no table column is narrowed."""
_MAX_CELL_LINES = 4
"""Lines of a table cell; with more, the value is not printed as a table."""
_MAX_DEPTH = 8
"""Levels of a value that are printed as an outline; deeper values are compact JSON."""
_MAX_JSON_LEVELS = 64
"""Levels of JSON text that are parsed for printing; deeper text is printed as it is."""
_MAX_FILE_STEM_CHARACTERS = 64
"""Characters of the tool name in the name of a saved file."""
_ESCAPE = json.JSONEncoder(ensure_ascii=True)
# Without the tables of the system, which differ.
_TYPES = mimetypes.MimeTypes(filenames=())
# Which the module does not know in every version of Python.
for _kind, _ending in (("audio/wav", ".wav"), ("image/webp", ".webp")):
    _TYPES.add_type(_kind, _ending)


class _InvalidBase64Error(ValueError):
    """Content block without data, or with data that is not valid base64."""


def print_call_result(answer: Mapping[str, Any], tool: str, folder: str) -> bool:
    """Prints a CallToolResult: to stdout what it holds, to stderr what went wrong.

    A structured result is shown instead of the text that repeats it; what a text says besides
    goes to stderr. Images, sounds and files are written to the folder, and named.

    Returns:
        whether the call succeeded, and everything could be written.
    """
    blocks = [one for one in answer.get("content") or () if isinstance(one, Mapping)]
    if answer.get("isError"):
        told = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
        _say("error: " + ("\n".join(told) or "the tool failed"), err=True)
        for one in blocks:
            if not isinstance(one.get("text"), str):
                _print_block(one, tool, folder)
        return False
    texts = [one for one in blocks if one.get("type") == "text"]
    value = answer.get("structuredContent")
    if value is not None:
        values = [_unwrapped(value, texts)]
    else:
        values = [_parsed(str(one.get("text", ""))) for one in texts]
    for each in values:
        for line in _lines(each):
            echo(line)
    if value is not None:
        for text in _beside(value, values[0], texts):
            _say(text, err=True)
    is_whole = True
    for one in blocks:
        if one.get("type") != "text":
            is_whole &= _print_block(one, tool, folder)
    if value is None and not blocks:
        _say("the tool answered nothing", err=True)
    return is_whole


def format_raw_json(answer: Mapping[str, Any]) -> str:
    """The answer as JSON, in which nothing can drive a terminal; the value is the same."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    return "".join(
        one if one.isprintable() or one == "\n" else _ESCAPE.encode(one)[1:-1]
        for one in text
    )


def _print_block(block: Mapping[str, Any], tool: str, folder: str) -> bool:
    kind, held = escape_excerpt(str(block.get("type"))), held_by(block)
    if kind == "resource_link":
        name = block.get("title") or block.get("name")
        _say(
            f"{escape_excerpt(str(name))}: {escape_excerpt(str(block.get('uri')), 2000)}"
        )
        return True
    if kind == "resource" and "text" in held:
        _say(f"{escape_excerpt(str(held.get('uri')), 2000)}:\n{held['text']}")
        return True
    try:
        name, size = _save(block, tool, folder)
    except _InvalidBase64Error as why:
        _say(f"error: its {kind} {why}", err=True)
        return False
    except OSError as error:
        _say(f"error: its {kind} is not saved: {error.strerror}", err=True)
        return False
    type_ = held.get("mimeType") or kind
    where = os.path.join(folder, name) if folder != os.curdir else name
    _say(f"saved {where} ({escape_excerpt(str(type_))}, {size:,} bytes)")
    return True


def _save(block: Mapping[str, Any], tool: str, folder: str) -> tuple[str, int]:
    """Writes an image, sound or file to a new file of the folder, named by the tool.

    No word of the answer becomes part of a name: only its type chooses the ending.

    Gives:
        the file's name, and its size.

    Raises:
        _InvalidBase64Error: there are none, or they are no base64.
        OSError: the file cannot be written.
    """
    text = encoded_of(block)
    if not isinstance(text, str):
        raise _InvalidBase64Error("holds no data")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _InvalidBase64Error("is not base64") from None
    kind = str(held_by(block).get("mimeType", "")).partition(";")[0].strip()
    ending = _TYPES.guess_extension(kind) or ".bin"
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:_MAX_FILE_STEM_CHARACTERS]
    with Folder.open_path(folder) as opened:
        for number in count(1):
            name = f"{stem}-{number}{ending}"
            try:
                opened.write(name, data, is_new=True)
            except FileExistsError:
                continue
            return name, len(data)
    raise AssertionError


def _unwrapped(value: Any, texts: list[Mapping[str, Any]]) -> Any:
    """What a server wrapped because the protocol asks for objects."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(name, inner)] = value.items()
    is_repeated = [inner] == [one.get("text") for one in texts]
    return inner if name == "result" or is_repeated else value


def _beside(value: Any, shown: Any, texts: list[Mapping[str, Any]]) -> Iterator[str]:
    """The texts that repeat neither a value, nor what is shown of it, nor an item each."""
    each = [shown] * len(texts)
    if isinstance(shown, list) and len(shown) == len(texts):
        each = shown
    for block, item in zip(texts, each, strict=True):
        text = str(block.get("text", ""))
        is_plain = not isinstance(item, (Mapping, list))
        spelled = (item, json.dumps(item, ensure_ascii=False)) if is_plain else ()
        if _parsed(text) not in (value, shown, item) and text not in spelled:
            yield text


def _parsed(text: str) -> Any:
    """The object or list of a text that is JSON; else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if _levels(value) < _MAX_JSON_LEVELS else text


def _levels(value: Any) -> int:
    deepest = 0
    level: list[Any] = [value]
    while level and deepest < _MAX_JSON_LEVELS:
        deepest += 1
        lists = [one for one in level if isinstance(one, list)]
        lists += [list(one.values()) for one in level if isinstance(one, dict)]
        level = [item for one in lists for item in one]
    return deepest


def _say(text: str, *, err: bool = False) -> None:
    for line in _safe_lines(text):
        echo(line, err=err)


def _safe_lines(text: str) -> Iterator[str]:
    """The lines of a text, in which nothing can drive a terminal."""
    for line in text.split("\n"):
        parts = line.removesuffix("\r").split("\t")
        # A backslash stays one: people read paths and patterns.
        yield "    ".join(_plain(part) for part in parts)


def _plain(text: str) -> str:
    return "\\".join(escape_excerpt(part, len(part)) for part in text.split("\\"))


def _lines(value: Any, width: int = _WIDTH, depth: int = 0) -> list[str]:
    """A JSON value as lines; those of a table are no wider than `width`."""
    if depth == _MAX_DEPTH:
        return [_plain(_compact(value))]
    if isinstance(value, str):
        return list(_safe_lines(value))
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
    first, *rest = _lines(item, width - 2, depth + 1)
    yield f"- {first}"
    yield from (f"  {line}" for line in rest)


def _fields(value: Mapping[str, Any], width: int, depth: int) -> Iterator[str]:
    for key, field in value.items():
        name = _plain(key)
        below = _lines(field, width - 2, depth + 1)
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
        if tallest > _MAX_CELL_LINES:
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
        if widest <= _MIN_COLUMN_WIDTH:
            return None
        # All of the widest together, down to the next, or as far as is needed.
        at = [index for index, one in enumerate(widths) if one == widest]
        following = max((one for one in widths if one < widest), default=0)
        over = sum(widths) - room
        target = max(following, _MIN_COLUMN_WIDTH, widest - -(-over // len(at)))
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
