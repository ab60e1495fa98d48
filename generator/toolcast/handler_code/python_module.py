"""What a Python module defines, read from its text; nothing of it is imported or run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from toolcast_runtime.files.regular_file import read_regular

__all__ = [
    "FunctionDefinition",
    "PythonModule",
    "arguments_of",
    "last_name",
    "read_module",
    "read_text",
    "returned_by",
    "statements_of",
]

MAX_BYTES = 2 * 1024 * 1024

FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class PythonModule:
    """One module.

    Attributes:
        file: path relative to the workspace's root, with forward slashes.
        functions: its own functions by name; the last definition counts.
        problem: why it cannot be read; empty when it can.
        has_globals: the word `global` stands in it.
        tree: its syntax tree; None when it cannot be read.
    """

    file: str
    functions: Mapping[str, FunctionDefinition] = field(default_factory=dict)
    problem: str = ""
    has_globals: bool = False
    tree: ast.Module | None = field(default=None, compare=False, repr=False)


def read_module(root: str, sources: tuple[str, ...], name: str) -> PythonModule | None:
    """The module of a dotted name; None when no source folder below the root has it.

    A file that lies outside of the root, by a symbolic link, is not there.
    """
    real_root = os.path.realpath(root)
    for source in sources:
        stem = os.path.normpath(os.path.join(source, *name.split(".")))
        for file in (os.path.join(stem, "__init__.py"), f"{stem}.py"):
            real = os.path.realpath(os.path.join(root, file))
            if not os.path.exists(real) or os.path.isdir(real):
                continue
            if os.path.commonpath([real_root, real]) != real_root:
                continue
            status = os.stat(real)
            shown = file.replace(os.sep, "/")
            return _read(real, shown, status.st_mtime_ns, status.st_size)
    return None


def read_text(root: str, path: str) -> str | None:
    """The text of a regular file below the root; None for anything else."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(root, path))
    try:
        if os.path.commonpath([real_root, real]) != real_root:
            return None
        return read_regular(real, MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _read(path: str, file: str, changed: int, size: int) -> PythonModule:
    """Parses a file; `changed` and `size` are part of the cache's key."""
    if size > MAX_BYTES:
        return PythonModule(file, problem=f"the file has {size:,} bytes")
    try:
        data = read_regular(path, MAX_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except SyntaxError as error:
        where = f" on line {error.lineno}" if error.lineno else ""
        return PythonModule(file, problem=f"{error.msg}{where}")
    except OSError as error:
        return PythonModule(file, problem=error.strerror or type(error).__name__)
    except (ValueError, RecursionError, MemoryError) as error:
        return PythonModule(file, problem=str(error) or "the module is too complex")
    functions = {
        one.name: one
        for one in statements_of(tree.body)
        if isinstance(one, FunctionDefinition)
    }
    return PythonModule(file, functions, has_globals=b"global" in data, tree=tree)


def statements_of(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope itself, those under `if`, `try` and `with` among them."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from statements_of([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            handled = [one for handler in statement.handlers for one in handler.body]
            inner = [*statement.body, *handled, *statement.orelse, *statement.finalbody]
            yield from statements_of(inner)
        elif isinstance(statement, ast.With):
            yield from statements_of(statement.body)
        else:
            yield statement


def returned_by(function: FunctionDefinition) -> Iterator[ast.expr]:
    """What the `return`s of a function itself give."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif not isinstance(node, (FunctionDefinition, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def last_name(node: ast.expr) -> str:
    """The last of the names of `a.b.c`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call is given, in their order."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]
