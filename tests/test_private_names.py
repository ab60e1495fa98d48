"""Private names: no distribution uses a private name of another package."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.module_graph import DISTRIBUTIONS, load_modules, parse_source

# Documented names that begin with `_`: functions of modules, and attributes of named tuples
# and of syntax tree nodes.
PUBLIC = {"os._exit", "sys._getframe"}
PUBLIC_ATTRIBUTES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
# No public module parses a regular expression.
EXCEPTIONS = {"re._constants", "re._parser"}
NO_PUBLIC_NAME = {
    # mcp 2.3: only the connection outlives a request, and only it knows the client's log level.
    "context.session._connection",
    # FastMCP 4.2: the server's lifespan function.
    "getattr(target, '_lifespan', getattr(settings, 'lifespan', None))",
    "found.server._lifespan",
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


@cache
def find_own_names(source: ast.Module) -> set[str]:
    """Return the private names that a module and its classes define."""
    names = set[str]()
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            names.add(node.attr)
    return {name for name in names if is_private(name)}


def find_foreign_imports(source: ast.Module, own: str) -> dict[str, str]:
    """Return the imports from other packages: the full name by the local name."""
    imports = dict[str, str]()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imports[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return {name: path for name, path in imports.items() if _root(path) != own}


def find_uses(
    source: ast.Module, own: str, inherited: Collection[str] = ()
) -> Iterator[str]:
    """Yield `line: expression` for each private name of another package.

    An attribute is foreign if its object is imported from another package, or if the module
    does not define the name. Attributes of `self` may be inherited.
    """
    foreign = find_foreign_imports(source, own)
    names = find_own_names(source)
    for node in ast.walk(source):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for path in _list_imported_names(node):
                is_foreign = _root(path) != own and path not in EXCEPTIONS
                if is_foreign and any(map(is_private, path.split("."))):
                    yield f"{node.lineno}: import of {path}"
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            expression = ast.unparse(node)
            root = foreign.get(expression.partition(".")[0])
            is_public = (
                expression in PUBLIC | NO_PUBLIC_NAME or node.attr in PUBLIC_ATTRIBUTES
            )
            is_inherited = expression == f"self.{node.attr}" and node.attr in inherited
            if not is_public and (root or not (node.attr in names or is_inherited)):
                yield f"{node.lineno}: {expression}"
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "hasattr", "delattr")
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Constant)
            and is_private(str(node.args[1].value))
            and node.args[1].value not in names
            and ast.unparse(node) not in NO_PUBLIC_NAME
        ):
            yield f"{node.lineno}: {ast.unparse(node)}"


def _list_imported_names(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the dotted names of absolute imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _root(path: str) -> str:
    return path.partition(".")[0]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_no_module_uses_a_private_name_from_another_package(
    distribution: str,
) -> None:
    modules = load_modules()
    own = [each for each in modules.values() if each.distribution == distribution]
    assert own
    violations = [
        f"{each.file.relative_to(Path(__file__).parents[1])}:{use}"
        for each in own
        for use in find_uses(
            parse_source(each.file),
            distribution,
            {
                name
                for imported in each.imports & modules.keys()
                for name in find_own_names(parse_source(modules[imported].file))
            },
        )
    ]
    assert not violations, "\n".join(violations)
