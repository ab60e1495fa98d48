"""Remaining uses of retired tool names in the project's files and in the outputs.

A retired name is a previous name (`renamed_from`) or a reserved one (`reserved_names`).
"""

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
"""Files that one scan reads; a problem reports that further files are not scanned."""
_MAX_FILE_BYTES = 1024 * 1024
"""Bytes of a file that one scan reads; the rest of the file is not searched."""
_MAX_MENTIONS = 1_000
"""Mentions that one scan returns; it stops there."""
_SKIPPED_FOLDERS = frozenset(["node_modules", "__pycache__", "venv", "build", "dist"])
_CODE = (".py", ".pyi")
_PROSE = (".md", ".txt", ".rst", ".mdx")
_TEXT_TOKENS = frozenset([tokenize.STRING, tokenize.COMMENT])
# Python 3.12 and newer split an f-string into many tokens; here it counts as one string.
_FSTRING_START = getattr(tokenize, "FSTRING_START", -1)
_FSTRING_END = getattr(tokenize, "FSTRING_END", -1)


class FileMention(NamedTuple):
    """Use of a retired name in a file.

    Attributes:
        name: the retired name.
        file: the path relative to the project's root.
        line: 1-based.
        column: 1-based.
        text: the whole line.
    """

    name: str
    file: str
    line: int
    column: int
    text: str


class ScanResult(NamedTuple):
    """Result of scanning the files below `scan`.

    Attributes:
        mentions: the uses of retired names, file by file.
        problems: the reasons why something was not scanned, each with the index of its entry
            in `scan`.
    """

    mentions: tuple[FileMention, ...]
    problems: tuple[tuple[int, str], ...]


def list_retired_names(workspace: Workspace) -> frozenset[str]:
    """Return the retired names that no toolset uses as the current name of a tool."""
    current = {tool.name for toolset in workspace.toolsets for tool in toolset.tools}
    retired = {
        name
        for toolset in workspace.toolsets
        for name in get_tool_names(toolset, workspace).retired
    }
    return frozenset(retired - current)


@lru_cache(maxsize=2)
def scan_files(workspace: Workspace) -> ScanResult:
    """Find the retired names in the files that `scan` in toolcast.yaml lists.

    Each file is read once. The scan stops after 20,000 files or 1,000 mentions.
    """
    names = list_retired_names(workspace)
    if not names or not workspace.scan:
        return ScanResult((), ())
    prose_pattern = compile_mention_pattern(names)
    code_pattern = compile_mention_pattern(names, in_code=True)
    # A search in bytes skips most files before they are decoded.
    quick = re.compile(b"|".join(re.escape(name.encode()) for name in sorted(names)))
    mentions: list[FileMention] = []
    problems: list[tuple[int, str]] = []
    scanned: set[str] = set()
    for index, entry in enumerate(workspace.scan):
        for path, problem in _list_files(workspace, entry):
            if problem:
                problems.append((index, problem))
            elif path not in scanned:
                scanned.add(path)
                if len(scanned) > _MAX_FILES:
                    break
                pattern = prose_pattern if path.endswith(_PROSE) else code_pattern
                mentions += _scan_file(workspace, path, quick, pattern)
            if len(mentions) >= _MAX_MENTIONS:
                break
    if len(scanned) > _MAX_FILES:
        problems.append(
            (0, f"`scan` has more than {_MAX_FILES:,} files; the rest is not searched")
        )
    return ScanResult(tuple(mentions[:_MAX_MENTIONS]), tuple(problems))


def _list_files(workspace: Workspace, entry: str) -> Iterator[tuple[str, str]]:
    """Yield path and problem of each file of an entry in `scan`.

    The problem is "" for a file that can be scanned. An entry that is a symbolic link,
    or does not exist, yields itself with a problem.
    """
    path = os.path.join(workspace.root, entry)
    if os.path.islink(path):
        yield entry, f"`{entry}` is a symbolic link, and links are not followed"
    elif os.path.isfile(path):
        yield os.path.normpath(entry).replace(os.sep, "/"), ""
    elif not os.path.isdir(path):
        exists = os.path.lexists(path)
        problem = "is not a file or a folder" if exists else "does not exist"
        yield entry, f"`{entry}` {problem}"
    else:
        yield from _walk_folder(workspace, entry)


def _walk_folder(workspace: Workspace, entry: str) -> Iterator[tuple[str, str]]:
    # Other rules check the specs and the outputs, so the scan skips their folders.
    skipped = {*workspace.not_scanned, *workspace.toolset_folders, workspace.output}
    skipped = {os.path.normpath(path).replace(os.sep, "/") for path in skipped}
    pending = [os.path.normpath(entry).replace(os.sep, "/")]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(os.path.join(workspace.root, folder)) as entries:
                children = sorted(entries, key=lambda child: child.name)
        except OSError as error:
            yield folder, f"`{folder}` cannot be read: {error.strerror or error}"
            continue
        for child in children:
            path = child.name if folder == "." else f"{folder}/{child.name}"
            is_hidden = child.name.startswith(".")
            if path in skipped or is_hidden or child.name in _SKIPPED_FOLDERS:
                continue
            if child.is_dir(follow_symlinks=False):
                pending.append(path)
            elif child.is_file(follow_symlinks=False):
                yield path, ""


def _scan_file(
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
    # A null byte near the beginning marks a binary file.
    if pattern is None or not quick.search(data) or b"\0" in data[:8192]:
        return
    yield from _scan_text(path, data.decode("utf-8", "replace"), pattern)


def _scan_text(file: str, text: str, pattern: re.Pattern[str]) -> Iterator[FileMention]:
    searched = blank_code(text) if file.endswith(_CODE) else text
    lines = text.split("\n")
    for name, line, column in find_names_in_lines(searched.split("\n"), pattern):
        yield FileMention(name, file, line, column, lines[line - 1])


def blank_code(text: str) -> str:
    """Return a Python module with spaces in place of all code but strings and comments.

    Positions do not change. The strings of `__all__` are blanked, too: they are names of
    Python objects. A module that cannot be tokenized is returned unchanged.
    """
    lines = text.split("\n")
    output = [[" "] * len(line) for line in lines]
    fstring_starts: list[tuple[int, int]] = []
    is_in_all = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = token.start
            is_in_all = token.type != tokenize.NEWLINE and (
                is_in_all or token.string == "__all__"
            )
            if token.type == _FSTRING_START:
                fstring_starts.append(start)
                continue
            if token.type == _FSTRING_END:
                start = fstring_starts.pop()
            elif token.type not in _TEXT_TOKENS or is_in_all:
                continue
            (first_line, first_column), (last_line, last_column) = start, token.end
            for number in range(first_line, last_line + 1):
                line = lines[number - 1]
                left = first_column if number == first_line else 0
                right = last_column if number == last_line else len(line)
                output[number - 1][left:right] = line[left:right]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return text
    return "\n".join("".join(line) for line in output)


# Fields of a tool's definition that may contain retired names: previous names, handler
# references, and the origin of the file.
_IGNORED_FIELDS = frozenset(["renamed_from", "handler", "generated"])


_WORD_BYTES = b"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BLANKED = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_JSON_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)")


def _split_words(data: bytes) -> list[bytes]:
    """Return the words of a file, to select the files that may mention a name.

    Words after a JSON escape, and after `__` as in a server's prefix, are included. So a
    mentioned name always has its first word in the list, but not every word is a mention.
    """
    # Searched names are found by their first word. It is empty for a name such as `__`, so the
    # empty word is always in the list.
    words = [*data.translate(_BLANKED).split(), b""]
    if b"\\" in data:
        words += _JSON_ESCAPE.sub(b" ", data).translate(_BLANKED).split()
    for word in [word for word in words if b"__" in word]:
        start = word.find(b"__")
        while start >= 0:
            words.append(word[start + 2 :])
            start = word.find(b"__", start + 1)
    return words


def find_mentions_in_outputs(
    toolset: Toolset,
    retired: Mapping[str, str],
    output: str,
    files: Mapping[str, bytes],
) -> Iterator[tuple[FileMention, str]]:
    """Yield each use of a retired name in a toolset's outputs, with a help text.

    The texts of the specs are checked before generation. So a use found here comes from a
    template of the project, from an extension's target, or from data.

    Args:
        toolset: the toolset of the outputs.
        retired: the help text of each retired name.
        output: the output folder.
        files: the content of the generated files by their paths below the output folder.
    """
    # Comparing sets of words needs one pass through the files instead of one per name.
    first_words = {_split_words(name.encode())[0] for name in retired}
    candidates = [
        path
        for path in files
        if path.startswith(f"{toolset.name}/")
        and not first_words.isdisjoint(_split_words(files[path]))
    ]
    # Names in `deny` and `exclusions` are correct in outputs, which repeat these lists.
    forbidden = {name for client in toolset.clients for name in client.deny}
    forbidden |= {exclusion.tool for exclusion in toolset.exclusions}
    names = retired.keys() - collect_other_names(toolset) - forbidden
    pattern = compile_mention_pattern(names)
    if pattern is None:
        return
    for path in candidates:
        scan = _scan_definitions if path.endswith(".json") else _scan_text
        for mention in scan(f"{output}/{path}", files[path].decode(), pattern):
            yield mention, retired[mention.name]


def _scan_definitions(
    file: str, text: str, pattern: re.Pattern[str]
) -> Iterator[FileMention]:
    """Yield the first use of each retired name in a JSON file.

    Names are found in the parsed texts, because a definition lists its tool's previous names.
    """
    lines = text.split("\n")
    names = {
        mention.name
        for string in _list_definition_texts(text)
        for mention in find_mentions(string, pattern)
    }
    for name in sorted(names):
        index = next(
            (i for i, line in enumerate(lines) if _may_contain(line, name)),
            len(lines) - 1,
        )
        column = lines[index].find(name) + 1
        yield FileMention(name, file, index + 1, max(column, 1), lines[index])


def _may_contain(line: str, name: str) -> bool:
    is_ignored = any(f'"{key}":' in line for key in _IGNORED_FIELDS)
    return name in line and not is_ignored


def _list_definition_texts(text: str) -> Iterator[str]:
    content: Any = json.loads(text)
    if isinstance(content, dict):
        content = {
            key: value for key, value in content.items() if key not in _IGNORED_FIELDS
        }
    for string in walk_strings(content, ()):
        if not string.is_key:
            yield string.text
