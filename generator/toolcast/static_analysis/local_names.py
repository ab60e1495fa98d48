"""Local names in a function of the handlers package, and the objects that they refer to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .module_names import Definition
from .modules import collect_imports, get_last_name
from .resolver import ExpressionScope
from .string_values import bind_loop_target, find_strings
from .tables import find_declared_tables, find_tables

# The maximum length of a followed chain of names, attributes and calls.
_MAX_STEPS = 20


class AttributeChain(NamedTuple):
    """A chain of attributes, such as `client.agents.messages.create`.

    Attributes:
        names: the names from left to right.
        root: the object that the first name refers to; None if it is unknown.
    """

    names: tuple[str, ...]
    root: Definition | None


def _list_creating_calls(
    node: ast.expr,
    scope: ExpressionScope,
    visited: set[ast.expr],
    steps: int = _MAX_STEPS,
) -> Iterator[tuple[ast.Call, ExpressionScope]]:
    """Yield the calls that create the value of an expression.

    Names are followed to their assigned values, and calls of functions of the package
    to their `return` statements.
    """
    if steps <= 0 or node in visited:
        return
    visited.add(node)
    if isinstance(node, (ast.Await, ast.NamedExpr)):
        yield from _list_creating_calls(node.value, scope, visited, steps - 1)
    elif isinstance(node, ast.Call):
        called = scope.resolve(node.func)
        if called is None or called.kind != "function":
            yield node, scope
            return
        # A function of the package: its `return` statements create the value.
        body = scope.resolver.get_body(called)
        body_scope = ExpressionScope(
            scope.resolver, called.module, {}, body.assignments
        )
        for value in body.returned:
            yield from _list_creating_calls(value, body_scope, visited, steps - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        assigned = scope.find_assigned(node)
        if assigned is not None:
            yield from _list_creating_calls(*assigned, visited, steps - 1)


def _parse_attribute_getter(
    node: ast.Call, scope: ExpressionScope
) -> tuple[list[str], ast.expr] | None:
    """Return the attribute names and the object of a call such as `getattr(x, "a")`.

    Supported are `getattr`, `__getattribute__`, `__getattr__`, `operator.attrgetter`
    and `operator.methodcaller`. None for other calls, and if the attribute's name is
    unknown.
    """
    function = node.func
    name = get_last_name(function)
    if name == "getattr" and len(node.args) >= 2:
        strings = find_strings(node.args[1], scope)
        return (strings[0].split("."), node.args[0]) if strings else None
    if name in ("__getattribute__", "__getattr__") and len(node.args) == 1:
        strings = find_strings(node.args[0], scope)
        if strings and isinstance(function, ast.Attribute):
            return [strings[0]], function.value
    if isinstance(function, ast.Name):
        # `get_name = attrgetter("name")` can be a separate statement before the call
        # `get_name(x)`.
        assigned = scope.find_assigned(function)
        function = assigned[0] if assigned is not None else function
    if not (isinstance(function, ast.Call) and function.args and node.args):
        return None
    if get_last_name(function.func) not in ("attrgetter", "methodcaller"):
        return None
    strings = find_strings(function.args[0], scope)
    return (strings[0].split("."), node.args[0]) if strings else None


NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
"""The syntax tree nodes of functions that can be nested in another function."""
_FOLLOWED_KINDS = ("function", "class", "value")


@dataclass
class LocalScope(ExpressionScope):
    """The names of a function at the current position of a reader.

    The names change while the function is read from top to bottom.

    Attributes:
        creators: for each name, the objects of the package in the expression that was
            assigned to the name, such as the function that returned a connection.
    """

    names: dict[str, Definition] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    creators: dict[str, tuple[Definition, ...]] = field(default_factory=dict)

    def assign(self, name: str, value: ast.expr | None = None) -> None:
        """Bind a name to an expression; without an expression, the value is unknown."""
        self._bind(name, None if value is None else self.resolve(value))
        if value is not None:
            self.aliases[name] = value

    def _bind(self, name: str, definition: Definition | None) -> None:
        # A local name shadows the name of the module even if the local value is
        # unknown.
        self.names[name] = definition or Definition("unknown", self.module, name)
        self.aliases.pop(name, None)

    def bind_parameters(
        self, node: ast.AST, definition: Definition | None = None
    ) -> None:
        """Bind a function's parameters to instances of their annotated types.

        A parameter without a known type hides a name of the module. Other nodes are
        ignored.

        Args:
            node: the function or lambda.
            definition: the definition of the function; for a method, its first
                parameter is bound to an instance of the class.
        """
        if not isinstance(node, NESTED):
            return
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument in [
            *positional,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]:
            if argument is None:
                continue
            instance = None
            if argument.annotation is not None:
                instance = self.resolver.resolve_annotation(
                    argument.annotation, self.module
                )
            self._bind(argument.arg, instance)
        if definition is not None and definition.class_ is not None and positional:
            class_ = definition.class_
            instance = Definition("instance", self.module, class_.name, class_=class_)
            self._bind(positional[0].arg, instance)

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind the names of an import statement in the function."""
        for name, source in collect_imports([node], self.module).items():
            self._bind(name, self.resolver.resolve_import(self.module, source))

    def copy(self) -> LocalScope:
        """Return a copy for a nested function, which assigns its own names."""
        return replace(
            self,
            names=dict(self.names),
            aliases=dict(self.aliases),
            creators=dict(self.creators),
        )

    def resolve_own(self, node: ast.expr) -> Definition | None:
        """Return the function, class or assigned value of the package, if it is one.

        None for modules, instances, and names from outside the package.
        """
        definition = self.resolve(node)
        if definition is None or definition.kind not in _FOLLOWED_KINDS:
            return None
        return definition

    def find_tables(
        self, node: ast.expr, definition: Definition | None = None
    ) -> tuple[str, ...]:
        """Return the tables that an expression can refer to.

        A table is declared by SQLAlchemy's `Table`, or by a mapped class.

        Args:
            node: the expression.
            definition: the object that the expression refers to, if the caller has
                resolved it already.
        """
        if definition is not None:
            return find_declared_tables(definition, self.resolver)
        return find_tables(node, self)

    def find_strings(self, node: ast.expr) -> tuple[str, ...]:
        """Return the possible values of a string expression; see `string_values`.

        Empty if they are unknown.
        """
        return find_strings(node, self)

    def bind_loop(self, target: ast.expr, items: ast.expr) -> None:
        """Bind the names in the target of a loop or comprehension to an item.

        Args:
            target: the target after `for`.
            items: the expression after `in`.
        """
        for name, value in bind_loop_target(target, items):
            self.assign(name, value)

    def get_chain(self, node: ast.expr) -> AttributeChain | None:
        """Return the attribute chain of an expression; None if it is too long.

        Assigned names are replaced by their values. Calls, `await` and subscripts are
        skipped, and attributes that are read by name (`getattr`) are included.
        """
        scope: ExpressionScope = self
        names: list[str] = []
        for _ in range(_MAX_STEPS):
            assigned = None
            if isinstance(node, (ast.Name, ast.Attribute)):
                assigned = scope.find_assigned(node)
            if assigned is not None:
                node, scope = assigned
            elif isinstance(node, ast.Attribute):
                names.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                getter = _parse_attribute_getter(node, scope)
                if getter is None:
                    node = node.func
                else:
                    attributes, node = getter
                    names.extend(reversed(attributes))
            elif isinstance(node, (ast.Await, ast.Subscript, ast.NamedExpr)):
                node = node.value
            elif isinstance(node, ast.Name):
                names.append(node.id)
                return AttributeChain(tuple(reversed(names)), scope.resolve(node))
            else:
                return AttributeChain(tuple(reversed(names)), None)
        return None

    def is_attribute_getter(self, node: ast.Call) -> bool:
        """Return whether a call reads an attribute by its name, such as `getattr`."""
        return _parse_attribute_getter(node, self) is not None

    def list_creating_calls(
        self, node: ast.expr
    ) -> Iterator[tuple[ast.Call, ExpressionScope]]:
        """Yield the calls that create the value of an expression, each with its scope.

        For `client.post` after `client = Client(base_url=...)`, this is the call of
        `Client`.
        """
        return _list_creating_calls(node, self, set())
