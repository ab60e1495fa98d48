"""The runtime's packages: import direction, no cycles, and their public names."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import toolcast_runtime
from tests.module_graph import load_modules
from tests.test_structure import assert_none

ROOT = Path(toolcast_runtime.__file__).parent
MODULES = {
    ".".join(
        (toolcast_runtime.__name__, *path.relative_to(ROOT).with_suffix("").parts)
    ).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
SERVERS = {"mcp", "stdio", "http", "oauth", "telemetry"}
PARTS = {
    module.split(".")[1]
    for module in MODULES
    if "." in module and module.split(".")[1] not in {"core", "types", *SERVERS}
}
# Packages that only the runtime itself imports have no public names.
INTERNAL = {"core", "stdio", "oauth", "telemetry", "results", "values"}
PUBLIC = sorted(
    name
    for name in MODULES
    if name.count(".") <= 1 and name.rpartition(".")[2] not in INTERNAL
)


def imported(name: str) -> Iterator[str]:
    """The runtime's modules that a module imports, at its top or later, but for types."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.ImportFrom) and node.level:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], node.module or ""])
            for alias in node.names:
                target = f"{base.rstrip('.')}.{alias.name}"
                yield target if target in MODULES else base.rstrip(".")
        else:
            waiting += ast.iter_child_nodes(node)


def test_no_import_leads_back() -> None:
    graph = {name: set(imported(name)) - {name} for name in MODULES}
    # The package itself hands names of its modules on when they are asked for.
    graph[toolcast_runtime.__name__] = set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_packages_of_the_runtime_import_only_what_they_may() -> None:
    """`core` imports no other package, a server package `core` and servers, a part `core`.

    Imports for types count in optional parts only: `core` and the servers use the classes
    of the parts as types, and import these late.
    """
    wrong = set[str]()
    for module in load_modules().values():
        own = _package_of(module.name)
        if own is None:
            continue
        may = {own, "core", "types"} | (SERVERS if own in SERVERS else set())
        types = module.type_imports if own in PARTS else frozenset()
        wrong |= {
            f"{module.name} -> {other}"
            for other in module.imports | types
            if (package := _package_of(other)) is not None and package not in may
        }
    assert_none(wrong)


def _package_of(name: str) -> str | None:
    """The package or module directly below the runtime; None for names of others."""
    distribution, _, rest = name.partition(".")
    return (
        rest.partition(".")[0] or None if distribution == "toolcast_runtime" else None
    )


def test_nothing_of_the_generator_is_imported() -> None:
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            )
            for name in names:
                assert name.partition(".")[0] not in (
                    "toolcast",
                    "toolcast_letta",
                ), path


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_exports_its_names(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__ and module.__doc__.rstrip().endswith(".")
    assert module.__all__
    for exported in module.__all__:
        assert getattr(module, exported) is not None


def test_a_public_name_is_no_module_however_often_it_is_imported() -> None:
    code = (
        "import importlib, sys, types\n"
        "for package in sys.argv[1:]:\n"
        "    for name in importlib.import_module(package).__all__:\n"
        "        values = []\n"
        "        for _ in range(2):\n"
        "            scope = {}\n"
        "            exec(f'from {package} import {name}', scope)\n"
        "            values.append(scope[name])\n"
        "        assert values[0] is values[1], (package, name)\n"
        "        assert not isinstance(values[0], types.ModuleType), (package, name)\n"
    )
    words = [sys.executable, "-c", code, *PUBLIC]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
