"""Reading of one function of the handlers package: its references and table accesses."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .local_names import NESTED, LocalScope
from .module_names import Definition
from .modules import (
    PLACEHOLDER,
    FunctionDefinition,
    get_last_name,
    list_arguments,
)
from .resolver import Resolver, is_lookup
from .string_values import build_item, find_template
from .tables import (
    find_named_table,
    find_sql_tables,
    is_certainly_sql,
    is_probably_sql,
)

EnclosingDefinitions = tuple[tuple[Definition, ...], ...]
"""The definitions used by the constructs around an expression, innermost first.

Constructs are the creation of a used connection, the called function, and `with`
statements. They show which database pool an expression uses.
"""

_STATEMENT_KINDS = {"insert": "writes", "update": "writes", "delete": "deletes"}
# These expressions are evaluated as whole strings; of other expressions, only the parts
# are visited.
_STRING_NODES = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Subscript)
_METADATA_ATTRIBUTES = {"sorted_tables": "reads", "drop_all": "deletes"}
_RECENT_MENTIONS = 20
"""The number of previous table mentions that a new one from SQL must differ from."""


class Reference(NamedTuple):
    """A reference from a function to another definition of the package.

    Attributes:
        target: the definition.
        line: the line of the reference.
        context: the enclosing definitions.
    """

    target: Definition
    line: int
    context: EnclosingDefinitions


class TableMention(NamedTuple):
    """A mention of a database table in a function.

    Attributes:
        table: the name of the table.
        kind: `reads`, `writes` or `deletes`.
        line: the line of the mention.
        context: the enclosing definitions.
        is_certain: whether it is a table even if no pool declares it; False if the text
            may be prose.
    """

    table: str
    kind: str
    line: int
    context: EnclosingDefinitions
    is_certain: bool = True


class Observation(NamedTuple):
    """An expression that a visitor has recorded.

    Attributes:
        line: the line.
        text: the source of the expression, on one line.
        tools: the names of the tools that it calls; empty for other observations.
    """

    line: int
    text: str
    tools: tuple[str, ...] = ()


class Visitor(Protocol):
    """Interface of a visitor that receives the expressions of a function in order.

    Rules of extensions pass a visitor class to `trace_handler`, and receive its
    observations.
    """

    @property
    def observations(self) -> list[Observation]:
        """Observations in the order in which they were made."""

    def visit_name(self, node: ast.expr, local: LocalScope) -> None:
        """Visit a name or an attribute chain."""

    def visit_call(self, node: ast.Call, local: LocalScope) -> None:
        """Visit a call, before its arguments."""

    def leave_call(self) -> None:
        """Leave the innermost call, after its arguments."""

    def visit_string(self, node: ast.expr, text: str) -> None:
        """Visit a possible value of a string expression."""

    def visit_return(self, node: ast.expr, local: LocalScope) -> None:
        """Visit the value of a `return` statement."""


@dataclass
class GraphNode:
    """A node of the call graph: what one function, class or value uses.

    Attributes:
        definition: the function, class or assigned value.
        references: the references to other definitions of the package.
        mentions: the mentions of tables.
        is_too_deep: whether it was not read completely, because it is nested too
            deeply.
    """

    definition: Definition
    references: list[Reference] = field(default_factory=list)
    mentions: list[TableMention] = field(default_factory=list)
    is_too_deep: bool = False


def read_node(
    resolver: Resolver, definition: Definition, visitor: Visitor | None = None
) -> GraphNode:
    """Return the graph node of a definition; pass its expressions to a visitor.

    Code that exceeds Python's recursion limit is read up to that point, and marked.
    """
    reader = _NodeReader(resolver, GraphNode(definition), visitor)
    try:
        reader.read()
    except RecursionError:
        reader.node.is_too_deep = True
    return reader.node


class _NodeReader:
    def __init__(
        self, resolver: Resolver, node: GraphNode, visitor: Visitor | None
    ) -> None:
        self.node = node
        self.visitor = visitor
        self.local = LocalScope(resolver, node.definition.module)
        self.is_prose = False
        # The ids of nodes such as `"%s"` in `"%s" % x`. They are skipped, because the
        # whole expression is read with its values.
        self.templates: set[int] = set()

    def read(self) -> None:
        definition = self.node.definition
        if definition.function is not None:
            self._read_function(definition.function, definition)
        elif definition.kind == "class" and definition.class_ is not None:
            self._read_class(definition, definition.class_)
        elif definition.value is not None:
            self._visit(definition.value, ())

    def _read_function(
        self, function: FunctionDefinition, definition: Definition
    ) -> None:
        self.local.bind_parameters(function, definition)
        arguments = function.args
        header = [
            *arguments.defaults,
            *arguments.kw_defaults,
            *function.decorator_list,
        ]
        for expression in header:
            if expression is not None:
                self._visit(expression, ())
        for statement in function.body:
            self._visit(statement, ())

    def _read_class(self, definition: Definition, class_: ast.ClassDef) -> None:
        # Special methods run without being named, such as `__init__` by a call and
        # `__enter__` by `with`, so all of them are references.
        resolver = self.local.resolver
        methods = resolver.collect_members(class_, definition.module).functions
        for name, function in methods.items():
            if not (name.startswith("__") and name.endswith("__")):
                continue
            target = resolver.resolve_attribute(definition, name)
            if target is not None:
                self.node.references.append(Reference(target, function.lineno, ()))
        for base in class_.bases:
            self._visit(base, ())

    def _visit(self, node: ast.AST, context: EnclosingDefinitions) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.local.bind_import(node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._visit_with(node, context)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self._visit_assignment(node, context)
        elif isinstance(node, ast.AugAssign):
            self._visit_augmented_assignment(node, context)
        elif isinstance(node, ast.Call):
            self._add_lookup(node, context)
            self._visit_call(node, context)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            if self.visitor is not None:
                self.visitor.visit_name(node, self.local)
            self._add_references(node, context)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # A constant as a statement is a docstring or has no effect.
            return
        elif isinstance(node, NESTED):
            self._visit_nested_function(node, context)
        elif isinstance(node, ast.Raise):
            # Error messages are prose that can look like SQL.
            self.is_prose = True
            self._visit_other(node, context)
            self.is_prose = False
        else:
            self._visit_other(node, context)

    def _visit_other(self, node: ast.AST, context: EnclosingDefinitions) -> None:
        if isinstance(node, ast.expr):
            if isinstance(node, ast.BinOp):
                self._note_template(node)
            if isinstance(node, _STRING_NODES):
                self._visit_strings(node, context)
            if isinstance(node, ast.Subscript):
                self._add_lookup(node, context)
                self._add_mentions(self.local.find_tables(node), node, context)
            # The element of a comprehension is visited before the loops that bind its
            # names: bind them first.
            for loop in getattr(node, "generators", ()):
                self.local.bind_loop(loop.target, loop.iter)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.local.bind_loop(node.target, node.iter)
        elif isinstance(node, ast.Return) and node.value and self.visitor is not None:
            self.visitor.visit_return(node.value, self.local)
        for child in ast.iter_child_nodes(node):
            # Skip nodes without children, such as `ast.Load`.
            if child._fields:
                self._visit(child, context)

    def _note_template(self, node: ast.expr) -> None:
        template = find_template(node)
        if template is not None:
            self.templates.add(id(template))

    def _visit_nested_function(
        self, node: ast.AST, context: EnclosingDefinitions
    ) -> None:
        """Visit a nested function as if it were called where it is defined."""
        outer, self.local = self.local, self.local.copy()
        self.local.bind_parameters(node)
        for child in ast.iter_child_nodes(node):
            self._visit(child, context)
        self.local = outer
        if isinstance(node, FunctionDefinition):
            self.local.assign(node.name)

    def _visit_with(
        self, node: ast.With | ast.AsyncWith, context: EnclosingDefinitions
    ) -> None:
        for item in node.items:
            creators = self._visit_creators(item.context_expr, context)
            if isinstance(item.optional_vars, ast.Name):
                name = item.optional_vars.id
                self.local.assign(name, item.context_expr)
                self.local.creators[name] = creators
            if creators:
                context = (creators, *context)
        for statement in node.body:
            self._visit(statement, context)

    def _visit_creators(
        self, node: ast.expr, context: EnclosingDefinitions
    ) -> tuple[Definition, ...]:
        """Visit an expression, and return the package's definitions that it uses.

        They can create the value, such as a connection.
        """
        count = len(self.node.references)
        self._visit(node, context)
        return tuple(reference.target for reference in self.node.references[count:])

    def _visit_assignment(
        self,
        node: ast.Assign | ast.AnnAssign | ast.NamedExpr,
        context: EnclosingDefinitions,
    ) -> None:
        if node.value is None:
            return
        creators = self._visit_creators(node.value, context)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                self.local.assign(target.id, node.value)
                self.local.creators[target.id] = creators
            else:
                self._visit(target, context)

    def _visit_augmented_assignment(
        self, node: ast.AugAssign, context: EnclosingDefinitions
    ) -> None:
        """Visit `name += value`; the name is then the concatenation of both."""
        self._visit(node.value, context)
        if not isinstance(node.target, ast.Name):
            self._visit(node.target, context)
            return
        previous = self.local.aliases.get(node.target.id)
        if previous is not None:
            value = ast.BinOp(previous, node.op, node.value)
            self.local.assign(node.target.id, ast.copy_location(value, node))
            self._visit_strings(value, context)

    def _visit_call(self, node: ast.Call, context: EnclosingDefinitions) -> None:
        self._note_template(node)
        context = (*self._list_call_context(node), *context)
        self._visit(node.func, context)
        if self.visitor is not None:
            self.visitor.visit_call(node, self.local)
        self._visit_strings(node, context)
        name = get_last_name(node.func)
        named_table = find_named_table(node)
        if named_table is not None:
            argument, kind = named_table
            tables = self.local.find_strings(argument)
            # Only SQLAlchemy's `Table` is certain to name a table; the other functions
            # have common names.
            is_certain = name == "Table"
            self._add_mentions(tables, node, context, kind, is_certain=is_certain)
        for index, argument in enumerate(list_arguments(node)):
            # SQLAlchemy's functions: `insert(notes)`, `update(notes)`, `delete(notes)`.
            is_statement = index == 0 and name in _STATEMENT_KINDS
            tables = self.local.find_tables(argument) if is_statement else ()
            if tables:
                self._add_mentions(tables, argument, context, _STATEMENT_KINDS[name])
            else:
                self._visit(argument, context)
        if self.visitor is not None:
            self.visitor.leave_call()

    def _list_call_context(self, node: ast.Call) -> EnclosingDefinitions:
        """Return the definitions that determine the connection of SQL in a call's arguments.

        These are the functions that returned the objects which the call uses, such as
        `get_pool` in `get_pool().execute(sql)`, then the called functions.
        """
        called = self.local.resolve(node.func)
        functions = [called] if called and called.kind == "function" else []
        creators: list[Definition] = []
        for expression in [*list_arguments(node), node.func]:
            root = expression
            while isinstance(root, (ast.Attribute, ast.Call, ast.Await)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name):
                creators += self.local.creators.get(root.id, ())
            definition = self.local.resolve_own(expression)
            if definition is not None and expression is not node.func:
                functions.append(definition)
        return tuple(tuple(group) for group in (creators, functions) if group)

    def _add_lookup(
        self, node: ast.Call | ast.Subscript, context: EnclosingDefinitions
    ) -> None:
        """Add a reference by a name in a string, such as `getattr(module, "run")`."""
        definition = self.local.resolve_own(node) if is_lookup(node) else None
        if definition is not None:
            self.node.references.append(Reference(definition, node.lineno, context))

    def _add_references(self, node: ast.expr, context: EnclosingDefinitions) -> None:
        """Record the definitions and tables that a name or attribute chain names."""
        definition = self.local.resolve_own(node)
        tables = self.local.find_tables(node, definition)
        if tables:
            self._add_mentions(tables, node, context)
            return
        if definition is not None:
            self.node.references.append(Reference(definition, node.lineno, context))
        if isinstance(node, ast.Attribute):
            if node.attr in _METADATA_ATTRIBUTES:
                all_tables = ast.Attribute(node.value, "sorted_tables", ast.Load())
                item = build_item(ast.copy_location(all_tables, node))
                tables = self.local.find_tables(item)
                kind = _METADATA_ATTRIBUTES[node.attr]
                self._add_mentions(tables, node, context, kind)
            # SQLAlchemy's methods: `notes.insert()`, `notes.update()`,
            # `notes.delete()`.
            is_statement = node.attr in _STATEMENT_KINDS
            tables = self.local.find_tables(node.value) if is_statement else ()
            if tables:
                kind = _STATEMENT_KINDS[node.attr]
                self._add_mentions(tables, node, context, kind)
            elif isinstance(node.value, (ast.Name, ast.Attribute)):
                self._add_references(node.value, context)
            else:
                self._visit(node.value, context)

    def _add_mentions(
        self,
        names: Iterable[str],
        node: ast.expr,
        context: EnclosingDefinitions,
        kind: str = "reads",
        *,
        is_certain: bool = True,
    ) -> None:
        for name in names:
            # A text with spaces is SQL, which `_add_sql_mentions` reads; a partly
            # unknown name is skipped.
            if PLACEHOLDER not in name and len(name.split()) == 1:
                table = name.rpartition(".")[2]
                self.node.mentions.append(
                    TableMention(table, kind, node.lineno, context, is_certain)
                )

    def _visit_strings(self, node: ast.expr, context: EnclosingDefinitions) -> None:
        """Visit the possible values of a string expression; add the tables in SQL.

        The name of an `.sql` file stands for its content.
        """
        if self.is_prose or id(node) in self.templates:
            return
        constant = node.value if isinstance(node, ast.Constant) else None
        if constant is not None and not isinstance(constant, str):
            return
        strings = (constant,) if constant is not None else self.local.find_strings(node)
        for text in strings:
            if self.visitor is not None:
                self.visitor.visit_string(node, text)
            # The code probably reads this file and runs its statements.
            if text.endswith(".sql"):
                file = self.local.module.file
                sql = self.local.resolver.read_file(file, text)
                self._add_sql_mentions(node, sql, context)
            elif is_probably_sql(text):
                self._add_sql_mentions(node, text, context)

    def _add_sql_mentions(
        self, node: ast.expr, sql: str, context: EnclosingDefinitions
    ) -> None:
        is_certain = is_certainly_sql(sql)
        for table in find_sql_tables(sql):
            line = node.lineno + sql.count("\n", 0, table.start)
            # The text can come from another expression or a file, and have more lines
            # than this node.
            line = min(line, node.end_lineno or line)
            mention = TableMention(table.name, table.kind, line, context, is_certain)
            # Several possible values of a string repeat the same tables.
            if mention not in self.node.mentions[-_RECENT_MENTIONS:]:
                self.node.mentions.append(mention)
