"""Former and reserved names of tools: where texts, files and outputs say them still."""

from __future__ import annotations

import io
import json
import os
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

from ..model.model import Toolset, Workspace
from .texts import walk_strings
from .tool_names import (
    collect_other_names,
    compile_mention_pattern,
    find_mentions,
    find_names_in_lines,
    get_tool_names,
)

_MAX_FILES = 20_000
"""Files that one search reads; the others are reported as not searched."""
_MAX_FILE_BYTES = 1024 * 1024
"""Size of a file that is searched."""
_MAX_MENTIONS = 1_000
"""Mentions that one search returns; it stops there."""
_PASSED_BY = frozenset(["node_modules", "__pycache__", "venv", "build", "dist"])
_CODE = (".py", ".pyi")
_PROSE = (".md", ".txt", ".rst", ".mdx")
_TEXTS = frozenset([tokenize.STRING, tokenize.COMMENT])
# From Python 3.12 on, a formatted literal is many tokens; it counts as a whole, as before.
_BEGINS = getattr(tokenize, "FSTRING_START", -1)
_ENDS = getattr(tokenize, "FSTRING_END", -1)


class FileMention(NamedTuple):
    """A place of a file that says a name.

    Attributes:
        name: the name.
        file: relative to the project's root.
        line: 1-based.
        column: 1-based.
        text: the line.
    """

    name: str
    file: str
    line: int
    column: int
    text: str


class ScanResult(NamedTuple):
    """What was found.

    Attributes:
        mentions: the places, file by file.
        problems: what was not searched: the index of the entry of `scan`, and why.
    """

    mentions: tuple[FileMention, ...]
    problems: tuple[tuple[int, str], ...]


def list_retired_names(workspace: Workspace) -> frozenset[str]:
    """The former and reserved names that are no tool's in any toolset."""
    live = {tool.name for toolset in workspace.toolsets for tool in toolset.tools}
    removed = {
        name
        for toolset in workspace.toolsets
        for name in get_tool_names(toolset, workspace).retired
    }
    return frozenset(removed - live)


@lru_cache(maxsize=2)
def scan_files(workspace: Workspace) -> ScanResult:
    """The names that files below `scan` say, each file read once a run."""
    names = list_retired_names(workspace)
    if not names or not workspace.scan:
        return ScanResult((), ())
    patterns = compile_mention_pattern(names), compile_mention_pattern(
        names, in_code=True
    )
    quick = re.compile(b"|".join(re.escape(name.encode()) for name in sorted(names)))
    mentions: list[FileMention] = []
    problems: list[tuple[int, str]] = []
    seen: set[str] = set()
    for index, entry in enumerate(workspace.scan):
        for path, problem in _files(workspace, entry):
            if problem:
                problems.append((index, problem))
            elif path not in seen and len(seen) < _MAX_FILES:
                seen.add(path)
                mentions += _in_file(
                    workspace, path, quick, patterns[not path.endswith(_PROSE)]
                )
            if len(seen) >= _MAX_FILES or len(mentions) >= _MAX_MENTIONS:
                break
    if len(seen) >= _MAX_FILES:
        problems.append(
            (0, f"more than {_MAX_FILES:,} files: the others are not searched")
        )
    return ScanResult(tuple(mentions[:_MAX_MENTIONS]), tuple(problems))


def _files(workspace: Workspace, entry: str) -> Iterator[tuple[str, str]]:
    """The files of an entry, each with "", or the entry with what is wrong with it."""
    place = os.path.join(workspace.root, entry)
    if os.path.islink(place):
        yield entry, f"`{entry}` is a link, and links are not followed"
    elif os.path.isfile(place):
        yield os.path.normpath(entry).replace(os.sep, "/"), ""
    elif not os.path.isdir(place):
        what = "is no file and no folder" if os.path.lexists(place) else "is not there"
        yield entry, f"`{entry}` {what}"
    else:
        yield from _below(workspace, entry)


def _below(workspace: Workspace, entry: str) -> Iterator[tuple[str, str]]:
    # Specs and outputs are held to rules of their own.
    passed = {*workspace.not_scanned, *workspace.toolset_folders, workspace.output}
    passed = {os.path.normpath(path).replace(os.sep, "/") for path in passed}
    waiting = [os.path.normpath(entry).replace(os.sep, "/")]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(workspace.root, folder)) as entries:
                found = sorted(entries, key=lambda one: one.name)
        except OSError as error:
            yield folder, f"`{folder}` cannot be read: {error.strerror or error}"
            continue
        for one in found:
            path = one.name if folder == "." else f"{folder}/{one.name}"
            if path in passed or one.name.startswith(".") or one.name in _PASSED_BY:
                continue
            if one.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif one.is_file(follow_symlinks=False):
                yield path, ""


def _in_file(
    workspace: Workspace,
    path: str,
    quick: re.Pattern[bytes],
    pattern: re.Pattern[str] | None,
) -> Iterator[FileMention]:
    try:
        data = read_regular_file(
            os.path.join(workspace.root, path), _MAX_FILE_BYTES, follow=False
        )
    except OSError:
        return
    if pattern is None or not quick.search(data) or b"\0" in data[:8192]:
        return
    yield from _said_in(path, data.decode("utf-8", "replace"), pattern)


def _said_in(file: str, text: str, pattern: re.Pattern[str]) -> Iterator[FileMention]:
    searched = blank_code(text) if file.endswith(_CODE) else text
    lines = text.split("\n")
    for name, line, column in find_names_in_lines(searched.split("\n"), pattern):
        yield FileMention(name, file, line, column, lines[line - 1])


def blank_code(text: str) -> str:
    """A Python module with blanks for what is neither a literal nor a comment.

    `__all__` lists names of Python, which are literals by their form only.
    """
    rows = text.split("\n")
    shown = [[" "] * len(row) for row in rows]
    open_: list[tuple[int, int]] = []
    exports = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = token.start
            exports = token.type != tokenize.NEWLINE and (
                exports or token.string == "__all__"
            )
            if token.type == _BEGINS:
                open_.append(start)
                continue
            if token.type == _ENDS:
                start = open_.pop()
            elif token.type not in _TEXTS or exports:
                continue
            (first, begin), (last, end) = start, token.end
            for number in range(first, last + 1):
                left = begin if number == first else 0
                right = end if number == last else len(rows[number - 1])
                shown[number - 1][left:right] = rows[number - 1][left:right]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return text
    return "\n".join("".join(row) for row in shown)


# What a definition says of former names, of functions, and of where it comes from.
_NO_TEXTS = frozenset(["renamed_from", "handler", "generated"])


def find_mentions_in_outputs(
    toolset: Toolset,
    removed: Mapping[str, str],
    output: str,
    files: Mapping[str, bytes],
) -> Iterator[tuple[FileMention, str]]:
    """The places of a toolset's outputs that say a former or reserved name, each with what to do.

    Specs are held to that before: what is found comes from a template of the project, from
    a target of others, or from data.

    Args:
        removed: those names, and what to do about each.
        output: the output folder.
        files: what it is to hold, by path below it.
    """
    raw = [name.encode() for name in removed]
    own = (path for path in files if path.startswith(f"{toolset.name}/"))
    saying = [path for path in own if any(name in files[path] for name in raw)]
    # Every former name stands in the definition of its tool.
    pattern = compile_mention_pattern(removed.keys() - collect_other_names(toolset))
    if pattern is None:
        return
    for path in saying:
        search = _in_definitions if path.endswith(".json") else _said_in
        for mention in search(f"{output}/{path}", files[path].decode(), pattern):
            yield mention, removed[mention.name]


def _in_definitions(
    file: str, text: str, pattern: re.Pattern[str]
) -> Iterator[FileMention]:
    lines = text.split("\n")
    for name in sorted(
        {m.name for t in _texts(text) for m in find_mentions(t, pattern)}
    ):
        number = next(
            (i for i, row in enumerate(lines) if _says(row, name)), len(lines) - 1
        )
        column = lines[number].find(name) + 1
        yield FileMention(name, file, number + 1, max(column, 1), lines[number])


def _says(row: str, name: str) -> bool:
    is_other = any(f'"{key}":' in row for key in _NO_TEXTS)
    return name in row and not is_other


def _texts(text: str) -> Iterator[str]:
    value: Any = json.loads(text)
    if isinstance(value, dict):
        value = {key: inner for key, inner in value.items() if key not in _NO_TEXTS}
    for found in walk_strings(value, ()):
        if not found.is_key:
            yield found.text
