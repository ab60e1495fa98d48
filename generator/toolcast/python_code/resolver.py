"""Resolves names in the source text of a package of handlers; nothing is imported."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .modules import (
    HOLE,
    ClassText,
    FunctionDefinition,
    Imported,
    ModuleScope,
    last_name,
    read_module,
    read_text,
    returned_by,
    scope_of,
    statements_of,
    values_of,
)

__all__ = ["Definition", "HandlerPackage", "Names"]


# Assignments and imports that lead to one another, one after the other.
_STEPS = 20
# Context managers and generators: what is entered or iterated is the argument.
_HOLDERS = frozenset(
    (
        "Iterator AsyncIterator Generator AsyncGenerator Iterable"
        " ContextManager AbstractContextManager AbstractAsyncContextManager"
        " Optional Annotated Awaitable Coroutine Type type"
    ).split()
)


@dataclass(frozen=True)
class Definition:
    """What a name refers to.

    Attributes:
        kind: `function`, `class`, `instance` of a class, `value` that is assigned, `module`,
            or `external`: something that is not the package's own.
        scope: the module that defines it; of an external one, the module that names it.
        name: its name in that module, `Class.method` for a method; the dotted name of an
            external one or a module.
        function: the function.
        class_: the class, or that of the instance or method.
        value: the expression that is assigned.
    """

    kind: str
    scope: ModuleScope
    name: str
    function: FunctionDefinition | None = field(default=None, compare=False)
    class_: ClassText | None = field(default=None, compare=False)
    value: ast.expr | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """The key in sets and mappings."""
        return self.kind, self.scope.name, self.name

    @property
    def reference(self) -> str:
        """`module:name`, as specs name handlers."""
        return f"{self.scope.name}:{self.name}"


class _Body(NamedTuple):
    """What a function returns, and what it assigns to its names."""

    returned: tuple[ast.expr, ...]
    assigned: Mapping[str, ast.expr]


Names = Mapping[str, Definition]
"""The names of a function's own scope."""


class HandlerPackage:
    """The modules of a package, read as they are needed.

    Args:
        root: the workspace's root.
        sources: the folders below it in which modules are.
        package: the package; what lies outside of it is external.
    """

    def __init__(self, root: str, sources: tuple[str, ...], package: str) -> None:
        self._root = root
        self._sources = sources
        self._package = package
        self._scopes: dict[str, ModuleScope | None] = {}
        self._named: dict[tuple[str, str], Definition | None] = {}
        self._bodies: dict[tuple[str, str, str], _Body] = {}
        self.unread: dict[str, str] = {}
        """The files that cannot be read, each with the reason."""

    @property
    def scopes(self) -> Iterator[ModuleScope]:
        """The modules that were read so far."""
        return (scope for scope in [*self._scopes.values()] if scope is not None)

    def file(self, scope: ModuleScope, path: str) -> str:
        """The text of a file that a module names; empty when the project does not have it.

        It is looked for beside the module, at the workspace's root and below its sources.
        """
        # What is known when it runs only is the folder, as a rule that of the module.
        known = path.rpartition(HOLE)[2].lstrip("/")
        for folder in (os.path.dirname(scope.file), "", *self._sources):
            text = read_text(self._root, os.path.join(folder, known))
            if text is not None:
                return text
        return ""

    def returned(self, known: Definition) -> tuple[ast.expr, ...]:
        """What a function returns."""
        return self._body(known).returned

    def assigned(self, known: Definition) -> Mapping[str, ast.expr]:
        """What a function assigns to its names; the last assignment counts."""
        return self._body(known).assigned

    def _body(self, known: Definition) -> _Body:
        body = self._bodies.get(known.key)
        if body is None:
            body = _Body((), {})
            if known.function is not None:
                returned = tuple(returned_by(known.function))
                within = statements_of(known.function.body) if returned else ()
                body = _Body(returned, values_of(within))
            self._bodies[known.key] = body
        return body

    def scope(self, module: str) -> ModuleScope | None:
        """A module of the package; None when it has none of that name."""
        if module != self._package and not module.startswith(f"{self._package}."):
            return None
        if module not in self._scopes:
            found = read_module(self._root, self._sources, module)
            if found is not None and found.problem:
                self.unread[found.file] = found.problem
            self._scopes[module] = None if found is None else scope_of(module, found)
        return self._scopes[module]

    def named(
        self, scope: ModuleScope, name: str, steps: int = _STEPS
    ) -> Definition | None:
        """What a name in a module's scope refers to; None when the module lacks it."""
        key = (scope.name, name)
        if key not in self._named:
            found = self._found(scope, name, steps)
            if steps < _STEPS and found is None:
                return None  # Others may have more steps left.
            self._named[key] = found
        return self._named[key]

    def _found(self, scope: ModuleScope, name: str, steps: int) -> Definition | None:
        if steps <= 0:
            return None
        if name in scope.functions:
            return Definition("function", scope, name, scope.functions[name])
        if name in scope.classes:
            return Definition("class", scope, name, class_=scope.classes[name])
        if name in scope.values:
            return Definition("value", scope, name, value=scope.values[name])
        if name in scope.imports:
            return self.imported(scope, scope.imports[name], steps - 1)
        for module in scope.stars:
            source = self.scope(module)
            found = source and self.named(source, name, steps - 1)
            if found:
                return found
        return None

    def imported(
        self, scope: ModuleScope, source: Imported, steps: int = _STEPS
    ) -> Definition:
        """What an import brings."""
        dotted = (
            source.module if source.name is None else f"{source.module}.{source.name}"
        )
        if source.name is not None:
            module = self.scope(source.module)
            found = module and self.named(module, source.name, steps - 1)
            if found:
                return found
        module = self.scope(dotted)
        if module is not None:
            return Definition("module", module, dotted)
        return Definition("external", scope, dotted)

    def of(
        self,
        expression: ast.expr,
        scope: ModuleScope,
        names: Names,
        steps: int = _STEPS,
    ) -> Definition | None:
        """What an expression refers to, as far as the text shows."""
        if steps <= 0:
            return None
        if isinstance(expression, ast.Name):
            if expression.id in names:
                return names[expression.id]
            return self.named(scope, expression.id, steps - 1)
        if isinstance(expression, ast.Attribute):
            owner = self.of(expression.value, scope, names, steps - 1)
            return owner and self.attribute(owner, expression.attr, steps - 1)
        if isinstance(expression, ast.Await):
            return self.of(expression.value, scope, names, steps - 1)
        if isinstance(expression, ast.Call):
            called = self.of(expression.func, scope, names, steps - 1)
            return called and self.result(called, steps - 1)
        return None

    def attribute(
        self, owner: Definition, name: str, steps: int = _STEPS
    ) -> Definition | None:
        """What an attribute refers to."""
        if steps <= 0:
            return None
        if owner.kind == "module":
            found = self.named(owner.scope, name, steps - 1)
            return found or self.imported(
                owner.scope, Imported(f"{owner.name}.{name}"), steps - 1
            )
        if owner.kind == "external":
            # `import a.b` binds `a`, and `a.b` may be the package's own.
            inner = self.scope(f"{owner.name}.{name}")
            if inner is not None:
                return Definition("module", inner, f"{owner.name}.{name}")
            return Definition("external", owner.scope, f"{owner.name}.{name}")
        if owner.kind == "value" and owner.value is not None:
            held = self.of(owner.value, owner.scope, {}, steps - 1)
            return held and self.attribute(held, name, steps - 1)
        if owner.class_ is None or owner.kind == "function":
            return None
        return self._member(owner.scope, owner.class_, name, steps - 1)

    def _member(
        self, scope: ModuleScope, class_: ClassText, name: str, steps: int
    ) -> Definition | None:
        full = f"{class_.name}.{name}"
        if name in class_.functions:
            return Definition("function", scope, full, class_.functions[name], class_)
        if name in class_.values:
            return Definition(
                "value", scope, full, class_=class_, value=class_.values[name]
            )
        for expression in class_.bases:
            parent = self.of(expression, scope, {}, steps)
            if parent is not None and parent.class_ is not None and steps > 0:
                found = self._member(parent.scope, parent.class_, name, steps - 1)
                if found:
                    return found
        return None

    def result(self, called: Definition, steps: int = _STEPS) -> Definition | None:
        """What a call returns: an instance, or what is annotated."""
        if steps <= 0:
            return None
        if called.kind == "class":
            return Definition(
                "instance", called.scope, called.name, class_=called.class_
            )
        if called.kind == "external":
            return Definition("external", called.scope, called.name)
        if called.function is not None and called.function.returns is not None:
            return self.annotated(called.function.returns, called.scope, steps - 1)
        return None

    def annotated(
        self, annotation: ast.expr, scope: ModuleScope, steps: int = _STEPS
    ) -> Definition | None:
        """An instance of what an annotation names."""
        if steps <= 0:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        if isinstance(annotation, ast.BinOp):
            left = self.annotated(annotation.left, scope, steps - 1)
            return left or self.annotated(annotation.right, scope, steps - 1)
        if isinstance(annotation, ast.Subscript):
            if last_name(annotation.value) not in _HOLDERS:
                return None
            inner = annotation.slice
            first = (
                inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            )
            return self.annotated(first, scope, steps - 1)
        found = self.of(annotation, scope, {}, steps - 1)
        return found and self.result(found, steps - 1)
