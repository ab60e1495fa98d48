"""What a Python module defines, read from its text; nothing of it is imported or run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from toolcast_runtime.files.regular_file import read_regular

__all__ = [
    "Binding",
    "ClassText",
    "FunctionDefinition",
    "HOLE",
    "Imported",
    "ModuleScope",
    "PythonModule",
    "absolute_module",
    "arguments_of",
    "bindings_of",
    "globals_in",
    "imports_of",
    "last_name",
    "read_module",
    "read_text",
    "returned_by",
    "scope_of",
    "statements_of",
    "values_of",
]


MAX_BYTES = 2 * 1024 * 1024

HOLE = "\x00"
"""A part of a text that is known at run time only: the holes of an f-string."""

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


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Bound = (
    FunctionDefinition | ast.ClassDef | ast.Import | ast.ImportFrom | ast.expr | None
)


class Binding(NamedTuple):
    """A place that binds a name.

    Attributes:
        line: where.
        bound: the definition, the import, or the expression that is assigned; None for what
            the text does not show: a loop's item, a part of a tuple, a function's `global`.
        name: of an import, what is imported: the module, or the name in it.
    """

    line: int
    bound: Bound
    name: str


def bindings_of(body: list[ast.stmt]) -> dict[str, list[Binding]]:
    """The names that a scope binds, each with its places in the order of the text.

    Those under conditions and in loops are among them, imports of every name under `*`;
    `global` in functions is not.
    """
    found: dict[str, list[Binding]] = {}
    for node in _nodes(body):
        for name, line, bound, source in _of(node):
            found.setdefault(name, []).append(Binding(line, bound, source))
    return found


def globals_in(body: list[ast.stmt]) -> dict[str, list[Binding]]:
    """The names that functions of a module bind in it by `global`."""
    found: dict[str, list[Binding]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Global):
                for name in node.names:
                    found.setdefault(name, []).append(Binding(node.lineno, None, name))
    return found


_Found = tuple[str, int, Bound, str]


def _nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a scope, in the order of the text; of a scope within it the head only."""
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _of(node: ast.AST) -> Iterator[_Found]:
    if isinstance(node, (FunctionDefinition, ast.ClassDef)):
        yield node.name, node.lineno, node, node.name
    elif isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds `a`.
            source = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or source, node.lineno, node, source
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, node.lineno, node, alias.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.lineno, node.value, target.id
                else:
                    yield from _parts(target)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.AugAssign)):
        yield from _parts(node.target)
    elif isinstance(node, ast.withitem):
        if node.optional_vars is not None:
            yield from _parts(node.optional_vars)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
        if node.name is not None:
            yield node.name, node.lineno, None, node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest, node.lineno, None, node.rest


def _parts(target: ast.expr) -> Iterator[_Found]:
    """The names that get a part of a value, or one that is known when it runs only."""
    for inner in ast.walk(target):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id, inner.lineno, None, inner.id


class Imported(NamedTuple):
    """What an import binds a name to.

    Attributes:
        module: the absolute dotted name.
        name: the name within it; None for the module itself.
    """

    module: str
    name: str | None = None


class ClassText(NamedTuple):
    """A class in the source text.

    Attributes:
        functions: its methods by name.
        values: what its attributes are assigned: in its body, or to `self` in a method.
        bases: the expressions of its bases.
    """

    name: str
    functions: Mapping[str, FunctionDefinition]
    values: Mapping[str, ast.expr]
    bases: tuple[ast.expr, ...]


@dataclass(frozen=True)
class ModuleScope:
    """One module.

    Attributes:
        name: its dotted name.
        file: its path relative to the workspace's root.
        functions: its own functions.
        classes: its own classes.
        values: its own assigned names; the last assignment counts.
        imports: the names that it imports.
        stars: the modules of which it imports every name.
        is_package: it is an `__init__.py`.
    """

    name: str
    file: str
    functions: Mapping[str, FunctionDefinition] = field(default_factory=dict)
    classes: Mapping[str, ClassText] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    imports: Mapping[str, Imported] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    is_package: bool = False


def scope_of(name: str, module: PythonModule) -> ModuleScope:
    """The scope of a module that was read under a dotted name."""
    if module.tree is None:
        return ModuleScope(name, module.file)
    body = list(statements_of(module.tree.body))
    is_package = module.file.endswith("__init__.py")
    imports = imports_of(body, name, is_package)
    stars = tuple(one.module for key, one in imports.items() if key.startswith("*"))
    return ModuleScope(
        name,
        module.file,
        module.functions,
        {one.name: _class(one) for one in body if isinstance(one, ast.ClassDef)},
        values_of(body),
        {key: one for key, one in imports.items() if not key.startswith("*")},
        stars,
        is_package,
    )


def imports_of(
    nodes: Iterable[ast.AST], module: str, is_package: bool
) -> dict[str, Imported]:
    """The names that import statements among the nodes bind.

    `from x import *` is there under `*` and the module's name.
    """
    found: dict[str, Imported] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = Imported(alias.name)
                else:
                    # `import a.b` binds `a`.
                    first = alias.name.partition(".")[0]
                    found[first] = Imported(first)
        elif isinstance(node, ast.ImportFrom):
            source = absolute_module(node, module, is_package)
            for alias in node.names:
                if alias.name == "*":
                    found[f"*{source}"] = Imported(source)
                else:
                    found[alias.asname or alias.name] = Imported(source, alias.name)
    return found


def absolute_module(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - 1 if is_package else node.level
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([node.module] if node.module else [])])


def values_of(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """What the statements assign to names; the last assignment counts."""
    values: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = statement.value
        elif (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.value is not None
        ):
            values[statement.target.id] = statement.value
    return values


def _class(node: ast.ClassDef) -> ClassText:
    body = list(statements_of(node.body))
    functions = {one.name: one for one in body if isinstance(one, FunctionDefinition)}
    values = values_of(body)
    for function in functions.values():
        for inner in ast.walk(function):
            if not isinstance(inner, ast.Assign):
                continue
            for target in inner.targets:
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                ):
                    values.setdefault(target.attr, inner.value)
    return ClassText(node.name, functions, values, tuple(node.bases))
