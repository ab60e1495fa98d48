"""The names within one function of a package of handlers, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .modules import imports_of, last_name
from .resolver import Definition, HandlerPackage
from .string_values import Place, each_of, texts_of
from .tables import declared_tables, tables_of

__all__ = ["Chain", "Event", "Locals", "NESTED", "chain_of", "is_getter", "made_by"]


_STEPS = 20


class Chain(NamedTuple):
    """`client.agents.messages.create`, from left to right.

    Attributes:
        root: what its first name stands for; None when nothing is known of it.
    """

    names: tuple[str, ...]
    root: Definition | None


def is_getter(node: ast.Call, package: HandlerPackage, place: Place) -> bool:
    """Whether a call gives an attribute by its name: `getattr`, `attrgetter` and others."""
    return _got(node, package, place) is not None


def chain_of(
    node: ast.expr, package: HandlerPackage, place: Place, steps: int = _STEPS
) -> Chain | None:
    """The chain of an expression; calls, awaits and subscripts within it are left out.

    An attribute that is got by its name (`getattr`, `operator.attrgetter`) is one of it.
    """
    found: list[str] = []
    while steps > 0:
        steps -= 1
        if isinstance(node, ast.Attribute):
            known = package.of(node, place.scope, place.names)
            if known is not None and known.kind == "value" and known.value is not None:
                # What an attribute or a module's name was assigned.
                node, place = known.value, Place(known.scope, {}, {})
                continue
            found.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            got = _got(node, package, place)
            if got is None:
                node = node.func
            else:
                found.extend(reversed(got[0]))
                node = got[1]
        elif isinstance(node, (ast.Await, ast.Subscript, ast.NamedExpr)):
            node = node.value
        elif isinstance(node, ast.Name):
            if node.id in place.aliases:
                # A name may be assigned what it was before.
                name = node.id
                node, place = place.aliases[name], place.without(name)
                continue
            known = package.of(node, place.scope, place.names)
            if known is not None and known.kind == "value" and known.value is not None:
                node, place = known.value, Place(known.scope, {}, {})
                continue
            found.append(node.id)
            return Chain(tuple(reversed(found)), known)
        else:
            return Chain(tuple(reversed(found)), None)
    return None


def made_by(
    node: ast.expr, package: HandlerPackage, place: Place, steps: int = _STEPS
) -> Iterator[tuple[ast.Call, Place]]:
    """The calls that made what an expression stands for, each with its place."""
    if steps <= 0:
        return
    if isinstance(node, (ast.Await, ast.NamedExpr)):
        yield from made_by(node.value, package, place, steps - 1)
    elif isinstance(node, ast.Call):
        known = package.of(node.func, place.scope, place.names)
        if known is None or known.kind != "function":
            yield node, place
            return
        for given in package.returned(known):
            within = Place(known.scope, {}, package.assigned(known))
            yield from made_by(given, package, within, steps - 1)
    elif isinstance(node, ast.Name) and node.id in place.aliases:
        alias = place.aliases[node.id]
        yield from made_by(alias, package, place.without(node.id), steps - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        known = package.of(node, place.scope, place.names)
        if known is not None and known.kind == "value" and known.value is not None:
            within = Place(known.scope, {}, {})
            yield from made_by(known.value, package, within, steps - 1)


def _got(
    node: ast.Call, package: HandlerPackage, place: Place
) -> tuple[list[str], ast.expr] | None:
    """The names that a call gets of something, and of what; None for any other call."""
    function = node.func
    name = last_name(function)
    if name == "getattr" and len(node.args) >= 2:
        texts = texts_of(node.args[1], package, place)
        return (texts[0].split("."), node.args[0]) if texts else None
    if name in ("__getattribute__", "__getattr__") and len(node.args) == 1:
        texts = texts_of(node.args[0], package, place)
        if texts and isinstance(function, ast.Attribute):
            return [texts[0]], function.value
    if isinstance(function, ast.Name):
        known = package.of(function, place.scope, place.names)
        alias = place.aliases.get(function.id) or (known and known.value)
        function = alias or function
    if not (isinstance(function, ast.Call) and function.args and node.args):
        return None
    if last_name(function.func) not in ("attrgetter", "methodcaller"):
        return None
    texts = texts_of(function.args[0], package, place)
    return (texts[0].split("."), node.args[0]) if texts else None


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
