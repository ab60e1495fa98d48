"""Packages of the runtime: import directions, cycles and public names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.module_graph import load_modules
from tests.test_structure import assert_none

MODULES = {
    name: module
    for name, module in load_modules().items()
    if module.distribution == "toolcast_runtime"
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


def test_runtime_modules_have_no_import_cycle() -> None:
    graph = {name: module.imports & MODULES.keys() for name, module in MODULES.items()}
    # The top package imports its modules lazily.
    graph["toolcast_runtime"] = frozenset()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_runtime_packages_import_only_allowed_packages() -> None:
    """`core` imports no package, servers import `core` and servers, and parts only `core`.

    Imports for types count in optional parts only: `core` and the servers use the parts'
    classes as types and import the parts on first use.
    """
    wrong = set[str]()
    for module in MODULES.values():
        own = _get_package(module.name)
        if own is None:
            continue
        allowed = {own, "core", "types"} | (SERVERS if own in SERVERS else set())
        types = module.type_imports if own in PARTS else frozenset()
        wrong |= {
            f"{module.name} -> {other}"
            for other in module.imports | types
            if (package := _get_package(other)) is not None and package not in allowed
        }
        generator = {"toolcast", "toolcast_letta"}
        imported = module.imports | module.type_imports
        wrong |= {
            f"{module.name} -> {other}"
            for other in imported
            if other.partition(".")[0] in generator
        }
    assert_none(wrong)


def _get_package(name: str) -> str | None:
    """Return the runtime's package or top module of a name; None for other names."""
    distribution, _, rest = name.partition(".")
    return (
        rest.partition(".")[0] or None if distribution == "toolcast_runtime" else None
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_public_runtime_modules_have_docstring_and_existing_names(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__ and module.__doc__.rstrip().endswith(".")
    assert module.__all__
    for exported in module.__all__:
        assert getattr(module, exported) is not None


@pytest.mark.slow
def test_public_runtime_name_is_the_same_non_module_object_at_each_import() -> None:
    """A lazily imported submodule must not replace a public name that is equal to it."""
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
    command = [sys.executable, "-c", code, *PUBLIC]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
