"""Resolves expressions in the source text of a package of handlers; nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .module_names import Definition, ModuleNames
from .modules import (
    FunctionDefinition,
    PythonModule,
    collect_bindings,
    get_last_name,
    list_returned_values,
)

# Attributes and calls that lead to one another, one after the other.
_STEPS = 20
# Classes that one inherits from; no class that people can read has as many.
_MAX_PARENTS = 200
# Context managers and generators: what is entered or iterated is the argument.
_HOLDERS = frozenset(
    (
        "Iterator AsyncIterator Generator AsyncGenerator Iterable"
        " ContextManager AbstractContextManager AbstractAsyncContextManager"
        " Optional Annotated Awaitable Coroutine Type type"
    ).split()
)


class _Body(NamedTuple):
    """What a function returns, and what it assigns to its names; the last one counts."""

    returned: tuple[ast.expr, ...]
    assigned: Mapping[str, ast.expr]


class _Members(NamedTuple):
    """What a class has of its own: methods, and values of attributes."""

    functions: Mapping[str, FunctionDefinition]
    values: Mapping[str, ast.expr]


class Resolver(ModuleNames):
    """What expressions refer to, where calls and attributes are followed.

    Args:
        text_of: the text of a file that a module, by its own file, names by a path.
    """

    def __init__(
        self,
        module_of: Callable[[str], PythonModule | None],
        package: str = "",
        text_of: Callable[[str, str], str] = lambda file, path: "",
    ) -> None:
        super().__init__(module_of, package)
        self.text_of = text_of
        self._members: dict[ast.ClassDef, _Members] = {}
        self._parents: dict[ast.ClassDef, tuple[Definition, ...]] = {}
        self._bodies: dict[ast.AST, _Body] = {}

    def of(
        self,
        expression: ast.expr,
        module: PythonModule,
        names: Mapping[str, Definition],
        steps: int = _STEPS,
    ) -> Definition | None:
        """What an expression refers to, as far as the text shows.

        Args:
            names: those of the function in which it stands.
        """
        if steps <= 0:
            return None
        if isinstance(expression, ast.Name):
            if expression.id in names:
                return names[expression.id]
            return self.named(module, expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.of(expression.value, module, names, steps - 1)
            return owner and self.attribute(owner, expression.attr, steps - 1)
        if isinstance(expression, ast.Await):
            return self.of(expression.value, module, names, steps - 1)
        if isinstance(expression, ast.Call):
            called = self.of(expression.func, module, names, steps - 1)
            return called and self.result(called)
        return None

    def attribute(
        self, owner: Definition, name: str, steps: int = _STEPS
    ) -> Definition | None:
        """What an attribute refers to."""
        if steps <= 0:
            return None
        if owner.kind == "module":
            known = self.named(owner.scope, name)
            return known or self.external(owner.scope, f"{owner.name}.{name}")
        if owner.kind == "external":
            # `import a.b` binds `a`, and `a.b` may be the package's own.
            return self.external(owner.scope, f"{owner.name}.{name}")
        if owner.kind == "value" and owner.value is not None:
            held = self.of(owner.value, owner.scope, {}, steps - 1)
            return held and self.attribute(held, name, steps - 1)
        if owner.class_ is None or owner.kind == "function":
            return None
        for one in self.with_parents(owner):
            if one.class_ is None:
                continue
            members, full = self.members(one.class_, one.scope), f"{one.name}.{name}"
            found = members.functions.get(name)
            if found is not None:
                return Definition("function", one.scope, full, found, one.class_)
            if name in members.values:
                value = members.values[name]
                return Definition("value", one.scope, full, value, one.class_)
        return None

    def with_parents(self, class_: Definition) -> tuple[Definition, ...]:
        """A class and those of the package that it inherits from, nearest first."""
        node = class_.class_
        if node is None:
            return ()
        if node not in self._parents:
            found: dict[ast.ClassDef, Definition] = {}
            waiting = [class_]
            while waiting and len(found) < _MAX_PARENTS:
                scope, own = waiting[-1].scope, waiting.pop().class_
                if own is None or own in found:
                    continue
                found[own] = Definition("class", scope, own.name, own, own)
                bases = [self.of(base, scope, {}) for base in own.bases]
                waiting += filter(None, reversed(bases))
            self._parents[node] = tuple(found.values())
        return self._parents[node]

    def members(self, node: ast.ClassDef, module: PythonModule) -> _Members:
        """The methods of a class, and what its attributes are assigned.

        That is in its body, or to `self` in a method.
        """
        if node not in self._members:
            bindings = collect_bindings(node.body, module)
            functions, values = bindings.functions, dict(bindings.assignments)
            for function in functions.values():
                for inner in ast.walk(function):
                    if isinstance(inner, ast.Assign):
                        for target in inner.targets:
                            if (
                                isinstance(target, ast.Attribute)
                                and isinstance(target.value, ast.Name)
                                and target.value.id == "self"
                            ):
                                values.setdefault(target.attr, inner.value)
            self._members[node] = _Members(functions, values)
        return self._members[node]

    def body(self, known: Definition) -> _Body:
        """What a function returns, and what one that returns something assigns."""
        function = known.function
        if function is None:
            return _Body((), {})
        if function not in self._bodies:
            returned = tuple(list_returned_values(function))
            assigned: Mapping[str, ast.expr] = {}
            if returned:
                assigned = collect_bindings(function.body, known.scope).assignments
            self._bodies[function] = _Body(returned, assigned)
        return self._bodies[function]

    def result(self, called: Definition) -> Definition | None:
        """What a call returns: an instance, or what is annotated."""
        if called.kind == "class":
            return Definition(
                "instance", called.scope, called.name, class_=called.class_
            )
        if called.kind == "external":
            return called
        if called.function is not None and called.function.returns is not None:
            return self.annotated(called.function.returns, called.scope)
        return None

    def annotated(
        self, annotation: ast.expr, module: PythonModule, steps: int = _STEPS
    ) -> Definition | None:
        """An instance of what an annotation names; of the first that is known in a union."""
        if steps <= 0:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        if isinstance(annotation, ast.BinOp):
            left = self.annotated(annotation.left, module, steps - 1)
            return left or self.annotated(annotation.right, module, steps - 1)
        if isinstance(annotation, ast.Subscript):
            if get_last_name(annotation.value) not in _HOLDERS:
                return None
            inner = annotation.slice
            first = (
                inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            )
            return self.annotated(first, module, steps - 1)
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return None
        found = self.of(annotation, module, {}, steps - 1)
        return (
            found and found.kind in ("class", "external") and self.result(found)
        ) or None


@dataclass
class ExpressionScope:
    """Where an expression stands.

    Attributes:
        scope: the module.
        names: what the names of the function stand for.
        aliases: what they were assigned.
    """

    resolver: Resolver
    scope: PythonModule
    names: Mapping[str, Definition] = field(default_factory=dict)
    aliases: Mapping[str, ast.expr] = field(default_factory=dict)

    def of(self, node: ast.expr) -> Definition | None:
        """What an expression refers to."""
        return self.resolver.of(node, self.scope, self.names)

    def assigned(self, node: ast.expr) -> tuple[ast.expr, ExpressionScope] | None:
        """What a name or an attribute was assigned, and where that stands."""
        if isinstance(node, ast.Name) and node.id in self.aliases:
            # A name may be assigned what it was before.
            left = {name: one for name, one in self.aliases.items() if name != node.id}
            return self.aliases[node.id], replace(self, aliases=left)
        known = self.of(node)
        if known is None or known.kind != "value" or known.value is None:
            return None
        return known.value, ExpressionScope(self.resolver, known.scope)
