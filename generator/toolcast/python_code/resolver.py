"""Resolves names in the source text of a project; nothing is imported.

A name may stand for several things, as conditions, `try` and `import *` have it. Here they are
found once, and whoever asks takes of them what its question needs: the proof of a handler's
origin all of them, what follows calls the likeliest, annotations the only one.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .modules import (
    Binding,
    FunctionDefinition,
    Imported,
    PythonModule,
    bindings_of,
    functions_of,
    last_name,
    returned_by,
    values_of,
)

__all__ = ["CIRCLE", "Definition", "Meaning", "Place", "Resolver", "class_bindings"]

# Assignments and imports that lead to one another, one after the other.
_STEPS = 20
# Classes that one inherits from; no class that people can read has as many.
_MOST_PARENTS = 200
# Context managers and generators: what is entered or iterated is the argument.
_HOLDERS = frozenset(
    (
        "Iterator AsyncIterator Generator AsyncGenerator Iterable"
        " ContextManager AbstractContextManager AbstractAsyncContextManager"
        " Optional Annotated Awaitable Coroutine Type type"
    ).split()
)
# Of what a name may stand for, what is followed: the last of these that it has.
_PREFERRED = ("external", "module", "value", "class", "function")
CIRCLE = "is assigned and imported in a circle"


@dataclass(frozen=True)
class Definition:
    """What a name refers to.

    Attributes:
        kind: `function`, `class`, `instance` of a class, `value` that is assigned, `module`,
            `external`: something that is not the package's own, or `unknown`.
        scope: the module that defines it; of an external one, the module that names it.
        name: its name in that module, `Class.method` for a method; the dotted name of an
            external one or a module.
        node: the function, the class or the expression that is assigned.
        class_: the class, or that of the instance or method.
    """

    kind: str
    scope: PythonModule
    name: str
    node: FunctionDefinition | ast.ClassDef | ast.expr | None = field(
        default=None, compare=False
    )
    class_: ast.ClassDef | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """The key in sets and mappings."""
        return self.kind, self.scope.name, self.name

    @property
    def reference(self) -> str:
        """`module:name`, as specs name handlers."""
        return f"{self.scope.name}:{self.name}"

    @property
    def function(self) -> FunctionDefinition | None:
        """The function."""
        return self.node if isinstance(self.node, FunctionDefinition) else None

    @property
    def value(self) -> ast.expr | None:
        """The expression that is assigned."""
        return self.node if isinstance(self.node, ast.expr) else None


class Meaning(NamedTuple):
    """One of the things that a name may stand for.

    Attributes:
        where: `file:line` of what says so.
        problem: why it is not the project's own, in words that go on after the name; empty
            when it is.
        star: the `import *` by which it comes, its module and its place; None without one.
        is_absent: it is imported from a module that has no such name.
    """

    definition: Definition
    where: str
    problem: str = ""
    star: tuple[str, str] | None = None
    is_absent: bool = False


class _Body(NamedTuple):
    """What a function returns, and what it assigns to its names."""

    returned: tuple[ast.expr, ...]
    assigned: Mapping[str, ast.expr]


class _Members(NamedTuple):
    """What a class has of its own: methods, and values of attributes."""

    functions: Mapping[str, FunctionDefinition]
    values: Mapping[str, ast.expr]


def class_bindings(
    node: ast.ClassDef, module: PythonModule
) -> dict[str, list[Binding]]:
    """The names in the body of a class, each with its places."""
    return bindings_of(node.body, module.name, is_package=module.is_package)


class Resolver:
    """The names of a package's modules, read as they are needed.

    Args:
        module_of: a module by its dotted name; None when there is none.
        package: the package; what lies outside of it is external. Empty for all modules.
        text_of: the text of a file that a module, by its own file, names by a path.
    """

    def __init__(
        self,
        module_of: Callable[[str], PythonModule | None],
        package: str = "",
        text_of: Callable[[str, str], str] = lambda file, path: "",
    ) -> None:
        self._module_of = module_of
        self.package = package
        self.text_of = text_of
        self.read: dict[str, PythonModule | None] = {}
        """The modules that were looked for so far."""
        self._meanings: dict[tuple[str, str], tuple[Meaning, ...]] = {}
        self._members: dict[ast.ClassDef, _Members] = {}
        self._parents: dict[ast.ClassDef, tuple[Definition, ...]] = {}
        self._bodies: dict[ast.AST, _Body] = {}

    def is_own(self, module: str) -> bool:
        """Whether a module is the package or in it."""
        return not self.package or f"{module}.".startswith(f"{self.package}.")

    def module(self, name: str) -> PythonModule | None:
        """A module of the package; None when it has none of that name."""
        if not self.is_own(name):
            return None
        if name not in self.read:
            self.read[name] = self._module_of(name)
        return self.read[name]

    def meanings(self, module: PythonModule, name: str) -> tuple[Meaning, ...]:
        """All that a name of a module may stand for, in the order of the text.

        Imports are followed to what is defined or assigned; none of it when the module has
        no such name.
        """
        key = (module.name, name)
        if key not in self._meanings:
            search = _Search(self)
            search.name(module, name, None, ())
            self._meanings[key] = tuple(search.found)
        return self._meanings[key]

    def meanings_of(
        self, module: PythonModule, binding: Binding
    ) -> tuple[Meaning, ...]:
        """All that a name stands for by one place that binds it, in whatever scope."""
        search = _Search(self)
        search.binding(module, "", binding, None, ())
        return tuple(search.found)

    def named(self, module: PythonModule, name: str) -> Definition | None:
        """What a name of a module most likely refers to; None when nothing is known.

        What the module defines itself comes before what it imports, a definition before a
        value, and the last one in the text before those above.
        """
        best, rank = None, (False, -1)
        for one in self.meanings(module, name):
            known = one.definition
            if known.kind in _PREFERRED:
                is_here = known.node is not None and known.scope.name == module.name
                this = (is_here, _PREFERRED.index(known.kind))
                if this >= rank:
                    best, rank = known, this
        return best

    def imported(self, module: PythonModule, source: Imported) -> Definition:
        """What an import in a module, or in one of its functions, brings."""
        there = self.module(source.module) if source.name is not None else None
        found = self.named(there, source.name) if there and source.name else None
        if found is not None:
            return found
        inner = self.module(source.dotted)
        if inner is not None:
            return Definition("module", inner, source.dotted)
        return Definition("external", module, source.dotted)

    def only(self, module: PythonModule, node: ast.expr) -> Definition | None:
        """What an expression of names stands for, where it is one thing only.

        What Python has built in is `external`, with `builtins.` before its name.
        """
        if isinstance(node, ast.Attribute):
            owner = self.only(module, node.value)
            if owner is None or owner.kind not in ("module", "external"):
                return None
            if owner.kind == "external":
                return self._of_external(owner, node.attr)
            found = self.meanings(owner.scope, node.attr)
        elif isinstance(node, ast.Name):
            is_bound = not module.bindings.keys().isdisjoint((node.id, "*"))
            if not is_bound and hasattr(builtins, node.id):
                return Definition("external", module, f"builtins.{node.id}")
            found = self.meanings(module, node.id)
        else:
            return None
        different = {(one.definition.key, one.definition.node) for one in found}
        known = found[0].definition if len(different) == 1 else None
        return known if known is not None and known.kind in _PREFERRED else None

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
            return self.named(owner.scope, name) or self._of_external(owner, name)
        if owner.kind == "external":
            return self._of_external(owner, name)
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

    def _of_external(self, owner: Definition, name: str) -> Definition:
        """`import a.b` binds `a`, and `a.b` may be the package's own."""
        dotted = f"{owner.name}.{name}"
        inner = self.module(dotted)
        if inner is not None:
            return Definition("module", inner, dotted)
        return Definition("external", owner.scope, dotted)

    def with_parents(self, class_: Definition) -> tuple[Definition, ...]:
        """A class and those of the package that it inherits from, nearest first."""
        node = class_.class_
        if node is None:
            return ()
        if node not in self._parents:
            found: dict[ast.ClassDef, Definition] = {}
            waiting = [Definition("class", class_.scope, node.name, node, node)]
            while waiting and len(found) < _MOST_PARENTS:
                one = waiting.pop()
                if one.class_ is None or one.class_ in found:
                    continue
                found[one.class_] = one
                bases = [self.of(base, one.scope, {}) for base in one.class_.bases]
                waiting += [base for base in reversed(bases) if base and base.class_]
            self._parents[node] = tuple(
                Definition("class", one.scope, node.name, node, node)
                for node, one in found.items()
            )
        return self._parents[node]

    def members(self, node: ast.ClassDef, module: PythonModule) -> _Members:
        """The methods of a class, and what its attributes are assigned.

        That is in its body, or to `self` in a method.
        """
        if node not in self._members:
            bindings = class_bindings(node, module)
            functions, values = functions_of(bindings), values_of(bindings)
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

    def returned(self, known: Definition) -> tuple[ast.expr, ...]:
        """What a function returns."""
        return self._body(known).returned

    def assigned(self, known: Definition) -> Mapping[str, ast.expr]:
        """What a function that returns something assigns to its names; the last one counts."""
        return self._body(known).assigned

    def _body(self, known: Definition) -> _Body:
        function = known.function
        if function is None:
            return _Body((), {})
        if function not in self._bodies:
            returned, assigned = tuple(returned_by(function)), {}
            if returned:
                name, is_package = known.scope.name, known.scope.is_package
                assigned = values_of(
                    bindings_of(function.body, name, is_package=is_package)
                )
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
            if last_name(annotation.value) not in _HOLDERS:
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


class _Search:
    """One search for what a name may stand for; each name of a module is looked at once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.found: list[Meaning] = []
        # Whether a module has a name, which is asked for by `import *` or not.
        self._has: dict[tuple[str, str, bool], bool] = {}

    def name(
        self,
        module: PythonModule,
        name: str,
        star: tuple[str, str] | None,
        way: tuple[tuple[str, str, bool], ...],
    ) -> bool:
        """Notes what a name of a module may stand for; whether the module has it."""
        key = (module.name, name, star is not None)
        if key in way or len(way) >= _STEPS:
            known = Definition("unknown", module, name)
            self.found.append(Meaning(known, module.file, CIRCLE, star))
            return True
        if key not in self._has:
            self._has[key] = self._look(module, name, star, (*way, key))
        return self._has[key]

    def _look(
        self,
        module: PythonModule,
        name: str,
        star: tuple[str, str] | None,
        way: tuple[tuple[str, str, bool], ...],
    ) -> bool:
        places = module.bindings.get(name, ())
        has = [self.binding(module, name, place, star, way) for place in places]
        for one in module.bindings.get("*", ()):
            source = one.bound
            if isinstance(source, Imported) and not _is_hidden(module, one, places):
                by = star or (source.module, f"{module.file}:{one.line}")
                has.append(self._starred(module, name, source, by, way))
        if any(has):
            return True
        inner = self._resolver.module(f"{module.name}.{name}")
        if module.is_package and inner is not None:
            known = Definition("module", inner, inner.name)
            self.found.append(Meaning(known, module.file, "", star))
            return True
        if "__getattr__" in module.bindings:
            problem = f"comes out of the `__getattr__` of {module.file}"
            known = Definition("unknown", module, name)
            self.found.append(Meaning(known, module.file, problem, star))
            return True
        return False

    def _starred(
        self,
        module: PythonModule,
        name: str,
        source: Imported,
        star: tuple[str, str],
        way: tuple[tuple[str, str, bool], ...],
    ) -> bool:
        there = self._resolver.module(source.module)
        if there is not None and not there.problem:
            return self.name(there, name, star, way)
        known = Definition("unknown", module, name)
        self.found.append(Meaning(known, star[1], "is not known", star))
        return True

    def binding(
        self,
        module: PythonModule,
        name: str,
        place: Binding,
        star: tuple[str, str] | None,
        way: tuple[tuple[str, str, bool], ...],
    ) -> bool:
        """Notes what a name stands for by one place; whether it stands for anything."""
        bound, where = place.bound, f"{module.file}:{place.line}"
        if isinstance(bound, Imported):
            return self._imported(module, bound, where, star, way)
        problem = ""
        if isinstance(bound, FunctionDefinition):
            known = Definition("function", module, name, bound)
        elif isinstance(bound, ast.ClassDef):
            known = Definition("class", module, name, bound, bound)
        elif bound is None:
            known = Definition("unknown", module, name)
            problem = f"is whatever is found when it runs ({where})"
        else:
            known = Definition("value", module, name, bound)
        self.found.append(Meaning(known, where, problem, star))
        return True

    def _imported(
        self,
        module: PythonModule,
        source: Imported,
        where: str,
        star: tuple[str, str] | None,
        way: tuple[tuple[str, str, bool], ...],
    ) -> bool:
        resolver, is_absent, problem = self._resolver, False, ""
        itself = resolver.module(source.dotted)
        if source.name is None:
            is_above = f"{resolver.package}.".startswith(f"{source.module}.")
            if not (resolver.is_own(source.module) or is_above):
                problem = f"is imported: it is the module `{source.module}` ({where})"
        elif not resolver.is_own(source.module):
            problem = f"is imported: it is `{source.dotted}` ({where})"
        elif source.module == module.name and module.is_package and itself is not None:
            pass  # `from . import work` in an `__init__.py`: the module below it.
        else:
            there = resolver.module(source.module)
            if there is None:
                problem = f"comes from `{source.module}`, which is not there"
            elif there.problem:
                problem = f"is in {there.file}, which cannot be read: {there.problem}"
            elif self.name(there, source.name, star, way):
                return True
            elif star is not None:
                return False
            else:
                problem, is_absent = f"is not in {there.file}", True
        known = Definition("external", module, source.dotted)
        if itself is not None:
            known = Definition("module", itself, source.dotted)
        self.found.append(Meaning(known, where, problem, star, is_absent))
        return True


def _is_hidden(module: PythonModule, star: Binding, places: Sequence[Binding]) -> bool:
    """Whether what a module binds below an `import *`, always, counts instead."""
    always = module.always_bound
    return any(one.line > star.line and one.line in always for one in places)


class Place(NamedTuple):
    """Where an expression stands.

    Attributes:
        scope: the module.
        names: what the names of the function stand for.
        aliases: what they were assigned.
    """

    resolver: Resolver
    scope: PythonModule
    names: Mapping[str, Definition] = {}
    aliases: Mapping[str, ast.expr] = {}

    def of(self, node: ast.expr) -> Definition | None:
        """What an expression refers to."""
        return self.resolver.of(node, self.scope, self.names)

    def assigned(self, node: ast.expr) -> tuple[ast.expr, Place] | None:
        """What a name or an attribute was assigned, and where that stands."""
        if isinstance(node, ast.Name) and node.id in self.aliases:
            # A name may be assigned what it was before.
            left = {name: one for name, one in self.aliases.items() if name != node.id}
            return self.aliases[node.id], self._replace(aliases=left)
        known = self.of(node)
        if known is None or known.kind != "value" or known.value is None:
            return None
        return known.value, Place(self.resolver, known.scope)
