"""The names within one function of a package of handlers, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .module_scope import imports_of
from .name_chains import Chain, chain_of, is_getter, made_by
from .package_names import Definition, HandlerPackage
from .string_values import Place, each_of, texts_of
from .tables.table_objects import declared_tables, tables_of

__all__ = ["NESTED", "Event", "Locals"]

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FOLLOWED = ("function", "class", "value")


class Event(NamedTuple):
    """One step of the reading of a function.

    Attributes:
        kind: `name`, `call`, `end_of_call`, `text` or `returned`, as of a visitor; `bound`: a
            name stands for something from here on; `entered`, `left`: a function within.
        node: the expression; of `bound`, what the name was assigned.
        text: the text, or the name that is bound.
        known: what the name stands for.
    """

    kind: str
    node: ast.expr | None = None
    text: str = ""
    known: Definition | None = None


class Locals:
    """What names stand for at the place up to which a function was read.

    Attributes:
        events: the steps of the reading so far.
        made_with: what stood in the expression that a name was assigned, or entered by
            `with`: a connection, with what it was made.
    """

    def __init__(self, package: HandlerPackage, known: Definition) -> None:
        self.package = package
        self.scope = known.scope
        self.names: dict[str, Definition] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.made_with: dict[str, tuple[Definition, ...]] = {}
        self.events: list[Event] = []

    def assign(self, name: str, value: ast.expr | None = None) -> None:
        """A name is assigned; without a value, something unknown."""
        self.bind(name, None if value is None else self.of(value), value)

    def bind(
        self, name: str, known: Definition | None, value: ast.expr | None = None
    ) -> None:
        """A name stands for something that is known, and was assigned a value."""
        # A local name hides the module's, also when nothing is known of it.
        known = known or Definition("unknown", self.scope, name)
        self.events.append(Event("bound", value, name, known))
        self.names[name] = known
        self.aliases.pop(name, None)
        if value is not None:
            self.aliases[name] = value

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
                    found = self.package.annotated(argument.annotation, self.scope)
                self.bind(argument.arg, found)
        if known is not None and known.class_ is not None and placed:
            name, class_ = known.class_.name, known.class_
            own = Definition("instance", self.scope, name, class_=class_)
            self.bind(placed[0].arg, own)

    def take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """The names that an import within the function binds."""
        found = imports_of([node], self.scope.name, self.scope.is_package)
        for name, source in found.items():
            self.bind(name, self.package.imported(self.scope, source))

    def copy(self) -> Locals:
        """The names for a function within: what it assigns stays there."""
        made = Locals(self.package, Definition("unknown", self.scope, ""))
        made.names, made.aliases = dict(self.names), dict(self.aliases)
        made.made_with = dict(self.made_with)
        made.events = self.events
        return made

    def of(self, node: ast.expr) -> Definition | None:
        """What an expression stands for."""
        return self.package.of(node, self.scope, self.names)

    def followed(self, node: ast.expr) -> Definition | None:
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
            return declared_tables(known, self.package)
        return tables_of(node, self.package, self.place)

    def texts(self, node: ast.expr) -> tuple[str, ...]:
        """The texts that an expression may have; as `texts_of`."""
        return texts_of(node, self.package, self.place)

    def file(self, text: str) -> str:
        """The text of a file that the code names by a path; empty when it is not there."""
        return self.package.file(self.scope, text)

    @property
    def place(self) -> Place:
        """The present place in the function."""
        return Place(self.scope, self.names, self.aliases)

    def loop(self, target: ast.expr, items: ast.expr) -> None:
        """A loop or a comprehension binds its target to each of the items."""
        for name, value in each_of(target, items):
            self.assign(name, value)

    def chain(self, node: ast.expr) -> Chain | None:
        """The chain of an expression; as `chain_of`."""
        return chain_of(node, self.package, self.place)

    def is_getter(self, node: ast.Call) -> bool:
        """Whether a call gives an attribute by its name; as `is_getter`."""
        return is_getter(node, self.package, self.place)

    def calls_behind(self, node: ast.expr) -> Iterator[tuple[ast.Call, Place]]:
        """The calls that made what an expression stands for, each with its place.

        Of `client.post` with `client = Client(base_url=...)` the call of `Client`.
        """
        return made_by(node, self.package, self.place)
