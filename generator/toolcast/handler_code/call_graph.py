"""What the handler of a tool does, by itself and through functions of its package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ..model.model import HandlerReference, Toolset, ToolSpec, Workspace
from .functions import Context, Unit, Watcher, read_unit
from .package_names import HandlerPackage, Known
from .pools import Pools

__all__ = ["Noted", "Reach", "Step", "Touched", "reach_of"]

# Functions that one handler reaches; no handler that people can read has as many.
MOST = 5000


class Step(NamedTuple):
    """A function on the way, and where the one before it calls it."""

    name: str
    file: str
    line: int


class Noted(NamedTuple):
    """A place that the watcher noted, and the way to it."""

    text: str
    file: str
    line: int
    way: tuple[Step, ...]


class Touched(NamedTuple):
    """A table that is named.

    Attributes:
        kind: `reads`, `writes` or `destroys`.
        pools: the pools by whose accessors it is reached; empty when the text does not tell.
        is_certain: it is a table, though no pool has it.
    """

    table: str
    kind: str
    pools: frozenset[str]
    is_certain: bool
    file: str
    line: int
    way: tuple[Step, ...]


class Reach(NamedTuple):
    """What a handler does.

    Attributes:
        noted: what the watcher found, nearest functions first.
        touched: the tables that it names.
        unread: what could not be followed, each with the reason.
    """

    noted: tuple[Noted, ...] = ()
    touched: tuple[Touched, ...] = ()
    unread: tuple[str, ...] = ()


def reach_of(
    workspace: Workspace,
    toolset: Toolset,
    tool: ToolSpec,
    watch: Callable[[], Watcher] | None = None,
) -> Reach | None:
    """What a tool's handler reaches; None when it has none, or none that may be read.

    `watch` makes what looks at each function, for a rule that is about more than tables.
    """
    if tool.handler is None or toolset.handlers is None:
        return None
    walked = _walked(workspace, toolset, watch)
    if tool.handler not in walked.reached:
        walked.reached[tool.handler] = _Walk(walked).from_(tool)
    return walked.reached[tool.handler]


@dataclass
class _Walked:
    """What the tools of a toolset have in common: each function is read once."""

    package: HandlerPackage
    accessors: Mapping[str, str]
    watch: Callable[[], Watcher] | None
    units: dict[tuple[str, str, str], Unit] = field(default_factory=dict)
    reached: dict[HandlerReference, Reach | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pools = Pools(self.accessors, self.unit)

    def unit(self, known: Known) -> Unit:
        """A function, read once."""
        unit = self.units.get(known.key)
        if unit is None:
            watcher = self.watch() if self.watch is not None else None
            unit = self.units[known.key] = read_unit(self.package, known, watcher)
        return unit


@lru_cache(maxsize=8)
def _walked(
    workspace: Workspace, toolset: Toolset, watch: Callable[[], Watcher] | None
) -> _Walked:
    package = HandlerPackage(workspace.root, workspace.sources, toolset.handlers or "")
    accessors = {
        accessor: pool
        for pool, named in toolset.pool_accessors.items()
        for accessor in named
    }
    return _Walked(package, accessors, watch)


class _Walk:
    def __init__(self, walked: _Walked) -> None:
        self.walked = walked
        self.package = walked.package
        self.noted: list[Noted] = []
        self.touched: list[Touched] = []
        self.unread: dict[str, None] = {}

    def from_(self, tool: ToolSpec) -> Reach | None:
        reference = tool.handler
        scope = reference and self.package.scope(reference.module)
        start = reference and scope and self.package.named(scope, reference.function)
        if not start or start.kind not in ("function", "class", "value"):
            return None
        waiting = [(start, frozenset[str](), ())]
        todo: list[tuple[Known, frozenset[str], tuple[Step, ...]]] = [*waiting]
        seen = {(start.key, frozenset[str]())}
        while todo and len(seen) <= MOST:
            # Breadth first, so that the way that is told is a shortest one.
            known, inherited, way = todo.pop(0)
            step = Step(known.name, known.scope.file, 0)
            unit = self.walked.unit(known)
            if unit.is_too_deep:
                self.unread[f"`{known.name}` of {known.scope.file} is too deep"] = None
            self._note(unit, inherited, (*way, step))
            own = self._own(unit)
            for one in unit.references:
                if one.target.reference in self.walked.accessors:
                    continue
                pools = self._around(one.context) or own or inherited
                if (one.target.key, pools) not in seen:
                    seen.add((one.target.key, pools))
                    called = (*way, Step(known.name, known.scope.file, one.line))
                    todo.append((one.target, pools, called))
        if todo:
            self.unread[f"it reaches more than {MOST:,} functions"] = None
        for file, problem in self.package.unread.items():
            self.unread[f"{file} cannot be read: {problem}"] = None
        return Reach(tuple(self.noted), tuple(self.touched), tuple(self.unread))

    def _note(
        self, unit: Unit, inherited: frozenset[str], way: tuple[Step, ...]
    ) -> None:
        file = unit.known.scope.file
        for seen in unit.seen:
            self.noted.append(Noted(seen.text, file, seen.line, way))
        for mention in unit.mentions:
            pools = (
                self._around(mention.context)
                or self._own(unit)
                or inherited
                or self.walked.pools.of(unit.known)
            )
            self.touched.append(
                Touched(
                    mention.table,
                    mention.kind,
                    pools,
                    mention.is_certain,
                    file,
                    mention.line,
                    way,
                )
            )

    def _around(self, context: Context) -> frozenset[str]:
        """The pools of the innermost thing around a place that has any."""
        for group in context:
            found = frozenset[str]().union(
                *(self.walked.pools.of(known) for known in group)
            )
            if found:
                return found
        return frozenset()

    def _own(self, unit: Unit) -> frozenset[str]:
        named = (one.target.reference for one in unit.references)
        accessors = self.walked.accessors
        return frozenset(accessors[name] for name in named if name in accessors)
