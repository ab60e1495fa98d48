"""The call graph of handlers: what a handler reaches through functions of its package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..model.model import (
    Toolset,
    ToolSpec,
    Workspace,
)
from ..model.toolset_parts import (
    HandlerReference,
)
from .function_body import Context, Node, Seen, Visitor, read_node, visit
from .module_names import Definition
from .modules import read_module, text_beside
from .resolver import Resolver

# Functions that one handler reaches; no handler that people can read has as many.
MOST = 5000


class Step(NamedTuple):
    """A function on the way from a handler, and where its caller calls it."""

    name: str
    file: str
    line: int


class Noted(NamedTuple):
    """A place that the visitor noted, and the way to it.

    Attributes:
        tools: the tools that it calls by their names; empty for what it does itself.
    """

    text: str
    file: str
    line: int
    way: tuple[Step, ...]
    tools: tuple[str, ...] = ()


class Touched(NamedTuple):
    """A table that is named in the code.

    Attributes:
        kind: `reads`, `writes` or `destroys`.
        pools: the pools by whose accessors it is reached; empty when the code does not show it.
        is_certain: it is a table, though no pool has it.
    """

    table: str
    kind: str
    pools: frozenset[str]
    is_certain: bool
    file: str
    line: int
    way: tuple[Step, ...]


class Reached(NamedTuple):
    """What is reached from a handler.

    Attributes:
        noted: what the visitor found, nearest functions first.
        touched: the tables that it names.
        unread: what could not be followed, each with the reason.
    """

    noted: tuple[Noted, ...] = ()
    touched: tuple[Touched, ...] = ()
    unread: tuple[str, ...] = ()


def reached_from(
    workspace: Workspace,
    toolset: Toolset,
    tool: ToolSpec,
    visitor_class: Callable[[], Visitor] | None = None,
) -> Reached | None:
    """What a tool's handler reaches; None when it has none, or none that may be read.

    `visitor_class` is for rules about more than tables: an instance visits each function.
    However many rules ask, a function is read once.
    """
    if tool.handler is None or toolset.handlers is None:
        return None
    code = _code_of(workspace, toolset)
    asked = (tool.handler, visitor_class)
    if asked not in code.reached:
        code.reached[asked] = _Traversal(code, visitor_class).from_(tool)
    return code.reached[asked]


_VisitorClass = Callable[[], Visitor] | None


@dataclass
class _ToolsetCode:
    """The code of a toolset's handlers; each function is read once."""

    resolver: Resolver
    accessors: Mapping[str, str]
    nodes: dict[tuple[str, str, str], Node] = field(default_factory=dict)
    seen: dict[tuple[Any, tuple[str, str, str]], tuple[Seen, ...]] = field(
        default_factory=dict
    )
    reached: dict[tuple[HandlerReference, _VisitorClass], Reached | None] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.pools = Pools(self.accessors, self.node)

    def node(self, known: Definition) -> Node:
        """A function, read once."""
        node = self.nodes.get(known.key)
        if node is None:
            node = self.nodes[known.key] = read_node(self.resolver, known)
        return node

    def seen_by(self, visitor_class: _VisitorClass, node: Node) -> tuple[Seen, ...]:
        """What a visitor finds in a function, which it visits once."""
        if visitor_class is None or node.is_too_deep:
            return ()
        asked = (visitor_class, node.definition.key)
        if asked not in self.seen:
            try:
                self.seen[asked] = visit(visitor_class(), self.resolver, node)
            except RecursionError:
                node.is_too_deep = True
                return ()
        return self.seen[asked]


@lru_cache(maxsize=8)
def _code_of(workspace: Workspace, toolset: Toolset) -> _ToolsetCode:
    where = workspace.root, workspace.sources
    resolver = Resolver(
        partial(read_module, *where),
        toolset.handlers or "",
        partial(text_beside, *where),
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
        self.noted: list[Noted] = []
        self.touched: list[Touched] = []
        self.unread: dict[str, None] = {}

    def from_(self, tool: ToolSpec) -> Reached | None:
        reference = tool.handler
        module = reference and self.resolver.module(reference.module)
        start = reference and module and self.resolver.named(module, reference.function)
        if not start or start.kind not in ("function", "class", "value"):
            return None
        waiting = [(start, frozenset[str](), ())]
        todo: list[tuple[Definition, frozenset[str], tuple[Step, ...]]] = [*waiting]
        seen = {(start.key, frozenset[str]())}
        while todo and len(seen) <= MOST:
            # Breadth first, so that the way in the finding is a shortest one.
            known, inherited, way = todo.pop(0)
            step = Step(known.name, known.scope.file, 0)
            node = self.code.node(known)
            self._note(node, inherited, (*way, step))
            if node.is_too_deep:
                self.unread[f"`{known.name}` of {known.scope.file} is too deep"] = None
            own = self._own(node)
            for one in node.references:
                if one.target.reference in self.code.accessors:
                    continue
                pools = self._around(one.context) or own or inherited
                if (one.target.key, pools) not in seen:
                    seen.add((one.target.key, pools))
                    called = (*way, Step(known.name, known.scope.file, one.line))
                    todo.append((one.target, pools, called))
        if todo:
            self.unread[f"it reaches more than {MOST:,} functions"] = None
        for module in self.resolver.read.values():
            if module is not None and module.problem:
                self.unread[f"{module.file} cannot be read: {module.problem}"] = None
        return Reached(tuple(self.noted), tuple(self.touched), tuple(self.unread))

    def _note(
        self, node: Node, inherited: frozenset[str], way: tuple[Step, ...]
    ) -> None:
        file = node.definition.scope.file
        for seen in self.code.seen_by(self.visitor_class, node):
            self.noted.append(Noted(seen.text, file, seen.line, way, seen.tools))
        for mention in node.mentions:
            pools = (
                self._around(mention.context)
                or self._own(node)
                or inherited
                or self.code.pools.of(node.definition)
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
        """The pools of the innermost construct around a place that has any."""
        for group in context:
            found = frozenset[str]().union(
                *(self.code.pools.of(known) for known in group)
            )
            if found:
                return found
        return frozenset()

    def _own(self, node: Node) -> frozenset[str]:
        named = (one.target.reference for one in node.references)
        accessors = self.code.accessors
        return frozenset(accessors[name] for name in named if name in accessors)


_Key = tuple[str, str, str]


@dataclass
class _Entered:
    """A function whose calls are being followed.

    Attributes:
        first: the number of the function that was entered first, of those on the way that
            it leads back to.
    """

    key: _Key
    number: int
    first: int
    pools: set[str] = field(default_factory=set)


class Pools:
    """The pools of functions; each function is read once.

    Args:
        accessors: the pool of each accessor, by `module:name`.
        node_of: reads a function.
    """

    def __init__(
        self, accessors: Mapping[str, str], node_of: Callable[[Definition], Node]
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
        # Functions that call each other in a circle reach the same pools: Tarjan's walk finds
        # the circles. By hand, as calls may be nested deeper than Python's own may.
        entered: dict[_Key, _Entered] = {}
        unsettled: list[_Entered] = []
        path: list[tuple[_Entered, Iterator[Definition]]] = []

        def enter(known: Definition) -> None:
            number = len(entered)
            one = _Entered(known.key, number, number)
            entered[known.key] = one
            unsettled.append(one)
            path.append((one, self._called(known, one.pools)))

        enter(start)
        while path:
            one, called = path[-1]
            for target in called:
                if target.key in self._found:
                    one.pools |= self._found[target.key]
                elif target.key in entered:
                    one.first = min(one.first, entered[target.key].number)
                else:
                    enter(target)
                    break
            else:
                path.pop()
                if path:
                    caller = path[-1][0]
                    caller.first = min(caller.first, one.first)
                    caller.pools |= one.pools
                if one.first == one.number:
                    self._settle(one, unsettled)

    def _settle(self, first: _Entered, unsettled: list[_Entered]) -> None:
        """Closes a strongly connected component: all of it reaches the same pools."""
        pools = frozenset(first.pools)
        while True:
            one = unsettled.pop()
            self._found[one.key] = pools
            if one is first:
                return

    def _called(self, known: Definition, pools: set[str]) -> Iterator[Definition]:
        """What a function refers to; the pools of accessors among it are put into `pools`."""
        for reference in self._node_of(known).references:
            pool = self._accessors.get(reference.target.reference)
            if pool is None:
                yield reference.target
            else:
                pools.add(pool)
