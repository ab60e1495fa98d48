"""Syntax trees and name bindings of Python modules, which are parsed but never imported."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

MAX_MODULE_BYTES = 2 * 1024 * 1024
_MAX_EXPRESSION_CHARACTERS = 60
"""The maximum length of an expression in a message."""

PLACEHOLDER = "\x00"
"""Character for an unknown part of a string, such as a value in an f-string."""

FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef


class ImportedName(NamedTuple):
    """The source of a name that an import binds.

    Attributes:
        module: the absolute dotted name of the module.
        name: the name in the module; None for the module itself.
    """

    module: str
    name: str | None = None

    @property
    def dotted(self) -> str:
        """The dotted name of the module, followed by the name in it, if any."""
        return self.module if self.name is None else f"{self.module}.{self.name}"


class Binding(NamedTuple):
    """A binding of a name by a statement or expression.

    Attributes:
        line: the line of the binding.
        value: the definition, the import or the assigned expression; None if the source
            does not show the value: an item of a loop, a part of a tuple, a `global`
            name.
    """

    line: int
    value: FunctionDefinition | ast.ClassDef | ImportedName | ast.expr | None


class Bindings(dict[str, list[Binding]]):
    """All bindings of each name in a scope, in source order.

    The properties contain the last function, class or value that is bound to each name.
    """

    @cached_property
    def functions(self) -> Mapping[str, FunctionDefinition]:
        """The last function that is bound to each name."""
        return {k: v for k, v in self._values() if isinstance(v, FunctionDefinition)}

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The last class that is bound to each name."""
        return {k: v for k, v in self._values() if isinstance(v, ast.ClassDef)}

    @cached_property
    def assignments(self) -> Mapping[str, ast.expr]:
        """The last expression that is assigned to each name."""
        return {k: v for k, v in self._values() if isinstance(v, ast.expr)}

    def _values(self) -> Iterator[tuple[str, object]]:
        for name, bindings in self.items():
            for binding in bindings:
                yield name, binding.value


@dataclass(frozen=True)
class PythonModule:
    """A parsed module of the project.

    Attributes:
        name: the dotted name.
        file: the path relative to the workspace's root, with forward slashes.
        problem: the reason why the file cannot be read or parsed; empty if it can.
        source: the content of the file.
        tree: the syntax tree; None if there is a problem.
    """

    name: str
    file: str
    problem: str = ""
    source: bytes = field(default=b"", compare=False, repr=False)
    tree: ast.Module | None = field(default=None, compare=False, repr=False)

    @property
    def is_package(self) -> bool:
        """Whether the file is an `__init__.py` and the module has the name of its folder."""
        is_named_init = self.name.rpartition(".")[2] == "__init__"
        return os.path.basename(self.file) == "__init__.py" and not is_named_init

    def may_contain(self, word: str) -> bool:
        """Return False if the source certainly has no such keyword or identifier.

        In a source with non-ASCII characters, an identifier can be spelled differently: Python
        normalizes identifiers (NFKC).
        """
        return word.encode() in self.source or not self.source.isascii()

    @cached_property
    def bindings(self) -> Bindings:
        """The bindings of the module's names.

        Names that a function declares as `global` have an additional binding without a
        value.
        """
        if self.tree is None:
            return Bindings()
        bindings = collect_bindings(self.tree.body, self)
        for node in ast.walk(self.tree) if self.may_contain("global") else ():
            if isinstance(node, ast.Global):
                for name in node.names:
                    bindings.setdefault(name, []).append(Binding(node.lineno, None))
        return bindings

    @cached_property
    def unconditional_lines(self) -> frozenset[int]:
        """The first lines of top-level statements that always bind a name."""
        kinds = (
            FunctionDefinition,
            ast.ClassDef,
            ast.Assign,
            ast.AnnAssign,
            ast.Import,
            ast.ImportFrom,
        )
        body = self.tree.body if self.tree is not None else []
        return frozenset(node.lineno for node in body if isinstance(node, kinds))


def read_module(root: str, sources: tuple[str, ...], name: str) -> PythonModule | None:
    """Return the parsed module with a dotted name; None if no source folder has it.

    A file that cannot be parsed is returned with its problem. A file outside the root,
    reached by a symbolic link, is treated as missing.

    Args:
        root: the workspace's root.
        sources: the source folders, relative to the root.
        name: the dotted name.
    """
    real_root = os.path.realpath(root)
    for source in sources:
        stem = os.path.normpath(os.path.join(source, *name.split(".")))
        # A package has priority over a module of the same name, as in Python's import
        # system.
        for file in (os.path.join(stem, "__init__.py"), f"{stem}.py"):
            real_path = os.path.realpath(os.path.join(root, file))
            if not os.path.exists(real_path) or os.path.isdir(real_path):
                continue
            if os.path.commonpath([real_root, real_path]) != real_root:
                continue
            status = os.stat(real_path)
            relative = file.replace(os.sep, "/")
            return _parse_module(
                real_path, name, relative, status.st_mtime_ns, status.st_size
            )
    return None


def read_text(root: str, path: str) -> str | None:
    """Return the text of a regular file below the root; None if there is no such file.

    Bytes that are not UTF-8 are replaced. A symbolic link must not lead outside the
    root.
    """
    real_root = os.path.realpath(root)
    real_path = os.path.realpath(os.path.join(root, path))
    try:
        if os.path.commonpath([real_root, real_path]) != real_root:
            return None
        return read_regular_file(real_path, MAX_MODULE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def read_referenced_file(
    root: str, sources: tuple[str, ...], file: str, path: str
) -> str:
    """Return the text of a file that a module names by a path; "" if it is not found.

    The path is resolved against the module's folder, the root and the source folders, in this
    order.

    Args:
        root: the workspace's root.
        sources: the source folders, relative to the root.
        file: the module's file, relative to the root.
        path: the path in the module, possibly with a `PLACEHOLDER`.
    """
    # The unknown beginning is usually the folder of the module, as in
    # `Path(__file__).parent / "a.sql"`.
    known_part = path.rpartition(PLACEHOLDER)[2].lstrip("/")
    for folder in (os.path.dirname(file), "", *sources):
        text = read_text(root, os.path.join(folder, known_part))
        if text is not None:
            return text
    return ""


@lru_cache(maxsize=1024)
def _parse_module(
    path: str, name: str, file: str, modified: int, size: int
) -> PythonModule:
    """Parse a file; return its problem if that fails.

    `modified` and `size` make the cache read a changed file again.
    """
    if size > MAX_MODULE_BYTES:
        return PythonModule(name, file, f"the file has {size:,} bytes")
    try:
        data = read_regular_file(path, MAX_MODULE_BYTES)
        # The user's code can cause a SyntaxWarning (an invalid escape sequence), which
        # would be printed.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except SyntaxError as error:
        location = f" on line {error.lineno}" if error.lineno else ""
        return PythonModule(name, file, f"{error.msg}{location}")
    except OSError as error:
        return PythonModule(name, file, error.strerror or type(error).__name__)
    except (ValueError, RecursionError, MemoryError) as error:
        return PythonModule(name, file, str(error) or "the module is too complex")
    return PythonModule(name, file, source=data, tree=tree)


def collect_bindings(body: list[ast.stmt], module: PythonModule) -> Bindings:
    """Return the bindings of a scope's names, in source order.

    Conditional bindings and those in loops are included; an import of all names is
    listed under `*`. Bindings by `global` in nested functions are not included.
    """
    bindings = Bindings()
    for node in _walk_scope(body):
        for name, binding in _list_bindings(node, module):
            bindings.setdefault(name, []).append(binding)
    return bindings


def collect_imports(
    nodes: Iterable[ast.AST], module: PythonModule
) -> dict[str, ImportedName]:
    """Return the source of each name that import statements among the nodes bind.

    `from x import *` is listed under `*x`.
    """
    imports: dict[str, ImportedName] = {}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, imported in _list_imported_names(node, module):
                imports[f"*{imported.module}" if name == "*" else name] = imported
    return imports


def list_imports(module: PythonModule) -> Iterator[tuple[ast.stmt, ImportedName]]:
    """Yield each import of a module, in any scope, with its statement.

    Imports in the body of a `try` with handlers are omitted: the code expects that they
    can fail.
    """
    body = module.tree.body if module.tree is not None else []
    pending: list[ast.AST] = [*body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, ImportedName(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for _, imported in _list_imported_names(node, module):
                yield node, imported
        elif isinstance(node, ast.Try) and node.handlers:
            pending += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            pending += _list_nested_statements(node)


def _list_nested_statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements and branches directly inside a compound statement."""
    for attribute in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, attribute, ())


def _walk_scope(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of a scope in source order.

    Of nested functions and classes, only the header is in the scope.
    """
    # A loop instead of recursion, because deeply nested code would exceed the recursion
    # limit.
    pending: list[ast.AST] = [*reversed(body)]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(_list_children_in_scope(node))))


def _list_children_in_scope(node: ast.AST) -> Iterable[ast.AST]:
    """Return the child nodes that are evaluated in the same scope as the node."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, FunctionDefinition):
        header = [*node.decorator_list, node.args]
        return header if node.returns is None else [*header, node.returns]
    if isinstance(node, ast.Lambda):
        return [node.args]
    return ast.iter_child_nodes(node)


# `type X = ...` exists since Python 3.12.
_TYPE_ALIAS: Any = getattr(ast, "TypeAlias", ())


def _list_bindings(
    node: ast.AST, module: PythonModule
) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, (FunctionDefinition, ast.ClassDef)):
        yield node.name, Binding(node.lineno, node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for name, imported in _list_imported_names(node, module):
            yield name, Binding(node.lineno, imported)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        # `x: int` without a value binds nothing.
        if node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, Binding(node.lineno, node.value)
                else:
                    yield from _list_unknown_bindings(target)
    elif isinstance(node, _TYPE_ALIAS):
        yield node.name.id, Binding(node.lineno, node.value)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.AugAssign)):
        yield from _list_unknown_bindings(node.target)
    elif isinstance(node, ast.withitem):
        if node.optional_vars is not None:
            yield from _list_unknown_bindings(node.optional_vars)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
        if node.name is not None:
            yield node.name, Binding(node.lineno, None)
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest, Binding(node.lineno, None)


def _list_unknown_bindings(target: ast.expr) -> Iterator[tuple[str, Binding]]:
    """Yield the names that a target binds to values that the source does not show."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, Binding(node.lineno, None)


def _list_imported_names(
    node: ast.Import | ast.ImportFrom, module: PythonModule
) -> Iterator[tuple[str, ImportedName]]:
    """Yield each name that an import binds, with its source.

    The name is `*` for an import of all names.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds the name `a`; `import a.b as c` binds the name `c` to
            # `a.b`.
            source = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or source, ImportedName(source)
        return
    source = node.module or ""
    if node.level:
        parts = module.name.split(".")
        # In an `__init__.py`, the first dot is the package itself.
        up = node.level - 1 if module.is_package else node.level
        base = parts[: max(len(parts) - up, 0)]
        source = ".".join([*base, *([source] if source else [])])
    for alias in node.names:
        is_star = alias.name == "*"
        yield alias.asname or alias.name, ImportedName(
            source, None if is_star else alias.name
        )


def list_returned_values(function: FunctionDefinition) -> Iterator[ast.expr]:
    """Yield the values of a function's `return` statements, not of nested functions."""
    for node in walk_function(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def walk_function(function: FunctionDefinition) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, in no particular order.

    Nested functions and classes are yielded, but not the nodes inside them.
    """
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (FunctionDefinition, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def get_last_name(node: ast.expr) -> str:
    """Return the last name of an expression such as `a.b.c`.

    Empty for an expression that does not end with a name.
    """
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def list_arguments(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call: the positional ones, then the values of keywords."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def format_expression(node: ast.AST) -> str:
    """Return an expression's source on one line, shortened for a message."""
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "..."
    if len(text) <= _MAX_EXPRESSION_CHARACTERS:
        return text
    return f"{text[: _MAX_EXPRESSION_CHARACTERS - 3]}..."
