"""Proves from the text that what a spec names is defined in the package of handlers.

Defined is what a `def` or a `class` of the package makes, under its own name or another one,
and what a call of such a definition gives. Everything else is somebody else's: a name that is
imported from outside of the package would let a spec run any code. So all that a name may
stand for has to be the package's own, and what is not seen is not.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from .module_names import CYCLE_PROBLEM, Meaning, ModuleNames
from .modules import (
    Binding,
    FunctionDefinition,
    ImportedName,
    PythonModule,
    collect_bindings,
    format_expression,
    list_returned_values,
)

_STEPS = 30
# Names and expressions that one proof may look at; code that people can read needs a few.
_MAX_LOOKUPS = 2_000


class PackageDefinition(NamedTuple):
    """A definition of the package.

    Attributes:
        kind: `function`, `method`, `class`, `instance` of a class, `given` by a function, or
            `module`.
        module: the module that defines it, by its dotted name.
        node: the definition, for an instance or what is given the one that is called; None
            for a module.
    """

    kind: str
    module: str
    node: FunctionDefinition | ast.ClassDef | None


class ExternalDefinitionError(Exception):
    """Name that cannot be shown to be defined in the package.

    The message continues a sentence after the name: `is imported from ...`.

    Attributes:
        is_absent: the module has no such name at all.
        is_unproved: the proof is too long, or goes in a circle: nothing may let that be.
    """

    def __init__(
        self, reason: str, *, is_absent: bool = False, is_unproved: bool = False
    ) -> None:
        super().__init__(reason)
        self.is_absent = is_absent
        self.is_unproved = is_unproved


class OriginChecker:
    """Where the names of a package's modules are defined.

    Args:
        names: the names of the package.
    """

    def __init__(self, names: ModuleNames) -> None:
        self._names = names
        self._package = names.package
        self._left = 0

    def of(self, module: str, name: str) -> list[PackageDefinition]:
        """What a name of a module may stand for, each of it the package's own.

        Raises:
            ExternalDefinitionError: one of it is not, or cannot be shown to be.
        """
        self._left = _MAX_LOOKUPS
        found = self._name(module, name, _STEPS)
        for one in found:
            if one.kind == "module":
                raise ExternalDefinitionError(f"is the module `{one.module}`")
            if one.kind == "instance":
                self._attribute(one, "__call__", one.module, _STEPS)
            if one.kind == "class":
                self._has_constructor(one, _STEPS)
        return found

    def class_of(self, module: str, name: str) -> PackageDefinition:
        """The class that a name of a module stands for, whoever made what it inherits.

        Raises:
            ExternalDefinitionError: it may be something else, or cannot be shown to be the package's own.
        """
        self._left = _MAX_LOOKUPS
        found = self._name(module, name, _STEPS)
        if len(found) != 1 or found[0].kind != "class":
            raise ExternalDefinitionError("is no `class`, or one of several")
        return found[0]

    def _look(self, steps: int) -> None:
        self._left -= 1
        if steps <= 0 or self._left <= 0:
            raise ExternalDefinitionError(CYCLE_PROBLEM, is_unproved=True)

    def _has_constructor(self, called: PackageDefinition, steps: int) -> bool:
        """Whether a class is made by a method of the package's, which comes first.

        Raises:
            ExternalDefinitionError: it may be made by one of somebody else's.
        """
        class_ = called.node
        if not isinstance(class_, ast.ClassDef):
            return False
        if steps <= 0:
            raise ExternalDefinitionError("inherits from itself")
        text = self._own_module(called.module)
        where = f"{text.file}:{class_.lineno}"
        if any(
            self._written(called, name, where, steps)
            for name in ("__init__", "__new__")
        ):
            return True
        for base in class_.bases:
            where = f"{text.file}:{base.lineno}"
            for parent in self._value(called.module, base, where, steps):
                if self._has_constructor(parent, steps - 1):
                    return True
        return False

    def _name(self, module: str, name: str, steps: int) -> list[PackageDefinition]:
        self._look(steps)
        text = self._own_module(module)
        own: list[PackageDefinition] = []
        for meaning in self._names.meanings(text, name):
            try:
                own += self._meant(meaning, steps - 1)
            except ExternalDefinitionError as problem:
                if meaning.star is None or problem.is_unproved:
                    raise
                source, where = meaning.star
                raise ExternalDefinitionError(
                    f"may come from `{source}`, all of whose names are imported ({where})"
                ) from None
        if not own:
            raise ExternalDefinitionError(f"is not in {text.file}", is_absent=True)
        return own

    def _own_module(self, module: str) -> PythonModule:
        if not self._names.is_own(module):
            raise ExternalDefinitionError(
                f"comes from `{module}`, outside of `{self._package}`"
            )
        text = self._names.module(module)
        if text is None:
            raise ExternalDefinitionError(f"comes from `{module}`, which is not there")
        if text.problem:
            raise ExternalDefinitionError(
                f"is in {text.file}, which cannot be read: {text.problem}"
            )
        return text

    def _meant(self, meaning: Meaning, steps: int) -> list[PackageDefinition]:
        """What one meaning of a name is, as far as it is the package's own."""
        self._look(steps)
        known, where = meaning.definition, meaning.where
        if meaning.problem:
            is_circle = meaning.problem == CYCLE_PROBLEM
            raise ExternalDefinitionError(
                meaning.problem, is_absent=meaning.is_absent, is_unproved=is_circle
            )
        if known.value is not None:
            return self._value(known.scope.name, known.value, where, steps)
        if isinstance(known.node, (FunctionDefinition, ast.ClassDef)):
            for decorator in known.node.decorator_list:
                self._decorator(known.scope.name, decorator, where, steps)
            kind = "class" if isinstance(known.node, ast.ClassDef) else "function"
            return [PackageDefinition(kind, known.scope.name, known.node)]
        return [PackageDefinition("module", known.name, None)]

    def _value(
        self, module: str, value: ast.expr, where: str, steps: int
    ) -> list[PackageDefinition]:
        self._look(steps)
        if isinstance(value, ast.Name):
            return self._named(module, value.id, where, steps)
        if isinstance(value, ast.Attribute):
            return [
                one
                for owner in self._value(module, value.value, where, steps - 1)
                for one in self._attribute(owner, value.attr, where, steps - 1)
            ]
        if isinstance(value, ast.Call):
            return [
                self._result(called, where, steps)
                for called in self._value(module, value.func, where, steps - 1)
            ]
        if isinstance(value, ast.IfExp):
            first = self._value(module, value.body, where, steps - 1)
            return [*first, *self._value(module, value.orelse, where, steps - 1)]
        raise ExternalDefinitionError(
            f"is `{format_expression(value)}`, which is no definition of its own ({where})"
        )

    def _named(
        self, module: str, name: str, where: str, steps: int
    ) -> list[PackageDefinition]:
        try:
            return self._name(module, name, steps - 1)
        except ExternalDefinitionError as problem:
            if problem.is_unproved:
                raise
            if problem.is_absent:
                raise ExternalDefinitionError(
                    f"is `{name}`, which is Python's own ({where})"
                ) from None
            raise ExternalDefinitionError(f"is `{name}`, and that {problem}") from None

    def _attribute(
        self, owner: PackageDefinition, name: str, where: str, steps: int
    ) -> list[PackageDefinition]:
        if owner.kind == "module":
            inner = f"{owner.module}.{name}"
            if f"{self._package}.".startswith(f"{inner}."):
                return [PackageDefinition("module", inner, None)]
            return self._name(owner.module, name, steps)
        if isinstance(owner.node, ast.ClassDef):
            found = self._member(owner, name, where, steps)
            if found:
                return found
            raise ExternalDefinitionError(
                f"is `{owner.node.name}.{name}`, which is not written in that class or"
                f" in one of the package's that it inherits from ({where})"
            )
        raise ExternalDefinitionError(
            f"is an attribute `{name}` of what is not known before it runs ({where})"
        )

    def _member(
        self, owner: PackageDefinition, name: str, where: str, steps: int
    ) -> list[PackageDefinition]:
        """What a class of the package, or one that it inherits from, has of a name."""
        class_ = owner.node
        if not isinstance(class_, ast.ClassDef) or steps <= 0:
            return []
        own = self._written(owner, name, where, steps)
        for base in class_.bases if not own else ():
            try:
                parents = self._value(owner.module, base, where, steps - 1)
            except ExternalDefinitionError as problem:
                if problem.is_unproved:
                    raise
                continue
            for parent in parents:
                own = own or self._member(parent, name, where, steps - 1)
        return own

    def _written(
        self, owner: PackageDefinition, name: str, where: str, steps: int
    ) -> list[PackageDefinition]:
        """What the body of a class has of a name."""
        if not isinstance(owner.node, ast.ClassDef):
            return []
        text = self._own_module(owner.module)
        bindings = collect_bindings(owner.node.body, text)
        own: list[PackageDefinition] = []
        for binding in bindings.get(name, ()):
            if isinstance(binding.value, ast.expr):
                for part in ast.walk(binding.value):
                    if isinstance(part, ast.Name) and part.id in bindings:
                        raise ExternalDefinitionError(
                            f"is made of `{part.id}`, a name of its class ({where})"
                        )
            for meaning in self._names.meanings_of(text, binding):
                for one in self._meant(meaning, steps - 1):
                    is_method = one.kind == "function"
                    own.append(one._replace(kind="method") if is_method else one)
        return own

    def _result(
        self, called: PackageDefinition, where: str, steps: int
    ) -> PackageDefinition:
        if called.kind == "class" and isinstance(called.node, ast.ClassDef):
            return PackageDefinition("instance", called.module, called.node)
        if called.kind in ("function", "method"):
            self._refuse_foreign_results(called, steps)
            return PackageDefinition("given", called.module, called.node)
        if called.kind == "instance":
            for method in self._attribute(called, "__call__", where, steps - 1):
                return self._result(method, where, steps - 1)
        raise ExternalDefinitionError(
            f"is given by what is not a definition of the package ({where})"
        )

    def _refuse_foreign_results(self, called: PackageDefinition, steps: int) -> None:
        """Lets no function of the package hand out a name that is plainly imported."""
        function = called.node
        if not isinstance(function, FunctionDefinition):
            return
        text = self._own_module(called.module)
        local = collect_bindings(function.body, text)
        for name in _parameters(function):
            local.setdefault(name, []).append(Binding(function.lineno, None))
        for given in list_returned_values(function):
            root = given
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                continue
            if root.id not in local:
                where = f"{text.file}:{given.lineno}"
                self._value(called.module, given, where, steps - 1)
            for binding in local.get(root.id, ()):
                if isinstance(binding.value, ImportedName):
                    for meaning in self._names.meanings_of(text, binding):
                        self._meant(meaning, steps - 1)

    def _decorator(
        self, module: str, decorator: ast.expr, where: str, steps: int
    ) -> None:
        """A decorator stands beside the `def`; one of the package must give what is its own.

        One from elsewhere is let be, as it wraps what stands below it; what it made of it is
        looked at when the handler is loaded.
        """
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        root = made_by
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            raise ExternalDefinitionError(
                f"is decorated with `{format_expression(decorator)}` ({where})"
            )
        try:
            found = self._value(module, made_by, where, steps - 1)
        except ExternalDefinitionError as problem:
            if problem.is_unproved:
                raise
            return
        for one in found:
            if one.kind == "function":
                self._refuse_foreign_results(one, steps - 1)


def _parameters(function: FunctionDefinition) -> list[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [one for one in (given.vararg, given.kwarg) if one is not None]
    return [argument.arg for argument in every]
