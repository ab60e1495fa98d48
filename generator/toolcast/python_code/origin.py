"""Proves from the text that what a spec names is defined in the package of handlers.

Defined is what a `def` or a `class` of the package makes, under its own name or another one,
and what a call of such a definition gives. Everything else is somebody else's: a name that is
imported from outside of the package would let a spec run any code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from .modules import (
    Binding,
    FunctionDefinition,
    PythonModule,
    absolute_module,
    bindings_of,
    globals_in,
    returned_by,
)

__all__ = ["NotOwn", "Origins", "Own"]


_STEPS = 30


class Own(NamedTuple):
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


class NotOwn(Exception):
    """What a name stands for is not seen to be defined in the package.

    The text goes on after the name: `is imported from ...`.

    Attributes:
        is_absent: the module has no such name at all.
    """

    def __init__(self, reason: str, *, is_absent: bool = False) -> None:
        super().__init__(reason)
        self.is_absent = is_absent


class Origins:
    """Where the names of a package's modules are defined.

    Args:
        package: the package.
        module_of: a module by its dotted name; None when there is none.
    """

    def __init__(
        self, package: str, module_of: Callable[[str], PythonModule | None]
    ) -> None:
        self._package = package
        self._module_of = module_of
        self._bindings: dict[str, dict[str, list[Binding]]] = {}

    def of(self, module: str, name: str) -> list[Own]:
        """What a name of a module may stand for, each of it the package's own.

        Raises:
            NotOwn: one of it is not, or cannot be shown to be.
        """
        found = self._name(module, name, _STEPS)
        for one in found:
            if one.kind == "module":
                raise NotOwn(f"is the module `{one.module}`")
            if one.kind == "instance":
                self._attribute(one, "__call__", one.module, _STEPS)
            if one.kind == "class":
                self._refuse_foreign_constructor(one, _STEPS)
        return found

    def class_of(self, module: str, name: str) -> Own:
        """The class that a name of a module stands for, whoever made what it inherits.

        Raises:
            NotOwn: it may be something else, or cannot be shown to be the package's own.
        """
        found = self._name(module, name, _STEPS)
        if len(found) != 1 or found[0].kind != "class":
            raise NotOwn("is no `class`, or one of several")
        return found[0]

    def _refuse_foreign_constructor(self, called: Own, steps: int) -> None:
        """Lets no class be called that is made by one of somebody else's."""
        class_ = called.node
        if not isinstance(class_, ast.ClassDef):
            return
        if steps <= 0:
            raise NotOwn("inherits from itself")
        for base in class_.bases:
            where = f"{self._own_module(called.module).file}:{base.lineno}"
            if any(
                self._member(called, name, where, steps)
                for name in ("__init__", "__new__")
            ):
                return
            for parent in self._value(called.module, base, where, steps):
                self._refuse_foreign_constructor(parent, steps - 1)

    def _bound_in(self, module: str, text: PythonModule) -> dict[str, list[Binding]]:
        """The names of a module; each module is read once."""
        found = self._bindings.get(module)
        if found is None:
            body = text.tree.body if text.tree is not None else []
            found = self._bindings[module] = bindings_of(body)
            for name, places in globals_in(body).items() if text.has_globals else ():
                found.setdefault(name, []).extend(places)
        return found

    def _name(self, module: str, name: str, steps: int) -> list[Own]:
        if steps <= 0:
            raise NotOwn("is assigned and imported in a circle")
        text = self._own_module(module)
        found = self._bound_in(module, text).get(name, [])
        own: list[Own] = []
        for binding in found:
            own += self._bound(module, text, binding, steps - 1)
        for star in self._bound_in(module, text).get("*", ()):
            # What is bound below it counts instead.
            if not found or star.line > found[-1].line:
                own += self._starred(module, text, star, name, steps - 1)
        if own:
            return own
        inner = f"{module}.{name}"
        if text.file.endswith("__init__.py") and self._module_of(inner) is not None:
            return [Own("module", inner, None)]
        if "__getattr__" in text.functions:
            raise NotOwn(f"comes out of the `__getattr__` of {text.file}")
        raise NotOwn(f"is not in {text.file}", is_absent=True)

    def _own_module(self, module: str) -> PythonModule:
        if not self._is_own(module):
            raise NotOwn(f"comes from `{module}`, outside of `{self._package}`")
        text = self._module_of(module)
        if text is None:
            raise NotOwn(f"comes from `{module}`, which is not there")
        if text.problem:
            raise NotOwn(f"is in {text.file}, which cannot be read: {text.problem}")
        return text

    def _starred(
        self,
        module: str,
        text: PythonModule,
        star: Binding,
        name: str,
        steps: int,
    ) -> list[Own]:
        if not isinstance(star.bound, ast.ImportFrom):
            return []
        source = _source(module, text, star.bound)
        try:
            return self._name(source, name, steps)
        except NotOwn as problem:
            if problem.is_absent:
                return []
            where = f"{text.file}:{star.line}"
            raise NotOwn(
                f"may come from `{source}`, all of whose names are imported ({where})"
            ) from None

    def _bound(
        self, module: str, text: PythonModule, binding: Binding, steps: int
    ) -> list[Own]:
        bound, where = binding.bound, f"{text.file}:{binding.line}"
        if isinstance(bound, (FunctionDefinition, ast.ClassDef)):
            for decorator in bound.decorator_list:
                self._decorator(module, decorator, where, steps)
            kind = "class" if isinstance(bound, ast.ClassDef) else "function"
            return [Own(kind, module, bound)]
        if isinstance(bound, ast.Import):
            source = binding.name
            if self._is_own(source) or f"{self._package}.".startswith(f"{source}."):
                return [Own("module", source, None)]
            raise NotOwn(f"is imported: it is the module `{source}` ({where})")
        if isinstance(bound, ast.ImportFrom):
            source = _source(module, text, bound)
            if not self._is_own(source):
                shown = f"{source}.{binding.name}"
                raise NotOwn(f"is imported: it is `{shown}` ({where})")
            return self._name(source, binding.name, steps)
        if bound is None:
            raise NotOwn(f"is whatever is found when it runs ({where})")
        return self._value(module, bound, where, steps)

    def _is_own(self, module: str) -> bool:
        return f"{module}.".startswith(f"{self._package}.")

    def _value(self, module: str, value: ast.expr, where: str, steps: int) -> list[Own]:
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
        shown = " ".join(ast.unparse(value).split())
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise NotOwn(f"is `{shown}`, which is no definition of its own ({where})")

    def _named(self, module: str, name: str, where: str, steps: int) -> list[Own]:
        try:
            return self._name(module, name, steps - 1)
        except NotOwn as problem:
            if problem.is_absent:
                raise NotOwn(f"is `{name}`, which is Python's own ({where})") from None
            raise NotOwn(f"is `{name}`, and that {problem}") from None

    def _attribute(self, owner: Own, name: str, where: str, steps: int) -> list[Own]:
        if owner.kind == "module":
            inner = f"{owner.module}.{name}"
            if f"{self._package}.".startswith(f"{inner}."):
                return [Own("module", inner, None)]
            return self._name(owner.module, name, steps)
        if isinstance(owner.node, ast.ClassDef):
            found = self._member(owner, name, where, steps)
            if found:
                return found
            raise NotOwn(
                f"is `{owner.node.name}.{name}`, which is not written in that class or"
                f" in one of the package's that it inherits from ({where})"
            )
        raise NotOwn(
            f"is an attribute `{name}` of what is not known before it runs ({where})"
        )

    def _member(self, owner: Own, name: str, where: str, steps: int) -> list[Own]:
        """What a class of the package, or one that it inherits from, has of a name."""
        class_ = owner.node
        if not isinstance(class_, ast.ClassDef) or steps <= 0:
            return []
        text = self._own_module(owner.module)
        own: list[Own] = []
        for binding in bindings_of(class_.body).get(name, ()):
            for one in self._bound(owner.module, text, binding, steps - 1):
                is_method = one.kind == "function"
                own.append(one._replace(kind="method") if is_method else one)
        for base in class_.bases if not own else ():
            try:
                parents = self._value(owner.module, base, where, steps - 1)
            except NotOwn:
                continue
            for parent in parents:
                own = own or self._member(parent, name, where, steps - 1)
        return own

    def _result(self, called: Own, where: str, steps: int) -> Own:
        if called.kind == "class" and isinstance(called.node, ast.ClassDef):
            return Own("instance", called.module, called.node)
        if called.kind in ("function", "method"):
            self._refuse_foreign_results(called, steps)
            return Own("given", called.module, called.node)
        if called.kind == "instance":
            for method in self._attribute(called, "__call__", where, steps - 1):
                return self._result(method, where, steps - 1)
        raise NotOwn(f"is given by what is not a definition of the package ({where})")

    def _refuse_foreign_results(self, called: Own, steps: int) -> None:
        """Lets no function of the package hand out a name that is plainly imported."""
        function = called.node
        if not isinstance(function, FunctionDefinition):
            return
        text = self._own_module(called.module)
        local = bindings_of(function.body)
        for name in _parameters(function):
            local.setdefault(name, []).append(Binding(function.lineno, None, name))
        for given in returned_by(function):
            root = given
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                continue
            if root.id not in local:
                where = f"{text.file}:{given.lineno}"
                self._value(called.module, given, where, steps - 1)
            for binding in local.get(root.id, ()):
                if isinstance(binding.bound, (ast.Import, ast.ImportFrom)):
                    self._bound(called.module, text, binding, steps - 1)

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
            shown = " ".join(ast.unparse(decorator).split())[:60]
            raise NotOwn(f"is decorated with `{shown}` ({where})")
        try:
            found = self._value(module, made_by, where, steps - 1)
        except NotOwn:
            return
        for one in found:
            if one.kind == "function":
                self._refuse_foreign_results(one, steps - 1)


def _source(module: str, text: PythonModule, node: ast.ImportFrom) -> str:
    return absolute_module(node, module, text.file.endswith("__init__.py"))


def _parameters(function: FunctionDefinition) -> list[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [one for one in (given.vararg, given.kwarg) if one is not None]
    return [argument.arg for argument in every]
