"""Format the result of a call for a terminal.

Arrays of objects become tables, other values become lines. Control characters are escaped.
Images, audio and files are saved as new files. Requires `click`.
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

from toolcast_runtime.cli.terminal import echo, get_base64, unwrap_resource
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.safe_folder import Folder

_WIDTH = 80
_GAP = "  "
_MIN_COLUMN_WIDTH = 8
"""Minimum width in characters to which a wide table column is narrowed."""
_MAX_CELL_LINES = 4
"""Maximum number of lines of a table cell; rows with taller cells are printed as blocks."""
_MAX_DEPTH = 8
"""Levels of a value that are printed as indented lines; deeper values are compact JSON."""
_MAX_JSON_LEVELS = 64
"""Maximum depth of a JSON text that is parsed; a deeper text is printed unchanged."""
_MAX_FILE_STEM_CHARACTERS = 64
"""Maximum number of characters of the tool's name in the name of a saved file."""
_ESCAPE = json.JSONEncoder(ensure_ascii=True)
# `filenames=()` ignores the operating system's tables of MIME types, which differ between
# machines.
_TYPES = mimetypes.MimeTypes(filenames=())
# Not every supported version of Python knows the suffixes of these MIME types.
for _type, _extension in (("audio/wav", ".wav"), ("image/webp", ".webp")):
    _TYPES.add_type(_type, _extension)


class _InvalidBase64Error(ValueError):
    """Raised for a content block without data, or with data that is not valid base64."""


def print_call_result(result: Mapping[str, Any], tool: str, folder: str) -> bool:
    """Print a CallToolResult: values to stdout, errors and additional text to stderr.

    Structured content is printed instead of text blocks that repeat it. Images, audio and
    files are saved, and their file names printed.

    Args:
        tool: the name of the tool, from which file names are built.
        folder: the folder in which files are saved.

    Returns:
        Whether the call succeeded and all files were saved.
    """
    content = result.get("content") or ()
    blocks = [block for block in content if isinstance(block, Mapping)]
    if result.get("isError"):
        _print_failure(blocks, tool, folder)
        return False
    texts = [block for block in blocks if block.get("type") == "text"]
    structured = result.get("structuredContent")
    if structured is not None:
        values = [_unwrap_value(structured, texts)]
    else:
        values = [_parse_json(str(block.get("text", ""))) for block in texts]
    for value in values:
        for line in _format_value(value):
            echo(line)
    if structured is not None:
        for text in _find_additional_texts(structured, values[0], texts):
            _print_text(text, err=True)
    is_complete = True
    for block in blocks:
        if block.get("type") != "text":
            is_complete &= _print_block(block, tool, folder)
    if structured is None and not blocks:
        _print_text("the tool returned no content", err=True)
    return is_complete


def _print_failure(blocks: Sequence[Mapping[str, Any]], tool: str, folder: str) -> None:
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    _print_text("error: " + ("\n".join(texts) or "the tool failed"), err=True)
    for block in blocks:
        if not isinstance(block.get("text"), str):
            _print_block(block, tool, folder)


def format_raw_json(result: Mapping[str, Any]) -> str:
    """Return a result as indented JSON, with unprintable characters as JSON escapes."""
    text = json.dumps(result, ensure_ascii=False, indent=2)
    return "".join(
        char if char.isprintable() or char == "\n" else _ESCAPE.encode(char)[1:-1]
        for char in text
    )


def _print_block(block: Mapping[str, Any], tool: str, folder: str) -> bool:
    """Print a link or an embedded text; save any other content block to a file.

    Returns False, after printing an error, if the block cannot be saved.
    """
    kind, resource = escape_excerpt(str(block.get("type"))), unwrap_resource(block)
    if kind == "resource_link":
        name = escape_excerpt(str(block.get("title") or block.get("name")))
        _print_text(f"{name}: {escape_excerpt(str(block.get('uri')), 2000)}")
        return True
    if kind == "resource" and "text" in resource:
        uri = escape_excerpt(str(resource.get("uri")), 2000)
        _print_text(f"{uri}:\n{resource['text']}")
        return True
    try:
        name, size = _save_block(block, tool, folder)
    except _InvalidBase64Error as error:
        _print_text(f"error: the {kind} {error}", err=True)
        return False
    except OSError as error:
        _print_text(f"error: the {kind} was not saved: {error.strerror}", err=True)
        return False
    mime_type = escape_excerpt(str(resource.get("mimeType") or kind))
    path = os.path.join(folder, name) if folder != os.curdir else name
    _print_text(f"saved {path} ({mime_type}, {size:,} bytes)")
    return True


def _save_block(block: Mapping[str, Any], tool: str, folder: str) -> tuple[str, int]:
    """Save an image, audio or file block to a new file; return the file's name and size.

    The name contains the tool's name and the first free number. The server's result is
    untrusted: only its media type affects the name, by selecting a suffix from a fixed table.

    Raises:
        _InvalidBase64Error: the block has no data, or its data is not base64.
        OSError: the file cannot be written.
    """
    text = get_base64(block)
    if not isinstance(text, str):
        raise _InvalidBase64Error("contains no data")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _InvalidBase64Error("is not valid base64") from None
    mime_type = (
        str(unwrap_resource(block).get("mimeType", "")).partition(";")[0].strip()
    )
    extension = _TYPES.guess_extension(mime_type) or ".bin"
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:_MAX_FILE_STEM_CHARACTERS]
    with Folder.open_path(folder) as opened:
        for number in count(1):
            name = f"{stem}-{number}{extension}"
            try:
                opened.write(name, data, is_new=True)
            except FileExistsError:
                continue
            return name, len(data)
    raise AssertionError


def _unwrap_value(value: Any, texts: list[Mapping[str, Any]]) -> Any:
    """Return the only member of a structured content that a server wrapped in an object.

    MCP requires an object as `structuredContent`, so servers wrap other values in an object
    with one member. Its name is `result`, or the only text block repeats its value. Other
    values are returned unchanged.
    """
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(name, member)] = value.items()
    is_repeated = [member] == [block.get("text") for block in texts]
    return member if name == "result" or is_repeated else value


def _find_additional_texts(
    structured: Any, printed: Any, texts: list[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the text blocks of a result that do not repeat its structured content.

    Args:
        structured: the structured content.
        printed: the part of the structured content that was printed. For an array with as
            many items as there are texts, each text can repeat the item at its index.
        texts: the text blocks.
    """
    expected = [printed] * len(texts)
    if isinstance(printed, list) and len(printed) == len(texts):
        expected = printed
    for block, item in zip(texts, expected, strict=True):
        text = str(block.get("text", ""))
        is_scalar = not isinstance(item, (Mapping, list))
        spellings = (item, json.dumps(item, ensure_ascii=False)) if is_scalar else ()
        if (
            _parse_json(text) not in (structured, printed, item)
            and text not in spellings
        ):
            yield text


def _parse_json(text: str) -> Any:
    """Return the object or array in a JSON text; return any other text unchanged.

    Text with more than `_MAX_JSON_LEVELS` levels is also returned unchanged.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if _count_levels(value) < _MAX_JSON_LEVELS else text


def _count_levels(value: Any) -> int:
    """Return the nesting depth of a JSON value, at most `_MAX_JSON_LEVELS`."""
    depth = 0
    level: list[Any] = [value]
    while level and depth < _MAX_JSON_LEVELS:
        depth += 1
        next_level: list[Any] = []
        for node in level:
            if isinstance(node, list):
                next_level += node
            elif isinstance(node, dict):
                next_level += node.values()
        level = next_level
    return depth


def _print_text(text: str, *, err: bool = False) -> None:
    for line in _split_lines(text):
        echo(line, err=err)


def _split_lines(text: str) -> Iterator[str]:
    """Yield the escaped lines of a text, with tabs as four spaces."""
    for line in text.split("\n"):
        parts = line.removesuffix("\r").split("\t")
        yield "    ".join(_escape(part) for part in parts)


def _escape(text: str) -> str:
    """Escape unprintable characters, but no backslashes.

    Escaped backslashes would make paths and regular expressions hard to read.
    """
    return "\\".join(escape_excerpt(part, len(part)) for part in text.split("\\"))


def _format_value(value: Any, width: int = _WIDTH, depth: int = 0) -> list[str]:
    """Return the lines that display a JSON value in at most `width` characters.

    Objects become `key: value` lines, arrays of objects tables, other arrays `-` lines. Long
    strings are not wrapped.
    """
    if depth == _MAX_DEPTH:
        return [_escape(_encode_json(value))]
    if isinstance(value, str):
        return list(_split_lines(value))
    if isinstance(value, Mapping):
        return list(_format_object(value, width, depth)) or ["{}"]
    if not isinstance(value, list):
        return [_encode_json(value)]
    if not value:
        return ["(none)"]
    if all(isinstance(item, Mapping) and item for item in value):
        return _format_records(value, width, depth)
    return [line for item in value for line in _format_item(item, width, depth)]


def _format_item(item: Any, width: int, depth: int) -> Iterator[str]:
    first, *rest = _format_value(item, width - 2, depth + 1)
    yield f"- {first}"
    yield from (f"  {line}" for line in rest)


def _format_object(value: Mapping[str, Any], width: int, depth: int) -> Iterator[str]:
    """Yield a line `key: value` per member, or `key:` above the lines of a longer value."""
    for key, member in value.items():
        name = _escape(key)
        lines = _format_value(member, width - 2, depth + 1)
        is_scalar = not isinstance(member, (list, Mapping)) or not member
        is_one_line = is_scalar and len(lines) == 1
        if member and _is_flat(member):
            joined = _escape(_format_cell(member))
            if _measure_width(joined) + _measure_width(name) + 2 <= width:
                lines = [joined]
            is_one_line = len(lines) == 1
        if is_one_line:
            yield f"{name}: {lines[0]}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in lines)


def _format_records(
    rows: Sequence[Mapping[str, Any]], width: int, depth: int
) -> list[str]:
    """Return a table of the rows, or a block per row if the table is too large."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    headings = [_escape(key) for key in columns]
    cells = [
        [_escape(_format_cell(row.get(key, ""))) for key in columns] for row in rows
    ]
    table = _format_table([headings, *cells], width)
    if table is not None:
        return table
    lines: list[str] = []
    for row in rows:
        if lines:
            lines.append("")
        lines += _format_object(row, width, depth + 1)
    return lines


def _format_table(rows: Sequence[Sequence[str]], width: int) -> list[str] | None:
    """Return the lines of a table whose first row is the heading.

    None if the columns do not fit into the width, or a cell has too many lines.
    """
    full_widths = [
        max(map(_measure_width, column)) for column in zip(*rows, strict=True)
    ]
    gaps = len(_GAP) * (len(full_widths) - 1)
    widths = _fit_columns(full_widths, width - gaps)
    if widths is None:
        return None
    lines: list[str] = []
    for index, row in enumerate(rows):
        wrapped_cells = [
            _wrap(cell, column) for cell, column in zip(row, widths, strict=True)
        ]
        height = max(map(len, wrapped_cells))
        if height > _MAX_CELL_LINES:
            return None
        for i in range(height):
            parts = [cell[i] if i < len(cell) else "" for cell in wrapped_cells]
            padded = [
                part + " " * (column - _measure_width(part))
                for part, column in zip(parts, widths, strict=True)
            ]
            lines.append(_GAP.join(padded).rstrip())
        if index == 0:
            lines.append(_GAP.join("-" * column for column in widths))
    return lines


def _fit_columns(full_widths: Sequence[int], available: int) -> list[int] | None:
    """Return column widths that fit into the available width.

    The widest columns are narrowed first. Returns None if a column would be narrower than
    `_MIN_COLUMN_WIDTH`.
    """
    widths = [max(1, width) for width in full_widths]
    while sum(widths) > available:
        widest = max(widths)
        if widest <= _MIN_COLUMN_WIDTH:
            return None
        # Narrow all of the widest columns equally: to the next smaller width, or as far as
        # necessary.
        indexes = [index for index, width in enumerate(widths) if width == widest]
        next_width = max((width for width in widths if width < widest), default=0)
        excess = sum(widths) - available
        excess_per_column = -(-excess // len(indexes))
        target = max(next_width, _MIN_COLUMN_WIDTH, widest - excess_per_column)
        for index in indexes:
            widths[index] = target
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Return the lines of a text wrapped at spaces; words that are too long are cut."""
    lines = [""]
    for word in text.split(" "):
        available = width - _measure_width(lines[-1]) - bool(lines[-1])
        if _measure_width(word) <= available:
            lines[-1] += f" {word}" if lines[-1] else word
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if _measure_width(lines[-1] + character) > width:
                lines.append("")
            lines[-1] += character
    return lines


def _format_cell(value: Any) -> str:
    """Return a value on one line; null is an empty cell."""
    if isinstance(value, str):
        return " ".join(value.split())
    if value and _is_flat(value):
        return ", ".join(map(_format_cell, value))
    return "" if value is None else _encode_json(value)


def _is_flat(value: Any) -> bool:
    """Return whether a value is an array of strings, integers and booleans."""
    return isinstance(value, list) and all(
        isinstance(item, (str, int)) for item in value
    )


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _measure_width(text: str) -> int:
    """Return the number of terminal columns of a text; wide characters have two."""
    if text.isascii():
        return len(text)
    width = 0
    for char in text:
        if not unicodedata.combining(char):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width
