"""The names within one function of a package of handlers, as far as the text shows."""

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

_STEPS = 20


class AttributeChain(NamedTuple):
    """`client.agents.messages.create`, from left to right.

    Attributes:
        root: what its first name stands for; None when nothing is known of it.
    """

    names: tuple[str, ...]
    root: Definition | None


def _made_by(
    node: ast.expr, place: ExpressionScope, seen: set[ast.expr], steps: int = _STEPS
) -> Iterator[tuple[ast.Call, ExpressionScope]]:
    """The calls that made what an expression stands for; each expression is looked at once."""
    if steps <= 0 or node in seen:
        return
    seen.add(node)
    if isinstance(node, (ast.Await, ast.NamedExpr)):
        yield from _made_by(node.value, place, seen, steps - 1)
    elif isinstance(node, ast.Call):
        known = place.of(node.func)
        if known is None or known.kind != "function":
            yield node, place
            return
        body = place.resolver.body(known)
        within = ExpressionScope(place.resolver, known.scope, {}, body.assigned)
        for given in body.returned:
            yield from _made_by(given, within, seen, steps - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        assigned = place.assigned(node)
        if assigned is not None:
            yield from _made_by(*assigned, seen, steps - 1)


def _got(node: ast.Call, place: ExpressionScope) -> tuple[list[str], ast.expr] | None:
    """The names that a call gets of something, and of what; None for any other call."""
    function = node.func
    name = get_last_name(function)
    if name == "getattr" and len(node.args) >= 2:
        texts = find_strings(node.args[1], place)
        return (texts[0].split("."), node.args[0]) if texts else None
    if name in ("__getattribute__", "__getattr__") and len(node.args) == 1:
        texts = find_strings(node.args[0], place)
        if texts and isinstance(function, ast.Attribute):
            return [texts[0]], function.value
    if isinstance(function, ast.Name):
        assigned = place.assigned(function)
        function = assigned[0] if assigned is not None else function
    if not (isinstance(function, ast.Call) and function.args and node.args):
        return None
    if get_last_name(function.func) not in ("attrgetter", "methodcaller"):
        return None
    texts = find_strings(function.args[0], place)
    return (texts[0].split("."), node.args[0]) if texts else None


NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FOLLOWED = ("function", "class", "value")


@dataclass
class LocalScope(ExpressionScope):
    """The place in a function up to which it was read; its names change as it is read on.

    Attributes:
        made_with: what stood in the expression that a name was assigned, or entered by
            `with`: a connection, with what it was made.
    """

    names: dict[str, Definition] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    made_with: dict[str, tuple[Definition, ...]] = field(default_factory=dict)

    def assign(self, name: str, value: ast.expr | None = None) -> None:
        """A name is assigned; without a value, something unknown."""
        self._bind(name, None if value is None else self.of(value))
        if value is not None:
            self.aliases[name] = value

    def _bind(self, name: str, known: Definition | None) -> None:
        # A local name hides the module's, also when nothing is known of it.
        self.names[name] = known or Definition("unknown", self.scope, name)
        self.aliases.pop(name, None)

    def take_parameters(self, node: ast.AST, known: Definition | None = None) -> None:
        """The parameters of a function, of their annotated types; the first of a method."""
        if not isinstance(node, NESTED):
            return
        given = node.args
        placed = [*given.posonlyargs, *given.args]
        for argument in [*placed, *given.kwonlyargs, given.vararg, given.kwarg]:
            if argument is not None:
                found = None
                if argument.annotation is not None:
                    found = self.resolver.annotated(argument.annotation, self.scope)
                self._bind(argument.arg, found)
        if known is not None and known.class_ is not None and placed:
            class_ = known.class_
            own = Definition("instance", self.scope, class_.name, class_=class_)
            self._bind(placed[0].arg, own)

    def take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """The names that an import within the function binds."""
        for name, source in collect_imports([node], self.scope).items():
            self._bind(name, self.resolver.imported(self.scope, source))

    def copy(self) -> LocalScope:
        """The names for a function within: what it assigns stays there."""
        return replace(
            self,
            names=dict(self.names),
            aliases=dict(self.aliases),
            made_with=dict(self.made_with),
        )

    def resolve_own(self, node: ast.expr) -> Definition | None:
        """A function, class or assigned value of the package that an expression names."""
        found = self.of(node)
        return found if found and found.kind in _FOLLOWED else None

    def tables(
        self, node: ast.expr, known: Definition | None = None
    ) -> tuple[str, ...]:
        """The tables that an expression may stand for: SQLAlchemy's, or mapped classes'.

        `known`: what it stands for, where that was found out already.
        """
        if known is not None:
            return find_declared_tables(known, self.resolver)
        return find_tables(node, self)

    def find_strings(self, node: ast.expr) -> tuple[str, ...]:
        """The texts that an expression may have; as `texts_of`."""
        return find_strings(node, self)

    def loop(self, target: ast.expr, items: ast.expr) -> None:
        """A loop or a comprehension binds its target to each of the items."""
        for name, value in bind_loop_target(target, items):
            self.assign(name, value)

    def get_chain(self, node: ast.expr) -> AttributeChain | None:
        """The chain of an expression; calls, awaits and subscripts in it are left out.

        An attribute that is got by its name (`getattr`, `operator.attrgetter`) is one of it.
        """
        place: ExpressionScope = self
        found: list[str] = []
        for _ in range(_STEPS):
            assigned = None
            if isinstance(node, (ast.Name, ast.Attribute)):
                assigned = place.assigned(node)
            if assigned is not None:
                node, place = assigned
            elif isinstance(node, ast.Attribute):
                found.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                got = _got(node, place)
                if got is None:
                    node = node.func
                else:
                    found.extend(reversed(got[0]))
                    node = got[1]
            elif isinstance(node, (ast.Await, ast.Subscript, ast.NamedExpr)):
                node = node.value
            elif isinstance(node, ast.Name):
                found.append(node.id)
                return AttributeChain(tuple(reversed(found)), place.of(node))
            else:
                return AttributeChain(tuple(reversed(found)), None)
        return None

    def is_attribute_getter(self, node: ast.Call) -> bool:
        """Whether a call gives an attribute by its name: `getattr`, `attrgetter` and others."""
        return _got(node, self) is not None

    def list_creating_calls(
        self, node: ast.expr
    ) -> Iterator[tuple[ast.Call, ExpressionScope]]:
        """The calls that made what an expression stands for, each with its place.

        Of `client.post` with `client = Client(base_url=...)` the call of `Client`.
        """
        return _made_by(node, self, set())
