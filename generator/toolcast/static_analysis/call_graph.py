"""The call graph of handlers: what a handler reaches through functions of its package."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ..model.model import (
    Toolset,
    ToolSpec,
    Workspace,
)
from ..model.toolset_parts import (
    HandlerReference,
)
from .function_body import (
    EnclosingDefinitions,
    GraphNode,
    Observation,
    Visitor,
    read_node,
)
from .module_names import Definition
from .modules import read_module, read_referenced_file
from .resolver import Resolver

# Functions that one handler reaches; no handler that people can read has as many.
MAX_FUNCTIONS = 5000


class CallStep(NamedTuple):
    """A function on the way from a handler, and where its caller calls it."""

    name: str
    file: str
    line: int


class TracedObservation(NamedTuple):
    """A place that the visitor noted, and the way to it.

    Attributes:
        tools: the tools that it calls by their names; empty for what it does itself.
    """

    text: str
    file: str
    line: int
    call_path: tuple[CallStep, ...]
    tools: tuple[str, ...] = ()


class TableAccess(NamedTuple):
    """A table that is named in the code.

    Attributes:
        kind: `reads`, `writes` or `deletes`.
        pools: the pools by whose accessors it is reached; empty when the code does not show it.
        is_certain: it is a table, though no pool has it.
    """

    table: str
    kind: str
    pools: frozenset[str]
    is_certain: bool
    file: str
    line: int
    call_path: tuple[CallStep, ...]


class ReachableCode(NamedTuple):
    """What is reached from a handler.

    Attributes:
        noted: what the visitor found, nearest functions first.
        touched: the tables that it names.
        unread: what could not be followed, each with the reason.
    """

    observations: tuple[TracedObservation, ...] = ()
    tables: tuple[TableAccess, ...] = ()
    problems: tuple[str, ...] = ()


def trace_handler(
    workspace: Workspace,
    toolset: Toolset,
    tool: ToolSpec,
    visitor_class: Callable[[], Visitor] | None = None,
) -> ReachableCode | None:
    """What a tool's handler reaches; None when it has none, or none that may be read.

    `visitor_class` is for rules about more than tables: an instance visits each function.
    However many rules ask, a function is read once, and once more for each kind of visitor.
    """
    if tool.handler is None or toolset.handlers is None:
        return None
    return _code_of(workspace, toolset).reached(tool.handler, visitor_class)


_VisitorClass = Callable[[], Visitor] | None


class _ToolsetCode:
    """The code of a toolset's handlers; each function is read once, and once a visitor class."""

    def __init__(self, resolver: Resolver, accessors: Mapping[str, str]) -> None:
        self.resolver = resolver
        self.accessors = accessors
        self.nodes: dict[Definition, GraphNode] = {}
        self.pools = PoolFinder(accessors, self.node)
        self.seen_by = cache(self._seen_by)
        self.reached = cache(
            lambda handler, visitor: _Traversal(self, visitor).from_(handler)
        )

    def node(self, known: Definition) -> GraphNode:
        """A function as it reads by itself."""
        if known not in self.nodes:
            self.nodes[known] = read_node(self.resolver, known)
        return self.nodes[known]

    def _seen_by(
        self, visitor_class: Callable[[], Visitor], known: Definition
    ) -> tuple[Observation, ...]:
        """What a visitor finds in a function; the first one is there when it is read."""
        visitor = visitor_class()
        node = read_node(self.resolver, known, visitor)
        if node.is_too_deep:
            self.node(known).is_too_deep = True
        else:
            self.nodes.setdefault(known, node)
        return () if self.nodes[known].is_too_deep else tuple(visitor.observations)


@lru_cache(maxsize=8)
def _code_of(workspace: Workspace, toolset: Toolset) -> _ToolsetCode:
    where = workspace.root, workspace.sources
    resolver = Resolver(
        partial(read_module, *where),
        toolset.handlers or "",
        partial(read_referenced_file, *where),
    )
    accessors = {
        accessor: pool
        for pool, named in toolset.pool_accessors.items()
        for accessor in named
    }
    return _ToolsetCode(resolver, accessors)


class _Traversal:
    def __init__(self, code: _ToolsetCode, visitor_class: _VisitorClass) -> None:
        self.code = code
        self.visitor_class = visitor_class
        self.resolver = code.resolver
        self.observations: list[TracedObservation] = []
        self.tables: list[TableAccess] = []
        self.problems: dict[str, None] = {}

    def from_(self, reference: HandlerReference) -> ReachableCode | None:
        module = self.resolver.module(reference.module)
        start = module and self.resolver.named(module, reference.function)
        if not start or start.kind not in ("function", "class", "value"):
            return None
        todo: list[tuple[Definition, frozenset[str], tuple[CallStep, ...]]] = []
        todo.append((start, frozenset(), ()))
        seen = {(start.key, frozenset[str]())}
        while todo and len(seen) <= MAX_FUNCTIONS:
            # Breadth first, so that the way in the finding is a shortest one.
            known, inherited, way = todo.pop(0)
            step = CallStep(known.name, known.scope.file, 0)
            visitor = self.visitor_class
            seen_there = self.code.seen_by(visitor, known) if visitor else ()
            node = self.code.node(known)
            self._note(node, seen_there, inherited, (*way, step))
            if node.is_too_deep:
                self.problems[f"`{known.name}` of {known.scope.file} is too deep"] = (
                    None
                )
            own = self._own(node)
            for one in node.references:
                if one.target.reference in self.code.accessors:
                    continue
                pools = self._around(one.context) or own or inherited
                if (one.target.key, pools) not in seen:
                    seen.add((one.target.key, pools))
                    called = (*way, CallStep(known.name, known.scope.file, one.line))
                    todo.append((one.target, pools, called))
        if todo:
            self.problems[f"it reaches more than {MAX_FUNCTIONS:,} functions"] = None
        for module in self.resolver.read.values():
            if module is not None and module.problem:
                self.problems[f"{module.file} cannot be read: {module.problem}"] = None
        return ReachableCode(
            tuple(self.observations), tuple(self.tables), tuple(self.problems)
        )

    def _note(
        self,
        node: GraphNode,
        found: Sequence[Observation],
        inherited: frozenset[str],
        way: tuple[CallStep, ...],
    ) -> None:
        file = node.definition.scope.file
        for seen in found:
            self.observations.append(
                TracedObservation(seen.text, file, seen.line, way, seen.tools)
            )
        for mention in node.mentions:
            pools = (
                self._around(mention.context)
                or self._own(node)
                or inherited
                or self.code.pools.of(node.definition)
            )
            self.tables.append(
                TableAccess(
                    mention.table,
                    mention.kind,
                    pools,
                    mention.is_certain,
                    file,
                    mention.line,
                    way,
                )
            )

    def _around(self, context: EnclosingDefinitions) -> frozenset[str]:
        """The pools of the innermost construct around a place that has any."""
        for group in context:
            found = frozenset[str]().union(
                *(self.code.pools.of(known) for known in group)
            )
            if found:
                return found
        return frozenset()

    def _own(self, node: GraphNode) -> frozenset[str]:
        named = (one.target.reference for one in node.references)
        accessors = self.code.accessors
        return frozenset(accessors[name] for name in named if name in accessors)


_Key = tuple[str, str, str]


class PoolFinder:
    """The pools of functions; each function is read once.

    Args:
        accessors: the pool of each accessor, by `module:name`.
        node_of: reads a function.
    """

    def __init__(
        self, accessors: Mapping[str, str], node_of: Callable[[Definition], GraphNode]
    ) -> None:
        self._accessors = accessors
        self._node_of = node_of
        self._found: dict[_Key, frozenset[str]] = {}

    def of(self, known: Definition) -> frozenset[str]:
        """The pools that something reaches, whoever calls it."""
        if known.reference in self._accessors:
            return frozenset([self._accessors[known.reference]])
        if known.key not in self._found:
            self._follow(known)
        return self._found[known.key]

    def _follow(self, start: Definition) -> None:
        """Finds the pools of a function, and of all that it leads to."""
        pools: dict[_Key, set[str]] = {start.key: set()}
        callers: defaultdict[_Key, list[_Key]] = defaultdict(list)
        waiting = [start]
        while waiting:
            known = waiting.pop()
            own = pools[known.key]
            for reference in self._node_of(known).references:
                target = reference.target
                pool = self._accessors.get(target.reference)
                if pool is not None:
                    own.add(pool)
                    continue
                if target.key in self._found:
                    own |= self._found[target.key]
                    continue
                callers[target.key].append(known.key)
                if target.key not in pools:
                    pools[target.key] = set()
                    waiting.append(target)
        # Callers reach what they call reaches, in circles, too: until nothing is new.
        grown = [key for key, own in pools.items() if own]
        while grown:
            called = grown.pop()
            for caller in callers[called]:
                if not pools[called] <= pools[caller]:
                    pools[caller] |= pools[called]
                    grown.append(caller)
        self._found |= {key: frozenset(own) for key, own in pools.items()}
