"""Call graph of handlers: the code of the handlers package that a handler can run."""

from __future__ import annotations

from collections import defaultdict, deque
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

# The maximum number of functions that are traced for one handler; readable code has
# fewer.
MAX_FUNCTIONS = 5000


class CallStep(NamedTuple):
    """A function on a handler's call path, and the location of the next call."""

    name: str
    file: str
    line: int


class TracedObservation(NamedTuple):
    """An observation of a visitor in reachable code.

    Attributes:
        text: the source of the expression.
        file: the file that contains it.
        line: its line.
        call_path: the functions from the handler to the observation.
        tools: the names of the tools that it calls; empty for other observations.
    """

    text: str
    file: str
    line: int
    call_path: tuple[CallStep, ...]
    tools: tuple[str, ...] = ()


class TableAccess(NamedTuple):
    """An access to a database table in reachable code.

    Attributes:
        table: the name of the table.
        kind: `reads`, `writes` or `deletes`.
        pools: the pools whose accessors provide the connection; empty if they are
            unknown.
        is_certain: whether it is a table even if no pool declares it.
        file: the file of the access.
        line: its line.
        call_path: the functions from the handler to the access.
    """

    table: str
    kind: str
    pools: frozenset[str]
    is_certain: bool
    file: str
    line: int
    call_path: tuple[CallStep, ...]


class ReachableCode(NamedTuple):
    """The result of tracing a handler.

    Attributes:
        observations: the visitor's observations, those with the shortest call paths
            first.
        tables: the accesses to tables.
        problems: the code that could not be traced, each with the reason.
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
    """Return what the code that a tool's handler can run does.

    None if the tool declares no handler, or if its module or function cannot be found.
    Results are cached for each handler and visitor class.

    Args:
        workspace: the workspace.
        toolset: the toolset of the tool.
        tool: the tool.
        visitor_class: creates a visitor for each function; None to find only tables.
    """
    if tool.handler is None or toolset.handlers is None:
        return None
    return _get_toolset_code(workspace, toolset).trace(tool.handler, visitor_class)


_VisitorClass = Callable[[], Visitor] | None


class _ToolsetCode:
    """The code of a toolset's handlers.

    Each function is read once for each visitor class.
    """

    def __init__(self, resolver: Resolver, accessors: Mapping[str, str]) -> None:
        self.resolver = resolver
        self.accessors = accessors
        self.nodes: dict[Definition, GraphNode] = {}
        self.pool_finder = PoolFinder(accessors, self.read_node)
        self.observe = cache(self._observe)
        self.trace = cache(
            lambda handler, visitor_class: _Traversal(self, visitor_class).run(handler)
        )

    def read_node(self, definition: Definition) -> GraphNode:
        """Return the graph node of a definition; it is read once."""
        if definition not in self.nodes:
            self.nodes[definition] = read_node(self.resolver, definition)
        return self.nodes[definition]

    def _observe(
        self, visitor_class: Callable[[], Visitor], definition: Definition
    ) -> tuple[Observation, ...]:
        """Return a visitor's observations in a function; empty for too deep nesting."""
        visitor = visitor_class()
        node = read_node(self.resolver, definition, visitor)
        if node.is_too_deep:
            self.read_node(definition).is_too_deep = True
        else:
            # Reading for a visitor also produces the graph node.
            self.nodes.setdefault(definition, node)
        if self.nodes[definition].is_too_deep:
            return ()
        return tuple(visitor.observations)


@lru_cache(maxsize=8)
def _get_toolset_code(workspace: Workspace, toolset: Toolset) -> _ToolsetCode:
    folders = workspace.root, workspace.sources
    resolver = Resolver(
        partial(read_module, *folders),
        toolset.handlers or "",
        partial(read_referenced_file, *folders),
    )
    accessors = {
        accessor: pool
        for pool, pool_accessors in toolset.pool_accessors.items()
        for accessor in pool_accessors
    }
    return _ToolsetCode(resolver, accessors)


class _Traversal:
    def __init__(self, code: _ToolsetCode, visitor_class: _VisitorClass) -> None:
        self.code = code
        self.visitor_class = visitor_class
        self.resolver = code.resolver
        self.observations: list[TracedObservation] = []
        self.tables: list[TableAccess] = []
        # A dictionary instead of a set, because the order of problems must be
        # deterministic.
        self.problems: dict[str, None] = {}

    def run(self, reference: HandlerReference) -> ReachableCode | None:
        module = self.resolver.load_module(reference.module)
        if module is None:
            return None
        start = self.resolver.find_definition(module, reference.function)
        if start is None or start.kind not in ("function", "class", "value"):
            return None
        # Breadth first, so that call paths in findings are as short as possible. A
        # function is visited once for each set of pools that its callers use.
        pending: deque[tuple[Definition, frozenset[str], tuple[CallStep, ...]]]
        pending = deque([(start, frozenset(), ())])
        visited = {(start.key, frozenset[str]())}
        while pending and len(visited) <= MAX_FUNCTIONS:
            definition, inherited_pools, call_path = pending.popleft()
            name, file = definition.name, definition.module.file
            observations: Sequence[Observation] = ()
            if self.visitor_class is not None:
                observations = self.code.observe(self.visitor_class, definition)
            node = self.code.read_node(definition)
            step = CallStep(name, file, 0)
            self._record(node, observations, inherited_pools, (*call_path, step))
            if node.is_too_deep:
                self.problems[f"`{name}` of {file} is nested too deeply"] = None
            own_pools = self._get_own_pools(node)
            for reference_ in node.references:
                target = reference_.target
                # An accessor provides the connection to a pool; its own code is not
                # traced.
                if target.reference in self.code.accessors:
                    continue
                enclosing_pools = self._find_enclosing_pools(reference_.context)
                pools = enclosing_pools or own_pools or inherited_pools
                if (target.key, pools) not in visited:
                    visited.add((target.key, pools))
                    step = CallStep(name, file, reference_.line)
                    pending.append((target, pools, (*call_path, step)))
        if pending:
            message = f"the handler reaches more than {MAX_FUNCTIONS:,} functions"
            self.problems[message] = None
        for loaded in self.resolver.loaded_modules.values():
            if loaded is not None and loaded.problem:
                message = f"{loaded.file} cannot be read: {loaded.problem}"
                self.problems[message] = None
        return ReachableCode(
            tuple(self.observations), tuple(self.tables), tuple(self.problems)
        )

    def _record(
        self,
        node: GraphNode,
        observations: Sequence[Observation],
        inherited_pools: frozenset[str],
        call_path: tuple[CallStep, ...],
    ) -> None:
        file = node.definition.module.file
        for seen in observations:
            self.observations.append(
                TracedObservation(seen.text, file, seen.line, call_path, seen.tools)
            )
        for mention in node.mentions:
            # The most specific source of pools decides: around the access, in the
            # function, in its callers, in the functions that it calls.
            pools = (
                self._find_enclosing_pools(mention.context)
                or self._get_own_pools(node)
                or inherited_pools
                or self.code.pool_finder.find_pools(node.definition)
            )
            self.tables.append(
                TableAccess(
                    mention.table,
                    mention.kind,
                    pools,
                    mention.is_certain,
                    file,
                    mention.line,
                    call_path,
                )
            )

    def _find_enclosing_pools(self, context: EnclosingDefinitions) -> frozenset[str]:
        """Return the pools of the innermost enclosing construct that has any.

        Constructs are connections, called functions and `with` statements. Empty if
        none has pools.
        """
        for definitions in context:
            pools = frozenset[str]().union(
                *(self.code.pool_finder.find_pools(d) for d in definitions)
            )
            if pools:
                return pools
        return frozenset()

    def _get_own_pools(self, node: GraphNode) -> frozenset[str]:
        """Return the pools whose accessors a function uses itself."""
        names = (reference.target.reference for reference in node.references)
        accessors = self.code.accessors
        return frozenset(accessors[name] for name in names if name in accessors)


_Key = tuple[str, str, str]


class PoolFinder:
    """Search for the database pools that functions use; each function is read once.

    Args:
        accessors: the pool of each accessor, by `module:name`.
        read_node: returns the graph node of a definition.
    """

    def __init__(
        self, accessors: Mapping[str, str], read_node: Callable[[Definition], GraphNode]
    ) -> None:
        self._accessors = accessors
        self._read_node = read_node
        self._pools: dict[_Key, frozenset[str]] = {}

    def find_pools(self, definition: Definition) -> frozenset[str]:
        """Return the pools that a definition uses, directly or through other functions.

        For an accessor, this is its own pool; empty for code that uses no pool.
        """
        if definition.reference in self._accessors:
            return frozenset([self._accessors[definition.reference]])
        if definition.key not in self._pools:
            self._compute_pools(definition)
        return self._pools[definition.key]

    def _compute_pools(self, start: Definition) -> None:
        """Store the pools of a definition, and of all definitions that it reaches."""
        pools: dict[_Key, set[str]] = {start.key: set()}
        callers: defaultdict[_Key, list[_Key]] = defaultdict(list)
        pending = [start]
        while pending:
            definition = pending.pop()
            own_pools = pools[definition.key]
            for reference in self._read_node(definition).references:
                target = reference.target
                pool = self._accessors.get(target.reference)
                if pool is not None:
                    own_pools.add(pool)
                    continue
                if target.key in self._pools:
                    own_pools |= self._pools[target.key]
                    continue
                callers[target.key].append(definition.key)
                if target.key not in pools:
                    pools[target.key] = set()
                    pending.append(target)
        # Calls can be cyclic, so pools are propagated from callees to callers until
        # nothing changes.
        changed = [key for key, own_pools in pools.items() if own_pools]
        while changed:
            callee = changed.pop()
            for caller in callers[callee]:
                if not pools[callee] <= pools[caller]:
                    pools[caller] |= pools[callee]
                    changed.append(caller)
        self._pools |= {key: frozenset(own) for key, own in pools.items()}
