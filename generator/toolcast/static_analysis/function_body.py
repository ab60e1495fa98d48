"""Reads one function of a package of handlers: what it calls, which tables it queries."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .local_names import NESTED, LocalScope
from .module_names import Definition
from .modules import PLACEHOLDER, FunctionDefinition, get_last_name, list_arguments
from .resolver import Resolver
from .string_values import build_item, find_template
from .tables import find_named_table, find_sql_tables, is_certainly_sql, looks_like_sql

EnclosingDefinitions = tuple[tuple[Definition, ...], ...]
"""What stands around a place, from within to without: what a connection was made with, what
a call calls, what a `with` enters."""

_KINDS = {"insert": "writes", "update": "writes", "delete": "deletes"}
# The expressions that may be a text as a whole; the others are looked at by their parts.
_WITH_TEXT = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Subscript)
_OF_METADATA = {"sorted_tables": "reads", "drop_all": "deletes"}


class Reference(NamedTuple):
    """A place that names something of the package."""

    target: Definition
    line: int
    context: EnclosingDefinitions


class TableMention(NamedTuple):
    """A place that names a table.

    Attributes:
        kind: `reads`, `writes` or `deletes`.
        is_certain: it is a table even if no pool has it: the SQL cannot be prose.
    """

    table: str
    kind: str
    line: int
    context: EnclosingDefinitions
    is_certain: bool = True


class Observation(NamedTuple):
    """A place that a visitor noted.

    Attributes:
        line: where.
        text: the code, in one line.
        tools: the tools that it calls by their names; empty for what it does itself.
    """

    line: int
    text: str
    tools: tuple[str, ...] = ()


class Visitor(Protocol):
    """Looks at each expression of a function that was read, in the order of the text.

    An extension's rules bring one to find what they are about; `found` is what it noted.
    """

    @property
    def observations(self) -> list[Observation]:
        """The places, in the order in which they were noted."""

    def visit_name(self, node: ast.expr, local: LocalScope) -> None:
        """A name, or a chain of attributes."""

    def visit_call(self, node: ast.Call, local: LocalScope) -> None:
        """A call begins: its arguments follow."""

    def leave_call(self) -> None:
        """The innermost call has ended."""

    def visit_string(self, node: ast.expr, text: str) -> None:
        """An expression with a text that is known."""

    def visit_return(self, node: ast.expr, local: LocalScope) -> None:
        """The value of a `return`."""


@dataclass
class GraphNode:
    """A node of the call graph: one function, class or assigned value, read by itself."""

    definition: Definition
    references: list[Reference] = field(default_factory=list)
    mentions: list[TableMention] = field(default_factory=list)
    is_too_deep: bool = False


def read_node(
    resolver: Resolver, known: Definition, visitor: Visitor | None = None
) -> GraphNode:
    """Reads a function, a class or an assigned value, and shows a visitor what is read."""
    reading = _Reading(resolver, GraphNode(known), visitor)
    try:
        reading.read()
    except RecursionError:
        reading.node.is_too_deep = True
    return reading.node


class _Reading:
    def __init__(
        self, resolver: Resolver, node: GraphNode, visitor: Visitor | None
    ) -> None:
        self.node = node
        self.visitor = visitor
        self.local = LocalScope(resolver, node.definition.scope)
        self.is_prose = False
        # Texts with holes, which are read where they are filled.
        self.templates: set[int] = set()

    def read(self) -> None:
        known = self.node.definition
        if known.function is not None:
            self._function(known.function, known)
        elif known.kind == "class" and known.class_ is not None:
            # Making an instance runs its initializer; leaving and entering run theirs.
            resolver = self.local.resolver
            methods = resolver.members(known.class_, known.scope).functions
            for name, function in methods.items():
                is_special = name.startswith("__") and name.endswith("__")
                target = resolver.attribute(known, name) if is_special else None
                if target is not None:
                    self.node.references.append(Reference(target, function.lineno, ()))
            for base in known.class_.bases:
                self._visit(base, ())
        elif known.value is not None:
            self._visit(known.value, ())

    def _function(self, function: FunctionDefinition, known: Definition) -> None:
        self.local.take_parameters(function, known)
        given = function.args
        for default in [*given.defaults, *given.kw_defaults, *function.decorator_list]:
            if default is not None:
                self._visit(default, ())
        for statement in function.body:
            self._visit(statement, ())

    def _visit(self, node: ast.AST, context: EnclosingDefinitions) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.local.take_import(node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._with(node, context)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._assignment(node, context)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node, context)
        elif isinstance(node, ast.Call):
            self._call(node, context)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            if self.visitor is not None:
                self.visitor.visit_name(node, self.local)
            self._refer(node, context)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # A docstring.
        elif isinstance(node, NESTED):
            self._nested(node, context)
        elif isinstance(node, ast.Raise):
            # What an error says is read by people.
            self.is_prose = True
            self._other(node, context)
            self.is_prose = False
        else:
            self._other(node, context)

    def _other(self, node: ast.AST, context: EnclosingDefinitions) -> None:
        if isinstance(node, ast.expr):
            if isinstance(node, ast.BinOp):
                self._note_template(node)
            if isinstance(node, _WITH_TEXT):
                self._text(node, context)
            if isinstance(node, ast.Subscript):
                self._mention_all(self.local.tables(node), node, context)
            # The element comes first in the text, and is made of what the loops bind.
            for loop in getattr(node, "generators", ()):
                self.local.loop(loop.target, loop.iter)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.local.loop(node.target, node.iter)
        elif isinstance(node, ast.Return) and node.value and self.visitor is not None:
            self.visitor.visit_return(node.value, self.local)
        for child in ast.iter_child_nodes(node):
            if child._fields:  # Not `Load` and the like.
                self._visit(child, context)

    def _note_template(self, node: ast.expr) -> None:
        template = find_template(node)
        if template is not None:
            self.templates.add(id(template))

    def _nested(self, node: ast.AST, context: EnclosingDefinitions) -> None:
        """A nested function, which is treated as called where it is defined."""
        outer, self.local = self.local, self.local.copy()
        self.local.take_parameters(node)
        for child in ast.iter_child_nodes(node):
            self._visit(child, context)
        self.local = outer
        if isinstance(node, FunctionDefinition):
            self.local.assign(node.name)

    def _with(
        self, node: ast.With | ast.AsyncWith, context: EnclosingDefinitions
    ) -> None:
        for item in node.items:
            makers = self._makers(item.context_expr, context)
            if isinstance(item.optional_vars, ast.Name):
                name = item.optional_vars.id
                self.local.assign(name, item.context_expr)
                self.local.made_with[name] = makers
            if makers:
                context = (makers, *context)
        for statement in node.body:
            self._visit(statement, context)

    def _makers(
        self, node: ast.expr, context: EnclosingDefinitions
    ) -> tuple[Definition, ...]:
        """What an expression names of the package, once it was visited."""
        before = len(self.node.references)
        self._visit(node, context)
        return tuple(one.target for one in self.node.references[before:])

    def _assignment(
        self,
        node: ast.Assign | ast.AnnAssign | ast.NamedExpr,
        context: EnclosingDefinitions,
    ) -> None:
        if node.value is None:
            return
        makers = self._makers(node.value, context)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                self.local.assign(target.id, node.value)
                self.local.made_with[target.id] = makers
            else:
                self._visit(target, context)

    def _augmented(self, node: ast.AugAssign, context: EnclosingDefinitions) -> None:
        """`query += more` gives the name a longer text."""
        self._visit(node.value, context)
        if isinstance(node.target, ast.Name):
            before = self.local.aliases.get(node.target.id)
            if before is not None:
                value = ast.BinOp(before, node.op, node.value)
                self.local.assign(node.target.id, ast.copy_location(value, node))
                self._text(value, context)
        else:
            self._visit(node.target, context)

    def _call(self, node: ast.Call, context: EnclosingDefinitions) -> None:
        self._note_template(node)
        around = self._around(node)
        context = (*around, *context)
        self._visit(node.func, context)
        if self.visitor is not None:
            self.visitor.visit_call(node, self.local)
        self._text(node, context)
        name = get_last_name(node.func)
        named = find_named_table(node)
        if named is not None:
            self._mention_all(
                self.local.find_strings(named[0]),
                node,
                context,
                named[1],
                is_certain=name == "Table",
            )
        for index, place in enumerate(list_arguments(node)):
            tables = self.local.tables(place) if index == 0 and name in _KINDS else ()
            if tables:
                self._mention_all(tables, place, context, _KINDS[name])
            else:
                self._visit(place, context)
        if self.visitor is not None:
            self.visitor.leave_call()

    def _around(self, node: ast.Call) -> EnclosingDefinitions:
        """What the connections in a call were made with, then what it calls or is given."""
        called = self.local.of(node.func)
        makers = [called] if called and called.kind == "function" else []
        connections: list[Definition] = []
        for place in [*list_arguments(node), node.func]:
            root = place
            while isinstance(root, (ast.Attribute, ast.Call, ast.Await)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name):
                connections += self.local.made_with.get(root.id, ())
            known = self.local.resolve_own(place)
            if known is not None and place is not node.func:
                makers.append(known)
        return tuple(tuple(group) for group in (connections, makers) if group)

    def _refer(self, node: ast.expr, context: EnclosingDefinitions) -> None:
        """The references and tables of a chain of attributes."""
        known = self.local.resolve_own(node)
        tables = self.local.tables(node, known)
        if tables:
            self._mention_all(tables, node, context)
            return
        if known is not None:
            self.node.references.append(Reference(known, node.lineno, context))
        if isinstance(node, ast.Attribute):
            if node.attr in _OF_METADATA:
                every = ast.Attribute(node.value, "sorted_tables", ast.Load())
                tables = self.local.tables(build_item(ast.copy_location(every, node)))
                self._mention_all(tables, node, context, _OF_METADATA[node.attr])
            tables = self.local.tables(node.value) if node.attr in _KINDS else ()
            if tables:
                self._mention_all(tables, node, context, _KINDS[node.attr])
            elif isinstance(node.value, (ast.Name, ast.Attribute)):
                self._refer(node.value, context)
            else:
                self._visit(node.value, context)

    def _mention_all(
        self,
        names: Iterable[str],
        node: ast.expr,
        context: EnclosingDefinitions,
        kind: str = "reads",
        *,
        is_certain: bool = True,
    ) -> None:
        for name in names:
            # Names of tables have no blanks; what has some is SQL, and found as such.
            if PLACEHOLDER not in name and len(name.split()) == 1:
                table = name.rpartition(".")[2]
                mention = TableMention(table, kind, node.lineno, context, is_certain)
                self.node.mentions.append(mention)

    def _text(self, node: ast.expr, context: EnclosingDefinitions) -> None:
        if self.is_prose or id(node) in self.templates:
            return
        constant = node.value if isinstance(node, ast.Constant) else None
        if constant is not None and not isinstance(constant, str):
            return
        for text in self.local.find_strings(node) if constant is None else (constant,):
            if self.visitor is not None:
                self.visitor.visit_string(node, text)
            if text.endswith(".sql"):
                file = self.local.resolver.text_of(self.local.scope.file, text)
                self._sql(node, file, context)
            elif looks_like_sql(text):
                self._sql(node, text, context)

    def _sql(self, node: ast.expr, text: str, context: EnclosingDefinitions) -> None:
        for table in find_sql_tables(text):
            line = node.lineno + text.count("\n", 0, table.start)
            line = min(line, node.end_lineno or line)
            mention = TableMention(
                table.name, table.kind, line, context, is_certainly_sql(text)
            )
            if mention not in self.node.mentions[-20:]:
                self.node.mentions.append(mention)
