"""Reads a file that holds a list of tools."""

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
from .formats import Source, source_of

MAX_SOURCE_BYTES = 64 * 1024 * 1024
"""Size of a file that is imported."""
_MAX_PROBLEMS_SHOWN = 20
"""Problems of one file that are listed."""
_PROGRAMS = frozenset([".py", ".js", ".mjs", ".cjs", ".ts"])
_BLANKS = re.compile(r"[ \t\r\n]+")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_source(path: str) -> Source:
    """The tools of a file, in whichever form they are.

    Raises:
        ListingError: it cannot be read, or is no list of tools that specs can say. The text
            has a line for each thing wrong, each with its place, escaped.
    """
    return source_in(_bytes_of(path), os.path.normpath(path))


def read_listed(path: str) -> Source:
    """As `read_source`, but names may be there twice, and be such as no spec can say."""
    return listed_in(_bytes_of(path), os.path.normpath(path))


def _bytes_of(path: str) -> bytes:
    shown = escape_excerpt(path, 1000)
    try:
        data = read_regular_file(path, MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise ListingError(f"{shown}: {error.strerror or error}") from None
    if len(data) > MAX_SOURCE_BYTES:
        raise ListingError(
            f"{shown}: larger than {MAX_SOURCE_BYTES >> 20} MiB"
        ) from None
    return data


def source_in(data: bytes, name: str) -> Source:
    """The source of a file's bytes; raises as `read_source`."""
    return takable(_listed_in(data, name), f"{escape_excerpt(name, 1000)}: ")


def takable(source: Source, place: str = "") -> Source:
    """A source without the tools that no spec can be of, which it names as refused.

    Raises:
        ListingError: no other tool is there. Each line begins with the place.
    """
    refused: dict[str, str] = {}
    for name, why in _unsayable(source):
        refused.setdefault(name, why)
    rest = source.without(refused)
    if refused and not rest.listing.tools:
        raise ListingError(_told_at(place, list(refused.values())))
    return rest


def listed_in(data: bytes, name: str) -> Source:
    """As `source_in`, but names may be there twice, and be such as no spec can say."""
    source = _listed_in(data, name)
    problems = [why for _, why in _too_large(source)]
    if problems:
        raise ListingError(_told_at(f"{escape_excerpt(name, 1000)}: ", problems))
    return source


def _listed_in(data: bytes, name: str) -> Source:
    shown = escape_excerpt(name, 1000)
    try:
        value, twice = _json_or_lines(data)
    except JsonError as problem:
        place = f"{shown}:{problem.line}:{problem.column}"
        raise ListingError(f"{place}: no JSON: {problem}{_hint(data, name)}") from None
    if twice:
        raise ListingError("\n".join(_duplicates(data, shown, twice)))
    try:
        return source_of(value, shown)
    except ListingError as error:
        problems = str(error).split("\n")
        raise ListingError(_told_at(f"{shown}: ", problems)) from None


def _told_at(place: str, problems: list[str]) -> str:
    more = len(problems) - _MAX_PROBLEMS_SHOWN
    told = problems[:_MAX_PROBLEMS_SHOWN] + ([f"and {more} more"] if more > 0 else [])
    return "\n".join(f"{place}{one}" for one in told)


def _json_or_lines(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """The value of a JSON text, or the list of those that stand a line each."""
    try:
        return read_json(data)
    except JsonError as problem:
        lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
        is_lines = problem.line > 1 and len(lines) > 1 and lines[0][-1:] == b"}"
        if not is_lines or not lines[0].startswith(b"{"):
            raise
    values: list[Any] = []
    twice: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value, keys = read_json(line)
            except JsonError as problem:
                raise JsonError(str(problem), number, problem.column) from None
            values.append(value)
            twice |= dict.fromkeys(keys)
    return values, tuple(twice)


def _unsayable(source: Source) -> Iterator[tuple[str, str]]:
    """The tools of a source that no spec can be of, each with a line that says why."""
    names = Counter(tool["name"] for tool in source.listing.tools)
    for name, times in names.items():
        if times > 1:
            yield name, f"the tool `{escape_excerpt(name, 80)}` is there {times} times"
    for name in names:
        if not is_tool_name(name):
            shown = escape_excerpt(name, 80)
            why = f"`{shown}` is no name of a tool: 1 to 128 of A-Z a-z 0-9 _ . -"
            yield name, why
    yield from _too_large(source)


def _too_large(source: Source) -> Iterator[tuple[str, str]]:
    """The tools that have more in them than is compared or written, each with a line.

    Definitions are bounded one by one: a list may be long, a tool may not be endless.
    """
    for index, tool in enumerate(source.listing.tools):
        problem = measure_value(dict(tool)).problem
        if problem is not None:
            shown = f"tools[{index}] (`{escape_excerpt(tool['name'], 80)}`)"
            yield tool["name"], f"{shown} has {problem}"


def _hint(data: bytes, name: str) -> str:
    ending = os.path.splitext(name)[1].lower()
    if ending in _PROGRAMS:
        return (
            "\n  help: it is a program: --mcp-stdio 'COMMAND' starts one that is a server;"
            " else save its list of tools as JSON"
        )
    if ending in (".yaml", ".yml"):
        return "\n  help: it is YAML; save it as JSON"
    start = data.lstrip()[:200].lower()
    if data.startswith(_UTF_16) or b"\0" in data[:4]:
        return "\n  help: it looks like UTF-16; save it as UTF-8"
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<")):
        return "\n  help: it is a web page; the address may want a login"
    if not start:
        return "\n  help: it is empty"
    return ""


def _duplicates(data: bytes, name: str, twice: tuple[str, ...]) -> Iterator[str]:
    """A line for each object that has a key twice, with the object's place."""
    text = data.decode("utf-8-sig")
    places = list(_objects_with_duplicates(text))[:_MAX_PROBLEMS_SHOWN]
    for start, key in places:
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        yield f"{name}:{line}:{column}: the object has `{escape_excerpt(key, 80)}` twice"
    if not places:
        yield f"{name}: an object has `{escape_excerpt(twice[0], 80)}` twice"


def _objects_with_duplicates(text: str) -> Iterator[tuple[int, str]]:
    """Where each object begins that has a key twice, and the key."""
    found: list[tuple[int, str]] = []
    decoder: Any = json.JSONDecoder(object_pairs_hook=list)
    parse = decoder.parse_object

    def parse_object(state: tuple[str, int], *rest: Any) -> Any:
        pairs, end = parse(state, *rest)
        counted = Counter(key for key, _ in pairs)
        found.extend((state[1] - 1, key) for key, n in counted.items() if n > 1)
        return pairs, end

    decoder.parse_object = parse_object
    # Only the scanner in Python tells where it is.
    decoder.scan_once = scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    begin = _blanks(text, 0)
    try:
        # A file may hold a value a line.
        while begin < len(text):
            begin = _blanks(text, decoder.raw_decode(text, begin)[1])
    except RecursionError:
        return
    yield from sorted(found)


def _blanks(text: str, begin: int) -> int:
    """Where the blanks end that begin at a place."""
    blanks = _BLANKS.match(text, begin)
    return begin if blanks is None else blanks.end()
