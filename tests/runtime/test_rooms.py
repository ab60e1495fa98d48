"""The runtime's rooms: no import leads back, and each exports what it is for."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import toolcast_runtime
from tests.house import modules
from tests.test_structure import none_but

ROOT = Path(toolcast_runtime.__file__).parent
MODULES = {
    ".".join(
        (toolcast_runtime.__name__, *path.relative_to(ROOT).with_suffix("").parts)
    ).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
LAYERS = ("core", "serve", "rooms")
PUBLIC = sorted(
    name
    for name in MODULES
    if name.count(".") == 1 and name.rpartition(".")[2] not in LAYERS
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


def test_layers_of_the_runtime_import_only_what_is_below_them() -> None:
    """`core` nothing, `serve` the core, an optional part the core and itself.

    Imports for types count in optional parts only: `core` and `serve` take the types of the
    parts that they load late from the parts' classes.
    """
    wrong = set[str]()
    for module in modules().values():
        layer, _, room = _layer(module.name)
        types = module.types if layer == "rooms" else frozenset()
        for imported in module.imports | types:
            if imported.startswith("toolcast_runtime.") and layer:
                to, _, other = _layer(imported)
                beside = to == layer and (layer != "rooms" or room == other)
                if (to and to != "core" and not beside) or (
                    not to and imported != "toolcast_runtime"
                ):
                    wrong.add(f"{module.name} -> {imported}")
    none_but("layers", wrong)


def _layer(name: str) -> tuple[str, str, str]:
    """The layer of a module of the runtime and its room there; empty for public names."""
    _, layer, room, *_ = [*name.split("."), "", ""]
    return (layer, ".", room) if layer in LAYERS else ("", "", "")


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
