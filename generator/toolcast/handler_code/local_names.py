"""The names within one function of a package of handlers, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .module_scope import imports_of
from .package_names import Definition, HandlerPackage
from .string_values import Chain, chain_of, text_of

__all__ = ["NESTED", "Locals", "arguments_of", "last_name"]

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FOLLOWED = ("function", "class", "value")


class Locals:
    """What names stand for at the place up to which a function was read.

    Attributes:
        made_with: what stood in the expression that a name was assigned, or entered by
            `with`: a connection, with what it was made.
    """

    def __init__(self, package: HandlerPackage, known: Definition) -> None:
        self.package = package
        self.scope = known.scope
        self.names: dict[str, Definition] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.made_with: dict[str, tuple[Definition, ...]] = {}

    def assign(self, name: str, value: ast.expr | None = None) -> None:
        """A name is assigned; without a value, something unknown."""
        known = None if value is None else self.of(value)
        self._set(name, known)
        self.aliases.pop(name, None)
        if value is not None:
            self.aliases[name] = value

    def _set(self, name: str, known: Definition | None) -> None:
        # A local name hides the module's, also when nothing is known of it.
        self.names[name] = known or Definition("unknown", self.scope, name)

    def take_parameters(self, node: ast.AST, known: Definition | None = None) -> None:
        """The parameters of a function, of their annotated types; the first of a method."""
        if not isinstance(node, NESTED):
            return
        given = node.args
        placed = [*given.posonlyargs, *given.args]
        for argument in [*placed, *given.kwonlyargs, given.vararg, given.kwarg]:
            if argument is not None:
                self.assign(argument.arg)
                if argument.annotation is not None:
                    found = self.package.annotated(argument.annotation, self.scope)
                    self._set(argument.arg, found)
        if known is not None and known.class_ is not None and placed:
            name, class_ = known.class_.name, known.class_
            self.names[placed[0].arg] = Definition(
                "instance", self.scope, name, class_=class_
            )

    def take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """The names that an import within the function binds."""
        found = imports_of([node], self.scope.name, self.scope.is_package)
        for name, source in found.items():
            self.names[name] = self.package.imported(self.scope, source)

    def copy(self) -> Locals:
        """The names for a function within: what it assigns stays there."""
        made = Locals(self.package, Definition("unknown", self.scope, ""))
        made.names, made.aliases = dict(self.names), dict(self.aliases)
        made.made_with = dict(self.made_with)
        return made

    def of(self, node: ast.expr) -> Definition | None:
        """What an expression stands for."""
        return self.package.of(node, self.scope, self.names)

    def followed(self, node: ast.expr) -> Definition | None:
        """A function, class or assigned value of the package that an expression names."""
        found = self.of(node)
        return found if found and found.kind in _FOLLOWED else None

    def all_followed(self, node: ast.expr) -> Iterator[Definition]:
        """Those that are named anywhere in an expression."""
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Name, ast.Attribute)):
                known = self.followed(inner)
                if known is not None:
                    yield known

    def table(self, node: ast.expr) -> str:
        """The table that an expression stands for: SQLAlchemy's, or a mapped class's."""
        known = self.followed(node)
        if known is None:
            return ""
        name: ast.expr | None = None
        value = known.value
        if known.class_ is not None and known.kind == "class":
            name = known.class_.values.get("__tablename__")
        elif isinstance(value, ast.Call) and last_name(value.func) == "Table":
            name = value.args[0] if value.args else None
        return (name and text_of(name, self.package, known.scope, {})) or ""

    def text(self, node: ast.expr) -> str | None:
        """The text of an expression; as `text_of`."""
        return text_of(node, self.package, self.scope, self.names)

    def chain(self, node: ast.expr) -> Chain | None:
        """The chain of an expression; as `chain_of`."""
        return chain_of(node, self.package, self.scope, self.names, self.aliases)


def last_name(node: ast.expr) -> str:
    """The last of the names of `a.b.c`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call is given, in their order."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]
