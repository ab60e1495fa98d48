"""File access rule: only `safe_folder` writes and deletes, only `safe_file` reads paths.

Reading through `safe_file` never blocks on a pipe. The source of all three distributions is
searched for other ways to open, change or delete a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from tests.module_graph import DISTRIBUTIONS, parse_source

WRITERS = {"toolcast_runtime/core/safe_folder.py"}
READER = "toolcast_runtime/core/safe_file.py"
# They read package data through importlib, which also works in an archive.
OTHER_READERS = {
    "toolcast_runtime/core/definitions/definitions.py",
    "toolcast_runtime/external/listing.py",
    "toolcast_runtime/resources/mcp_definitions.py",
    "toolcast/commands/init/init.py",
}
EXCEPTIONS = {
    # SQLite opens the database itself, after `safe_folder` has created the file.
    ("toolcast_runtime/ledger/sqlite_ledger.py", "sqlite3.connect"),
    # Opens the controlling terminal, /dev/tty.
    ("toolcast_runtime/cli/terminal.py", "os.open"),
    # Opens /dev/null.
    ("toolcast/commands/generate/server_process.py", "os.open"),
    ("toolcast_runtime/stdio/process.py", "os.open"),
    ("toolcast_runtime/mcp/server_options.py", "os.open"),
    # Builds an archive in memory.
    ("toolcast/commands/package.py", "import zipfile"),
    # Runs the compared servers in temporary folders.
    ("toolcast/mcp_client/recorded_calls.py", "import shutil"),
    ("toolcast/mcp_client/recorded_calls.py", "import tempfile"),
    ("toolcast/mcp_client/recorded_calls.py", "os.mkdir"),
    # Builds the wheel for `check --preflight` from a copy in a temporary folder.
    ("toolcast/wheel_contents.py", "import shutil"),
    ("toolcast/wheel_contents.py", "import tempfile"),
    ("toolcast/wheel_contents.py", "import zipfile"),
}

OS_NAMES = frozenset(
    "chmod chown lchmod lchown link makedirs mkdir mkfifo mknod remove removedirs rename"
    " renames replace rmdir symlink truncate unlink utime open popen system".split()
)
# Methods of pathlib and of streams; no method of `Folder` has one of these names.
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
def list_accesses() -> dict[str, list[tuple[str, str]]]:
    """Return the file accesses in each module of the distributions, by its path."""
    return {
        path.relative_to(package.parent).as_posix(): [*find_access(parse_source(path))]
        for package in DISTRIBUTIONS.values()
        for path in sorted(package.rglob("*.py"))
    }


def find_access(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield `write` or `read`, and the expression, for each file access in a module."""
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
            if node.module in ("os", "io", "posix", "nt") and names & {*OS_NAMES, "*"}:
                yield "write", f"from {node.module} import {names & OS_NAMES}"
        elif isinstance(node, ast.Attribute):
            yield from _find_attribute_access(node)
        elif isinstance(node, ast.Call):
            yield from _find_call_access(node)
        elif isinstance(node, ast.Name) and node.id in ("open", "__import__"):
            yield ("read" if node.id == "open" else "write"), node.id


def _find_attribute_access(node: ast.Attribute) -> Iterator[tuple[str, str]]:
    if node.attr not in {*OS_NAMES, *METHODS, *READS, "connect", "open"}:
        return
    code = ast.unparse(node)
    if isinstance(node.value, ast.Name) and node.value.id == "os":
        if node.attr in OS_NAMES:
            yield "write", code
    elif node.attr in METHODS or code == "sqlite3.connect":
        yield "write", code
    elif code.startswith("files(__package__)"):
        return  # Package data.
    elif node.attr in READS or code in ("io.open", "builtins.open"):
        yield "read", code


def _find_call_access(node: ast.Call) -> Iterator[tuple[str, str]]:
    function = node.func
    name = getattr(function, "id", None) or getattr(function, "attr", "")
    if name not in ("getattr", "setattr", "open", "fdopen", "replace"):
        return
    code = ast.unparse(node)
    if name in ("getattr", "setattr") and ast.unparse(node.args[0]) == "os":
        attribute = node.args[1]
        if not isinstance(attribute, ast.Constant) or attribute.value in OS_NAMES:
            yield "write", code
    if not isinstance(function, ast.Attribute):
        mode = _argument(node, 1, "mode")
        if name == "open" and _may_write(mode):
            yield "write", code
        return
    if name == "open" and ast.unparse(function.value) not in ("os", "webbrowser"):
        yield ("write" if _may_write(_argument(node, 0, "mode")) else "read"), code
    if name == "fdopen" and _may_write(_argument(node, 1, "mode")):
        yield "write", code
    # `str.replace` has two arguments; for dataclasses and times it has keywords.
    if name == "replace" and len(node.args) == 1 and not node.keywords:
        yield "write", code


def _argument(node: ast.Call, index: int, name: str) -> ast.expr | None:
    if len(node.args) > index:
        return node.args[index]
    return next((word.value for word in node.keywords if word.arg == name), None)


def _may_write(mode: ast.expr | None) -> bool:
    if mode is None:
        return False
    text = mode.value if isinstance(mode, ast.Constant) else "w"
    return not isinstance(text, str) or bool(set(text) & set("wax+"))


def find_violations(name: str, accesses: Iterable[tuple[str, str]]) -> list[str]:
    """Return the accesses that the module `name` may not make."""
    violations = []
    for kind, code in accesses:
        if name in (*WRITERS, READER) or (name, code) in EXCEPTIONS:
            continue
        if kind == "read" and name in OTHER_READERS:
            continue
        violations.append(f"{name}: {code}")
    return violations


def test_only_the_listed_modules_open_change_and_delete_files() -> None:
    accesses = list_accesses()
    assert [
        line for name in accesses for line in find_violations(name, accesses[name])
    ] == []


def test_every_module_that_is_allowed_to_access_files_still_does() -> None:
    accesses = list_accesses()
    for name in (*WRITERS, READER):
        assert ("write", "os.open") in accesses[name], name
    for name in OTHER_READERS:
        assert "read" in {kind for kind, _ in accesses[name]}, name
    for name, code in EXCEPTIONS:
        assert ("write", code) in accesses[name], name
