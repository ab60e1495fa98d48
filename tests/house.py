"""The modules of the three distributions and what they import: for test_structure.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["DISTRIBUTIONS", "ROOT", "Module", "cycles", "modules", "tree"]

ROOT = Path(__file__).parents[1]
# The package of each distribution.
DISTRIBUTIONS = {
    "toolcast": ROOT / "generator" / "toolcast",
    "toolcast_runtime": ROOT / "runtime" / "toolcast_runtime",
    "toolcast_letta": ROOT / "letta" / "toolcast_letta",
}


@dataclass(frozen=True)
class Module:
    """A module of a distribution.

    Attributes:
        name: its dotted name, the distribution first.
        imports: names of modules that it imports when it is loaded or run, whoever wrote
            them: at the top and in functions, not for types only.
        types: those that it imports for types only.
    """

    name: str
    file: Path
    imports: frozenset[str]
    types: frozenset[str]

    @property
    def distribution(self) -> str:
        return self.name.partition(".")[0]

    @property
    def room(self) -> str:
        """The first step below the distribution; empty for its own `__init__`."""
        return self.name.split(".")[1] if "." in self.name else ""


@cache
def tree(file: Path) -> ast.Module:
    """The parsed source of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def modules() -> Mapping[str, Module]:
    """Every module of the distributions by its dotted name."""
    files = {
        _dotted(distribution, folder, file): file
        for distribution, folder in DISTRIBUTIONS.items()
        for file in sorted(folder.rglob("*.py"))
    }
    found = {}
    for name, file in files.items():
        package = name if file.stem == "__init__" else name.rpartition(".")[0]
        run, types = set[str](), set[str]()
        for imported, for_types in _imports(tree(file), package.split("."), False):
            # `from package import module` names a module, `from module import name` does not.
            there = imported if imported in files else imported.rpartition(".")[0]
            (types if for_types else run).add(there)
        found[name] = Module(
            name, file, frozenset(run - {name}), frozenset(types - run - {name})
        )
    return found


def _dotted(distribution: str, folder: Path, file: Path) -> str:
    steps = file.relative_to(folder).with_suffix("").parts
    return ".".join([distribution, *(step for step in steps if step != "__init__")])


def _imports(
    node: ast.AST, package: list[str], for_types: bool
) -> Iterator[tuple[str, bool]]:
    """What is imported below a node, and whether for types only."""
    for child in ast.iter_child_nodes(node):
        inner = for_types or (
            isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
        )
        if isinstance(child, ast.Import):
            yield from ((f"{alias.name}.", inner) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            above = package[: len(package) - child.level + 1] if child.level else []
            module = ".".join([*above, *filter(None, [child.module])])
            yield from ((f"{module}.{alias.name}", inner) for alias in child.names)
        yield from _imports(child, package, inner)


def cycles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Every group of names that lead to each other, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for to in sorted(arrows.get(name, ())):
            if to not in order:
                visit(to)
                lowest[name] = min(lowest[name], lowest[to])
            elif to in stack:
                lowest[name] = min(lowest[name], order[to])
        if lowest[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in order:
            visit(name)
    return found
