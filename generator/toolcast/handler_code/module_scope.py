"""The names in the scope of a module, and what each of them is in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .python_module import FunctionDefinition, PythonModule, statements_of

__all__ = [
    "ClassText",
    "Imported",
    "ModuleScope",
    "absolute_module",
    "imports_of",
    "scope_of",
    "values_of",
]


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
