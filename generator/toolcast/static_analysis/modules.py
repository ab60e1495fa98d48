"""Python modules, read from their text: what binds which name; nothing is imported or run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

MAX_MODULE_BYTES = 2 * 1024 * 1024

PLACEHOLDER = "\x00"
"""A part of a text that is known at run time only: the holes of an f-string."""

FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef


class ImportedName(NamedTuple):
    """What an import binds a name to.

    Attributes:
        module: the absolute dotted name.
        name: the name within it; None for the module itself.
    """

    module: str
    name: str | None = None

    @property
    def dotted(self) -> str:
        """Both in one."""
        return self.module if self.name is None else f"{self.module}.{self.name}"


class Binding(NamedTuple):
    """A place that binds a name.

    Attributes:
        line: where.
        value: the definition, what is imported, or the expression that is assigned; None for
            what the text does not show: a loop's item, a part of a tuple, a function's
            `global`.
    """

    line: int
    value: FunctionDefinition | ast.ClassDef | ImportedName | ast.expr | None


class Bindings(dict[str, list[Binding]]):
    """The names of a scope, each with every place that binds it.

    Of the functions, classes and values of a name the last one counts.
    """

    @cached_property
    def functions(self) -> Mapping[str, FunctionDefinition]:
        """The functions that are defined."""
        return {k: v for k, v in self._bound() if isinstance(v, FunctionDefinition)}

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The classes that are defined."""
        return {k: v for k, v in self._bound() if isinstance(v, ast.ClassDef)}

    @cached_property
    def assignments(self) -> Mapping[str, ast.expr]:
        """What is assigned to names."""
        return {k: v for k, v in self._bound() if isinstance(v, ast.expr)}

    def _bound(self) -> Iterator[tuple[str, object]]:
        return ((name, one.value) for name, places in self.items() for one in places)


@dataclass(frozen=True)
class PythonModule:
    """One module.

    Attributes:
        name: its dotted name.
        file: path relative to the workspace's root, with forward slashes.
        problem: why it cannot be read; empty when it can.
        source: its text, as the file has it.
        tree: its syntax tree; None when it cannot be read.
    """

    name: str
    file: str
    problem: str = ""
    source: bytes = field(default=b"", compare=False, repr=False)
    tree: ast.Module | None = field(default=None, compare=False, repr=False)

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__.py`, imported by the name of its folder."""
        is_named = self.name.rpartition(".")[2] == "__init__"
        return os.path.basename(self.file) == "__init__.py" and not is_named

    def may_contain(self, word: str) -> bool:
        """False only where no keyword and no name is this one; others' letters may be as it."""
        return word.encode() in self.source or not self.source.isascii()

    @cached_property
    def bindings(self) -> Bindings:
        """Its names, each with every place that binds it, those in functions by `global`."""
        if self.tree is None:
            return Bindings()
        found = collect_bindings(self.tree.body, self)
        for node in ast.walk(self.tree) if self.may_contain("global") else ():
            if isinstance(node, ast.Global):
                for name in node.names:
                    found.setdefault(name, []).append(Binding(node.lineno, None))
        return found

    @cached_property
    def always_bound(self) -> frozenset[int]:
        """The lines of what binds a name under no condition."""
        kinds = (FunctionDefinition, ast.ClassDef, ast.Assign, ast.AnnAssign)
        always = (*kinds, ast.Import, ast.ImportFrom)
        body = self.tree.body if self.tree is not None else []
        return frozenset(one.lineno for one in body if isinstance(one, always))


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
            return _read(real, name, shown, status.st_mtime_ns, status.st_size)
    return None


def read_text(root: str, path: str) -> str | None:
    """The text of a regular file below the root; None for anything else."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(root, path))
    try:
        if os.path.commonpath([real_root, real]) != real_root:
            return None
        return read_regular_file(real, MAX_MODULE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def read_referenced_file(
    root: str, sources: tuple[str, ...], file: str, path: str
) -> str:
    """The text of a file that a module names; empty when the project does not have it.

    It is looked for beside the module, at the workspace's root and below its sources.
    """
    # What is known when it runs only is the folder, as a rule that of the module.
    known = path.rpartition(PLACEHOLDER)[2].lstrip("/")
    for folder in (os.path.dirname(file), "", *sources):
        text = read_text(root, os.path.join(folder, known))
        if text is not None:
            return text
    return ""


@lru_cache(maxsize=1024)
def _read(path: str, name: str, file: str, changed: int, size: int) -> PythonModule:
    """Parses a file; `changed` and `size` are part of the cache's key."""
    if size > MAX_MODULE_BYTES:
        return PythonModule(name, file, f"the file has {size:,} bytes")
    try:
        data = read_regular_file(path, MAX_MODULE_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except SyntaxError as error:
        where = f" on line {error.lineno}" if error.lineno else ""
        return PythonModule(name, file, f"{error.msg}{where}")
    except OSError as error:
        return PythonModule(name, file, error.strerror or type(error).__name__)
    except (ValueError, RecursionError, MemoryError) as error:
        return PythonModule(name, file, str(error) or "the module is too complex")
    return PythonModule(name, file, source=data, tree=tree)


def collect_bindings(body: list[ast.stmt], module: PythonModule) -> Bindings:
    """The names that a scope of a module binds, each with its places in the text's order.

    Those under conditions and in loops are among them, imports of every name under `*`;
    `global` in functions is not.
    """
    found = Bindings()
    for node in _nodes(body):
        for name, binding in _bound_by(node, module):
            found.setdefault(name, []).append(binding)
    return found


def collect_imports(
    nodes: Iterable[ast.AST], module: PythonModule
) -> dict[str, ImportedName]:
    """The names that import statements among the nodes bind.

    `from x import *` is there under `*` and the module's name.
    """
    found: dict[str, ImportedName] = {}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, imported in _imported_by(node, module):
                found[f"*{imported.module}" if name == "*" else name] = imported
    return found


def list_imports(module: PythonModule) -> Iterator[tuple[ast.stmt, ImportedName]]:
    """The imports of a module, wherever they stand, each with its statement.

    One in a `try` with another way is left out.
    """
    body = module.tree.body if module.tree is not None else []
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, ImportedName(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for _, imported in _imported_by(node, module):
                yield node, imported
        elif isinstance(node, ast.Try) and node.handlers:
            waiting += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            waiting += _statements_in(node)


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right in one, and the branches that hold further ones."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, part, ())


def _nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a scope, in the order of the text; of a scope within it the head only."""
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(_within(node))))


def _within(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes that are run where a node stands: of a function those of its head."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, FunctionDefinition):
        head = [*node.decorator_list, node.args]
        return head if node.returns is None else [*head, node.returns]
    if isinstance(node, ast.Lambda):
        return [node.args]
    return ast.iter_child_nodes(node)


def _bound_by(node: ast.AST, module: PythonModule) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, (FunctionDefinition, ast.ClassDef)):
        yield node.name, Binding(node.lineno, node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for name, imported in _imported_by(node, module):
            yield name, Binding(node.lineno, imported)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, Binding(node.lineno, node.value)
                else:
                    yield from _parts(target)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.AugAssign)):
        yield from _parts(node.target)
    elif isinstance(node, ast.withitem):
        if node.optional_vars is not None:
            yield from _parts(node.optional_vars)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
        if node.name is not None:
            yield node.name, Binding(node.lineno, None)
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest, Binding(node.lineno, None)


def _parts(target: ast.expr) -> Iterator[tuple[str, Binding]]:
    """The names that get a part of a value, or one that is known when it runs only."""
    for inner in ast.walk(target):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id, Binding(inner.lineno, None)


def _imported_by(
    node: ast.Import | ast.ImportFrom, module: PythonModule
) -> Iterator[tuple[str, ImportedName]]:
    """The names that an import binds; `*` for every name of a module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds `a`.
            source = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or source, ImportedName(source)
        return
    source = node.module or ""
    if node.level:
        parts = module.name.split(".")
        up = node.level - 1 if module.is_package else node.level
        base = parts[: max(len(parts) - up, 0)]
        source = ".".join([*base, *([source] if source else [])])
    for alias in node.names:
        is_star = alias.name == "*"
        yield alias.asname or alias.name, ImportedName(
            source, None if is_star else alias.name
        )


def list_returned_values(function: FunctionDefinition) -> Iterator[ast.expr]:
    """What the `return`s of a function itself give."""
    for node in walk_function(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def walk_function(function: FunctionDefinition) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes within."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (FunctionDefinition, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def get_last_name(node: ast.expr) -> str:
    """The last of the names of `a.b.c`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def list_arguments(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call is given, in their order."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def format_expression(node: ast.AST) -> str:
    """The text of an expression for a message: one line, cut where it is long."""
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "..."
    return text if len(text) <= 60 else f"{text[:57]}..."
