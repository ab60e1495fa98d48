"""What binds a name in a module: every place in its scope, not merely the last one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .python_module import FunctionDefinition

__all__ = ["Binding", "bindings_of", "globals_in"]

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
