"""Read files that contain a list of tools, and check the tools in them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from json import scanner
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.validation.limits import measure_value

from ..analysis.name_limits import is_tool_name
from ..mcp_client.server_listing import ListingError
from ..parsing.exact_json import JsonError, read_json
from .formats import ToolSource, parse_tool_list, quote_name

MAX_SOURCE_BYTES = 64 * 1024 * 1024
"""Size of a file that is imported."""
_MAX_PROBLEMS_SHOWN = 20
"""Problems of one file that are listed."""
_PROGRAM_SUFFIXES = frozenset([".py", ".js", ".mjs", ".cjs", ".ts"])
_SCHEMA_KEYS_TEXT = "`inputSchema`, `input_schema` and `parameters`"
_BLANKS = re.compile(r"[ \t\r\n]+")


def read_source(path: str) -> ToolSource:
    """Read the tools of a file in any supported format.

    Tools that no spec can represent are moved to the source's `rejected`.

    Raises:
        ListingError: the file cannot be read, or has no tool that can be imported. The message
            has an escaped line per problem, each with its location.
    """
    return parse_source(_read_bytes(path), os.path.normpath(path))


def read_lenient_source(path: str) -> ToolSource:
    """Read a file like `read_source`, but accept duplicate and invalid tool names."""
    return parse_lenient_source(_read_bytes(path), os.path.normpath(path))


def _read_bytes(path: str) -> bytes:
    escaped_path = escape_excerpt(path, 1000)
    try:
        data = read_regular_file(path, MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise ListingError(f"{escaped_path}: {error.strerror or error}") from None
    if len(data) > MAX_SOURCE_BYTES:
        raise ListingError(
            f"{escaped_path}: larger than {MAX_SOURCE_BYTES >> 20} MiB"
        ) from None
    return data


def parse_source(data: bytes, name: str) -> ToolSource:
    """Parse the bytes of a file; raises the same errors as `read_source`.

    Args:
        data: the content of the file.
        name: the file's name in messages.
    """
    source = _parse_tools(data, name)
    return reject_unsupported_tools(source, f"{escape_excerpt(name, 1000)}: ")


def reject_unsupported_tools(source: ToolSource, prefix: str = "") -> ToolSource:
    """Return a source with the tools that no spec can represent moved to `rejected`.

    Args:
        source: a source with unchecked tools.
        prefix: text before each line of an error message.

    Raises:
        ListingError: no tool remains. The message has a line per rejected tool.
    """
    rejected: dict[str, str] = {}
    for name, reason in _list_unsupported_tools(source):
        rejected.setdefault(name, reason)
    remaining = source.reject_tools(rejected)
    if rejected and not remaining.listing.tools:
        raise ListingError(_format_problems(prefix, list(rejected.values())))
    return remaining


def parse_lenient_source(data: bytes, name: str) -> ToolSource:
    """Parse bytes like `parse_source`, but accept duplicate and invalid tool names.

    Keys that are not imported are members of the definitions.
    """
    source = _parse_tools(data, name, keeps_all=True)
    problems = [reason for _, reason in _list_oversized_tools(source)]
    if problems:
        prefix = f"{escape_excerpt(name, 1000)}: "
        raise ListingError(_format_problems(prefix, problems))
    return source


def _parse_tools(data: bytes, name: str, *, keeps_all: bool = False) -> ToolSource:
    escaped_name = escape_excerpt(name, 1000)
    try:
        value, duplicate_keys = _read_json_or_lines(data)
    except JsonError as error:
        location = f"{escaped_name}:{error.line}:{error.column}"
        hint = _suggest_conversion(data, name)
        raise ListingError(f"{location}: not JSON: {error}{hint}") from None
    if duplicate_keys:
        lines = _locate_duplicate_keys(data, escaped_name, duplicate_keys)
        raise ListingError("\n".join(lines))
    try:
        return parse_tool_list(value, escaped_name, keeps_all=keeps_all)
    except ListingError as error:
        problems = str(error).split("\n")
        raise ListingError(_format_problems(f"{escaped_name}: ", problems)) from None


def _format_problems(prefix: str, problems: list[str]) -> str:
    lines = problems[:_MAX_PROBLEMS_SHOWN]
    if len(problems) > _MAX_PROBLEMS_SHOWN:
        lines.append(f"and {len(problems) - _MAX_PROBLEMS_SHOWN} more")
    return "\n".join(
        line if line.startswith("  help: ") else f"{prefix}{line}" for line in lines
    )


def _read_json_or_lines(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Parse JSON or JSON Lines; return the value and the keys that an object repeats.

    JSON Lines become an array.
    """
    try:
        return read_json(data)
    except JsonError as error:
        lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
        is_json_lines = (
            error.line > 1 and lines[0].startswith(b"{") and lines[0].endswith(b"}")
        )
        if not is_json_lines:
            raise
    values: list[Any] = []
    duplicate_keys: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value, keys = read_json(line)
            except JsonError as error:
                raise JsonError(str(error), number, error.column) from None
            values.append(value)
            duplicate_keys |= dict.fromkeys(keys)
    return values, tuple(duplicate_keys)


def _list_unsupported_tools(source: ToolSource) -> Iterator[tuple[str, str]]:
    """Yield the name of each tool that no spec can represent, with a line on the reason."""
    counts = Counter(tool["name"] for tool in source.listing.tools)
    for name, count in counts.items():
        if count > 1:
            yield name, f"tool {quote_name(name)} is listed {count} times"
    for name in counts:
        if not is_tool_name(name):
            yield (
                name,
                f"{quote_name(name)} is not a valid tool name: use 1 to 128 of"
                " A-Z a-z 0-9 _ . -",
            )
    for tool in source.listing.tools:
        label = quote_name(tool["name"])
        if "inputSchema" not in tool:
            yield tool["name"], f"{label} has none of {_SCHEMA_KEYS_TEXT}"
        elif not isinstance(tool["inputSchema"], dict):
            yield tool["name"], f"the input schema of {label} is not a JSON object"
    yield from _list_oversized_tools(source)


def _list_oversized_tools(source: ToolSource) -> Iterator[tuple[str, str]]:
    """Yield the name of each tool whose definition exceeds the limits, with the reason.

    The limits apply to each definition. The number of tools is not limited.
    """
    for index, tool in enumerate(source.listing.tools):
        problem = measure_value(dict(tool)).problem
        if problem is not None:
            label = f"`tools[{index}]` ({quote_name(tool['name'])})"
            yield tool["name"], f"{label} has {problem}"


def _suggest_conversion(data: bytes, name: str) -> str:
    """Return a help line for a file that is not JSON, or "" if its format is unknown."""
    suffix = os.path.splitext(name)[1].lower()
    if suffix in _PROGRAM_SUFFIXES:
        return (
            "\n  help: the file is a program: if it is an MCP server, start it with"
            " --mcp-stdio 'COMMAND'; if not, save its list of tools as JSON"
        )
    if suffix in (".yaml", ".yml"):
        return "\n  help: the file is YAML: convert it to JSON"
    start = data.lstrip()[:1]
    # In UTF-16, one byte of each ASCII character is zero.
    if b"\0" in data[:4]:
        return "\n  help: the file appears to be UTF-16: save it as UTF-8"
    if start == b"<":
        return "\n  help: the file is a web page: check whether its address requires a login"
    if not start:
        return "\n  help: the file is empty: save a list of tools in it"
    return ""


def _locate_duplicate_keys(
    data: bytes, name: str, duplicate_keys: tuple[str, ...]
) -> Iterator[str]:
    """Yield a line for each object that repeats a key, with the object's location."""
    text = data.decode("utf-8-sig")
    locations = []
    for start, key in list(_list_objects_with_duplicates(text))[:_MAX_PROBLEMS_SHOWN]:
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        locations.append((f"{name}:{line}:{column}", key))
    for location, key in locations or [(name, duplicate_keys[0])]:
        yield f"{location}: an object has the key {quote_name(key)} twice"


def _list_objects_with_duplicates(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset of each object that repeats a key, and the key."""
    duplicates: list[tuple[int, str]] = []
    decoder: Any = json.JSONDecoder(object_pairs_hook=list)
    parse = decoder.parse_object

    def parse_object(state: tuple[str, int], *rest: Any) -> Any:
        pairs, end = parse(state, *rest)
        counts = Counter(key for key, _ in pairs)
        offset = state[1] - 1
        duplicates.extend((offset, key) for key, count in counts.items() if count > 1)
        return pairs, end

    decoder.parse_object = parse_object
    # The scanner in C ignores a replaced `parse_object`; the one in Python calls it.
    decoder.scan_once = scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    start = _skip_blanks(text, 0)
    try:
        # JSON Lines have one value per line.
        while start < len(text):
            start = _skip_blanks(text, decoder.raw_decode(text, start)[1])
    except RecursionError:
        # The caller then reports the key without a location.
        return
    yield from sorted(duplicates)


def _skip_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return start if blanks is None else blanks.end()
