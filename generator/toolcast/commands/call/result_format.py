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
# Without the type tables of the operating system, which differ between machines.
_TYPES = mimetypes.MimeTypes(filenames=())
# Not every version of Python knows these types.
for _type, _extension in (("audio/wav", ".wav"), ("image/webp", ".webp")):
    _TYPES.add_type(_type, _extension)


class _InvalidBase64Error(ValueError):
    """Content block without data, or with data that is not valid base64."""


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
    """Print or save a content block, and return whether that succeeded."""
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
    """Save an image, audio or file block to a new file, and return its name and size.

    The name is built from the tool's name and a number. Of the untrusted result only the
    media type affects it: it selects the extension from a fixed table.

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
    """Return the value inside an object that a server added around it.

    `structuredContent` must be an object, so that servers wrap other values in an object
    with one member: `result`, or a member that the only text repeats.
    """
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(name, member)] = value.items()
    is_repeated = [member] == [block.get("text") for block in texts]
    return member if name == "result" or is_repeated else value


def _find_additional_texts(
    structured: Any, printed: Any, texts: list[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the texts of a result that do not repeat its structured content.

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
    """Return the object or array in a JSON text; any other text unchanged."""
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
    """Return the lines of a JSON value; tables have at most `width` columns."""
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
    """Return the lines of a table; None if a column is too narrow or a cell too tall."""
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
    """Wrap a text at spaces, and words that are wider than a line at any character."""
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
    """Return the number of terminal columns of a text."""
    if text.isascii():
        return len(text)
    width = 0
    for char in text:
        if not unicodedata.combining(char):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width
