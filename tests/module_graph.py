"""The modules of the three distributions and their imports, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = [
    "DISTRIBUTIONS",
    "ROOT",
    "Module",
    "find_cycles",
    "load_modules",
    "parse_source",
]

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
        name: the dotted name, which begins with the distribution's package.
        imports: modules of any package that it imports when it is loaded or run, at the
            top and in functions.
        type_imports: modules that it imports under `TYPE_CHECKING` only.
    """

    name: str
    file: Path
    imports: frozenset[str]
    type_imports: frozenset[str]

    @property
    def distribution(self) -> str:
        return self.name.partition(".")[0]


@cache
def parse_source(file: Path) -> ast.Module:
    """Parse a source file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def load_modules() -> Mapping[str, Module]:
    """Return every module of the distributions by its dotted name."""
    files = {
        _module_name(distribution, folder, file): file
        for distribution, folder in DISTRIBUTIONS.items()
        for file in sorted(folder.rglob("*.py"))
    }
    modules = {}
    for name, file in files.items():
        package = name if file.stem == "__init__" else name.rpartition(".")[0]
        imports, type_imports = set[str](), set[str]()
        for imported, is_type in _imports(parse_source(file), package.split(".")):
            # `from package import module` names a module, `from module import name` does not.
            target = imported if imported in files else imported.rpartition(".")[0]
            (type_imports if is_type else imports).add(target)
        modules[name] = Module(
            name,
            file,
            frozenset(imports - {name}),
            frozenset(type_imports - imports - {name}),
        )
    return modules


def _module_name(distribution: str, folder: Path, file: Path) -> str:
    names = file.relative_to(folder).with_suffix("").parts
    return ".".join([distribution, *(name for name in names if name != "__init__")])


def _imports(
    node: ast.AST, package: list[str], is_type: bool = False
) -> Iterator[tuple[str, bool]]:
    """Yield each import below a node, and whether it is for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        child_is_type = is_type or (
            isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
        )
        if isinstance(child, ast.Import):
            yield from ((f"{alias.name}.", child_is_type) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            parent = package[: len(package) - child.level + 1] if child.level else []
            module = ".".join([*parent, *filter(None, [child.module])])
            yield from (
                (f"{module}.{alias.name}", child_is_type) for alias in child.names
            )
        yield from _imports(child, package, child_is_type)


def find_cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return each strongly connected group of two or more nodes (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for target in sorted(graph.get(name, ())):
            if target not in order:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], order[target])
        if lowest[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    for name in graph:
        if name not in order:
            visit(name)
    return cycles
