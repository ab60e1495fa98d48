"""Files are opened for writing, and deleted, in one module of each distribution that does it.

So is the reading of files by their paths, which must not wait for a pipe. The modules of the
three distributions are read, and each way around those modules is found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from tests.module_graph import DISTRIBUTIONS, parse_source

WRITERS = {"toolcast_runtime/core/safe_folder.py"}
READER = "toolcast_runtime/core/safe_file.py"
# Through importlib, which also reads out of an archive.
OTHER_READERS = {
    "toolcast_runtime/core/definitions/definitions.py",
    "toolcast_runtime/external/listing.py",
    "toolcast_runtime/resources/mcp_definitions.py",
    "toolcast/commands/init/init.py",
}
ELSEWHERE = {
    # SQLite opens its file itself, which the runtime's writer has made.
    ("toolcast_runtime/ledger/sqlite_ledger.py", "sqlite3.connect"),
    # The terminal that a person sits at, by the name that it has for every process.
    ("toolcast_runtime/cli/terminal.py", "os.open"),
    # The file that takes everything, and has nothing.
    ("toolcast/commands/generate/server_process.py", "os.open"),
    ("toolcast_runtime/stdio/process.py", "os.open"),
    # An archive is put together in memory.
    ("toolcast/commands/package.py", "import zipfile"),
    # Servers whose calls are compared run in temporary folders.
    ("toolcast/mcp_client/recorded_calls.py", "import shutil"),
    ("toolcast/mcp_client/recorded_calls.py", "import tempfile"),
    ("toolcast/mcp_client/recorded_calls.py", "os.mkdir"),
    # `check --preflight` builds the project's wheel from a copy in a temporary folder.
    ("toolcast/wheel_contents.py", "import shutil"),
    ("toolcast/wheel_contents.py", "import tempfile"),
    ("toolcast/wheel_contents.py", "import zipfile"),
}

OF_OS = frozenset(
    "chmod chown lchmod lchown link makedirs mkdir mkfifo mknod remove removedirs rename"
    " renames replace rmdir symlink truncate unlink utime open popen system".split()
)
# Methods of pathlib and of streams; those of `Folder` have other names.
METHODS = frozenset(
    "chmod hardlink_to lchmod mkdir open_file rename rmdir symlink_to touch truncate"
    " unlink write_bytes write_text extractall FileHandler RotatingFileHandler"
    " TimedRotatingFileHandler WatchedFileHandler FileIO File NamedTemporaryFile".split()
)
MODULES = frozenset(
    "bz2 codecs dbm fileinput glob2 gzip lzma mmap pickle shelve shutil tarfile tempfile"
    " zipfile".split()
)
READS = frozenset(["read_bytes", "read_text"])


@cache
def opened() -> dict[str, list[tuple[str, str]]]:
    """What every module of the distributions opens, as `ways` tells it."""
    return {
        path.relative_to(package.parent).as_posix(): list(ways(parse_source(path)))
        for package in DISTRIBUTIONS.values()
        for path in sorted(package.rglob("*.py"))
    }


def ways(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """`write` or `read`, and the words that do it, of everything that opens a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in MODULES:
                    yield "write", f"import {alias.name}"
                if alias.name in ("os", "io", "pathlib", "builtins") and alias.asname:
                    yield "write", f"import {alias.name} as {alias.asname}"
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").partition(".")[0] in MODULES:
                yield "write", f"from {node.module} import"
            names = {alias.name for alias in node.names}
            if node.module in ("os", "io", "posix", "nt") and names & {*OF_OS, "*"}:
                yield "write", f"from {node.module} import {names & OF_OS}"
        elif isinstance(node, ast.Attribute):
            yield from _of_attribute(node)
        elif isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.Name) and node.id in ("open", "__import__"):
            yield ("read" if node.id == "open" else "write"), node.id


def _of_attribute(node: ast.Attribute) -> Iterator[tuple[str, str]]:
    if node.attr not in {*OF_OS, *METHODS, *READS, "connect", "open"}:
        return
    words = ast.unparse(node)
    if isinstance(node.value, ast.Name) and node.value.id == "os":
        if node.attr in OF_OS:
            yield "write", words
    elif node.attr in METHODS or words == "sqlite3.connect":
        yield "write", words
    elif words.startswith("files(__package__)"):
        return  # What a package has with it.
    elif node.attr in READS or words in ("io.open", "builtins.open"):
        yield "read", words


def _of_call(node: ast.Call) -> Iterator[tuple[str, str]]:
    function = node.func
    name = getattr(function, "id", None) or getattr(function, "attr", "")
    if name not in ("getattr", "setattr", "open", "fdopen", "replace"):
        return
    words = ast.unparse(node)
    if name in ("getattr", "setattr") and ast.unparse(node.args[0]) == "os":
        wanted = node.args[1]
        if not isinstance(wanted, ast.Constant) or wanted.value in OF_OS:
            yield "write", words
    if not isinstance(function, ast.Attribute):
        mode = _argument(node, 1, "mode")
        if name == "open" and _may_write(mode):
            yield "write", words
        return
    if name == "open" and ast.unparse(function.value) not in ("os", "webbrowser"):
        yield ("write" if _may_write(_argument(node, 0, "mode")) else "read"), words
    if name == "fdopen" and _may_write(_argument(node, 1, "mode")):
        yield "write", words
    # That of texts takes two arguments, that of dataclasses and times keywords.
    if name == "replace" and len(node.args) == 1 and not node.keywords:
        yield "write", words


def _argument(node: ast.Call, place: int, name: str) -> ast.expr | None:
    if len(node.args) > place:
        return node.args[place]
    return next((word.value for word in node.keywords if word.arg == name), None)


def _may_write(mode: ast.expr | None) -> bool:
    if mode is None:
        return False
    text = mode.value if isinstance(mode, ast.Constant) else "w"
    return not isinstance(text, str) or bool(set(text) & set("wax+"))


def broken(name: str, found_ways: Iterable[tuple[str, str]]) -> list[str]:
    """What a module does that belongs into another one."""
    found = []
    for kind, words in found_ways:
        if name in (*WRITERS, READER) or (name, words) in ELSEWHERE:
            continue
        if kind == "read" and name in OTHER_READERS:
            continue
        found.append(f"{name}: {words}")
    return found


def test_only_the_writers_open_for_writing_and_delete() -> None:
    assert [line for name in opened() for line in broken(name, opened()[name])] == []


def test_the_exceptions_are_needed() -> None:
    there = opened()
    for name in (*WRITERS, READER):
        assert ("write", "os.open") in there[name], name
    for name in OTHER_READERS:
        assert "read" in {kind for kind, _ in there[name]}, name
    for name, words in ELSEWHERE:
        assert ("write", words) in there[name], name


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "open(path, mode)",
        "open(path)",
        "io.open(path, 'x')",
        "builtins.open(path)",
        "Path(path).open('r+')",
        "Path(path).open()",
        "Path(path).write_text('x')",
        "Path(path).write_bytes(b'x')",
        "Path(path).read_text()",
        "Path(path).unlink()",
        "Path(path).rename(other)",
        "Path(path).replace(other)",
        "Path(path).mkdir()",
        "Path(path).rmdir()",
        "Path(path).touch()",
        "Path(path).symlink_to(other)",
        "Path(path).hardlink_to(other)",
        "Path(path).chmod(0o600)",
        "os.open(path, os.O_RDONLY)",
        "os.open(path, flags)",
        "os.unlink(path)",
        "os.remove(path)",
        "os.rename(path, other)",
        "os.replace(path, other)",
        "os.mkdir(path)",
        "os.makedirs(path)",
        "os.rmdir(path)",
        "os.symlink(path, other)",
        "os.link(path, other)",
        "os.truncate(path, 0)",
        "os.chmod(path, 0)",
        "os.mkfifo(path)",
        "remove = os.remove",
        "getattr(os, 'unlink')(path)",
        "getattr(os, name)(path)",
        "os.fdopen(number, 'w')",
        "import shutil",
        "from shutil import rmtree",
        "import tempfile",
        "import zipfile",
        "from os import unlink",
        "from os import *",
        "import os as system",
        "opened = open",
        "logging.FileHandler(path)",
        "sqlite3.connect(path)",
        "click.open_file(path, 'w')",
        "__import__('shutil')",
    ],
)
def test_a_module_that_goes_around_them_is_found(line: str) -> None:
    assert broken("toolcast/planted.py", ways(ast.parse(line))) != []


@pytest.mark.parametrize(
    "line",
    [
        "'a'.replace('a', 'b')",
        "dataclasses.replace(value, name=1)",
        "time.replace(tzinfo=None)",
        "read_regular_file(path, 10)",
        "folder.write('name', b'')",
        "stream.write(b'')",
        "getattr(os, 'O_NOFOLLOW', 0)",
        "os.fdopen(number)",
    ],
)
def test_what_opens_nothing_is_not_found(line: str) -> None:
    assert broken("toolcast/planted.py", ways(ast.parse(line))) == []
