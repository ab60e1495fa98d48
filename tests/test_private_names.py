"""The distributions use public names of other packages alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.module_graph import DISTRIBUTIONS, load_modules, parse_source

# Documented, although their names begin so: those of modules, and what named tuples and
# nodes of syntax trees have.
PUBLIC = {"os._exit", "sys._getframe"}
PUBLIC_ATTRIBUTES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
# Nothing public parses a regular expression.
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
def own_names(source: ast.Module) -> set[str]:
    """The private names that a module and its classes have."""
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


def foreign_names(source: ast.Module, own: str) -> dict[str, str]:
    """What a module imports from other packages, by the names that it has here."""
    found = dict[str, str]()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return {name: path for name, path in found.items() if _top(path) != own}


def private_uses(
    source: ast.Module, own: str, inherited: Collection[str] = ()
) -> Iterator[str]:
    """`line: what` for each private name of another package that a module uses.

    An attribute is another package's when the object comes from one, or when nothing in the
    module has an attribute of that name. One of `self` may be inherited.
    """
    foreign = foreign_names(source, own)
    names = own_names(source)
    for node in ast.walk(source):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for path in _imported(node):
                is_foreign = _top(path) != own and path not in EXCEPTIONS
                if is_foreign and any(map(is_private, path.split("."))):
                    yield f"{node.lineno}: import of {path}"
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            whole = ast.unparse(node)
            root = foreign.get(whole.partition(".")[0])
            is_public = (
                whole in PUBLIC | NO_PUBLIC_NAME or node.attr in PUBLIC_ATTRIBUTES
            )
            is_inherited = whole == f"self.{node.attr}" and node.attr in inherited
            if not is_public and (root or not (node.attr in names or is_inherited)):
                yield f"{node.lineno}: {whole}"
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


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The dotted names that a statement imports from elsewhere."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _top(path: str) -> str:
    return path.partition(".")[0]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_no_private_name_of_another_package_is_used(distribution: str) -> None:
    every = load_modules()
    own = [each for each in every.values() if each.distribution == distribution]
    assert own
    wrong = [
        f"{each.file.relative_to(Path(__file__).parents[1])}:{use}"
        for each in own
        for use in private_uses(
            parse_source(each.file),
            distribution,
            {
                name
                for imported in each.imports & every.keys()
                for name in own_names(parse_source(every[imported].file))
            },
        )
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nasyncio.tasks._enter_task(1, 2)",
        "from asyncio import tasks\ntasks._enter_task(1, 2)",
        "from mcp.server import runner as r\nr._serve_modern_stream()",
        "from mcp.server.runner import _serve_modern_stream",
        "from mcp.client._transport import TransportStreams",
        "import mcp.shared._otel",
        "import mcp.shared._otel as spans",
        "def f(loop):\n    return loop._selector",
        "def f(process):\n    return getattr(process, '_transport', None)",
        "import asyncio\nasyncio._own",
        # A name of another module's class makes no foreign one our own.
        "def f(thing):\n    return thing._inherited",
    ],
)
def test_a_private_use_is_found(text: str) -> None:
    assert list(private_uses(ast.parse(text), "toolcast_runtime", {"_inherited"}))


@pytest.mark.parametrize(
    "text",
    [
        "class A(Base):\n    def f(self):\n        return self._inherited",
        "class A:\n    _own = 1\ndef f(thing):\n    return thing._own",
        "import os\nos._exit(0)",
        "from toolcast_runtime.core.calls import _own",
        "from ._own import thing",
        "from __future__ import annotations",
        "def f(function):\n    return function.__wrapped__",
    ],
)
def test_an_own_or_documented_name_is_no_private_use(text: str) -> None:
    assert not list(private_uses(ast.parse(text), "toolcast_runtime", {"_inherited"}))
