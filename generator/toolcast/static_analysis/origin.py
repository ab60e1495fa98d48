"""Check that the functions and classes named by specs are defined in the handlers package.

A name is accepted if each of its possible meanings is a `def` or a `class` of the package, an
alias of one, or the result of calling one. Names imported from outside of the package are
rejected, because they would let a spec run any code. Unknown meanings are rejected, too.
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

# The maximum length of a followed chain of names and expressions; a cycle has no end.
_MAX_STEPS = 30
# The maximum number of names and expressions that one check reads; readable code needs
# only a few.
_MAX_LOOKUPS = 2_000


class PackageDefinition(NamedTuple):
    """A definition in the handlers package that a name can refer to.

    Attributes:
        kind: `function`, `method`, `class`, `instance` (of a class), `result` (of a
            function) or `module`.
        module: the dotted name of the module that defines it.
        node: the function or class; for an instance or a result, the called one; None
            for a module.
    """

    kind: str
    module: str
    node: FunctionDefinition | ast.ClassDef | None


class ExternalDefinitionError(Exception):
    """Name that is not certainly defined in the handlers package.

    The message is a predicate after the name, such as "is imported from ...".

    Attributes:
        is_absent: whether the module does not define the name.
        is_unproved: whether the check reached a limit or a cycle; such an error must
            not be ignored.
    """

    def __init__(
        self, reason: str, *, is_absent: bool = False, is_unproved: bool = False
    ) -> None:
        super().__init__(reason)
        self.is_absent = is_absent
        self.is_unproved = is_unproved


class OriginChecker:
    """Search for the definitions of names, which must be in the handlers package.

    Args:
        names: the names of the package.
    """

    def __init__(self, names: ModuleNames) -> None:
        self._names = names
        self._package = names.package
        self._remaining_lookups = 0

    def find_definitions(self, module: str, name: str) -> list[PackageDefinition]:
        """Return all possible definitions of a handler's name; at least one.

        Args:
            module: the dotted name of the module.
            name: the name in the module.

        Raises:
            ExternalDefinitionError: a possible definition is not certainly in the
                package, or is a module.
        """
        self._remaining_lookups = _MAX_LOOKUPS
        definitions = self._resolve_name(module, name, _MAX_STEPS)
        for definition in definitions:
            if definition.kind == "module":
                raise ExternalDefinitionError(f"is the module `{definition.module}`")
            if definition.kind == "instance":
                self._resolve_attribute(
                    definition, "__call__", definition.module, _MAX_STEPS
                )
            # Calling a class runs its constructor, which must be in the package, too.
            if definition.kind == "class":
                self._find_constructor(definition, _MAX_STEPS)
        return definitions

    def find_class(self, module: str, name: str) -> PackageDefinition:
        """Return the only class that a name can refer to; its bases can be external.

        Raises:
            ExternalDefinitionError: the name is not certainly a class of the package.
        """
        self._remaining_lookups = _MAX_LOOKUPS
        definitions = self._resolve_name(module, name, _MAX_STEPS)
        if len(definitions) != 1 or definitions[0].kind != "class":
            raise ExternalDefinitionError("is not a `class`, or one of several")
        return definitions[0]

    def _count_lookup(self, steps: int) -> None:
        self._remaining_lookups -= 1
        if steps <= 0 or self._remaining_lookups <= 0:
            raise ExternalDefinitionError(CYCLE_PROBLEM, is_unproved=True)

    def _find_constructor(self, definition: PackageDefinition, steps: int) -> bool:
        """Return whether a class, or a base class, has an `__init__` or `__new__`.

        Raises:
            ExternalDefinitionError: a base class or the constructor may be defined
                outside the package.
        """
        class_ = definition.node
        if not isinstance(class_, ast.ClassDef):
            return False
        file = self._load_module(definition.module).file
        location = f"{file}:{class_.lineno}"
        for name in ("__init__", "__new__"):
            if self._find_own_members(definition, name, location, steps):
                return True
        for base in class_.bases:
            location = f"{file}:{base.lineno}"
            parents = self._resolve(definition.module, base, location, steps)
            for parent in parents:
                if self._find_constructor(parent, steps - 1):
                    return True
        return False

    def _resolve_name(
        self, module: str, name: str, steps: int
    ) -> list[PackageDefinition]:
        self._count_lookup(steps)
        python_module = self._load_module(module)
        definitions: list[PackageDefinition] = []
        for meaning in self._names.list_meanings(python_module, name):
            try:
                definitions += self._resolve_meaning(meaning, steps - 1)
            except ExternalDefinitionError as error:
                if meaning.star is None or error.is_unproved:
                    raise
                source, location = meaning.star
                raise ExternalDefinitionError(
                    f"may come from `from {source} import *` ({location})"
                ) from None
        if not definitions:
            raise ExternalDefinitionError(
                f"is not defined in {python_module.file}", is_absent=True
            )
        return definitions

    def _load_module(self, module: str) -> PythonModule:
        if not self._names.is_in_package(module):
            raise ExternalDefinitionError(
                f"comes from `{module}`, outside of `{self._package}`"
            )
        python_module = self._names.load_module(module)
        if python_module is None:
            raise ExternalDefinitionError(
                f"comes from `{module}`, which does not exist"
            )
        if python_module.problem:
            raise ExternalDefinitionError(
                f"is in {python_module.file}, which cannot be read:"
                f" {python_module.problem}"
            )
        return python_module

    def _resolve_meaning(self, meaning: Meaning, steps: int) -> list[PackageDefinition]:
        self._count_lookup(steps)
        definition, location = meaning.definition, meaning.location
        if meaning.problem:
            raise ExternalDefinitionError(
                meaning.problem,
                is_absent=meaning.is_absent,
                is_unproved=meaning.problem == CYCLE_PROBLEM,
            )
        module = definition.module.name
        if definition.value is not None:
            return self._resolve(module, definition.value, location, steps)
        if isinstance(definition.node, (FunctionDefinition, ast.ClassDef)):
            for decorator in definition.node.decorator_list:
                self._check_decorator(module, decorator, location, steps)
            is_class = isinstance(definition.node, ast.ClassDef)
            kind = "class" if is_class else "function"
            return [PackageDefinition(kind, module, definition.node)]
        return [PackageDefinition("module", definition.name, None)]

    def _resolve(
        self, module: str, value: ast.expr, location: str, steps: int
    ) -> list[PackageDefinition]:
        """Return the possible definitions that an expression refers to.

        Raises:
            ExternalDefinitionError: a possible value is not certainly in the package.
        """
        self._count_lookup(steps)
        if isinstance(value, ast.Name):
            return self._resolve_alias(module, value.id, location, steps)
        if isinstance(value, ast.Attribute):
            owners = self._resolve(module, value.value, location, steps - 1)
            return [
                definition
                for owner in owners
                for definition in self._resolve_attribute(
                    owner, value.attr, location, steps - 1
                )
            ]
        if isinstance(value, ast.Call):
            called = self._resolve(module, value.func, location, steps - 1)
            return [
                self._resolve_call(definition, location, steps) for definition in called
            ]
        if isinstance(value, ast.IfExp):
            return [
                *self._resolve(module, value.body, location, steps - 1),
                *self._resolve(module, value.orelse, location, steps - 1),
            ]
        raise ExternalDefinitionError(
            f"is `{format_expression(value)}`, which is not a function or class ({location})"
        )

    def _resolve_alias(
        self, module: str, name: str, location: str, steps: int
    ) -> list[PackageDefinition]:
        try:
            return self._resolve_name(module, name, steps - 1)
        except ExternalDefinitionError as error:
            if error.is_unproved:
                raise
            if error.is_absent:
                raise ExternalDefinitionError(
                    f"is `{name}`, which is built in or undefined ({location})"
                ) from None
            raise ExternalDefinitionError(f"is `{name}`, which {error}") from None

    def _resolve_attribute(
        self, owner: PackageDefinition, name: str, location: str, steps: int
    ) -> list[PackageDefinition]:
        if owner.kind == "module":
            dotted = f"{owner.module}.{name}"
            # A module that contains the package can only be used to reach the package.
            if f"{self._package}.".startswith(f"{dotted}."):
                return [PackageDefinition("module", dotted, None)]
            return self._resolve_name(owner.module, name, steps)
        if isinstance(owner.node, ast.ClassDef):
            members = self._find_members(owner, name, location, steps)
            if members:
                return members
            raise ExternalDefinitionError(
                f"is `{owner.node.name}.{name}`, which neither that class nor its base"
                f" classes in the package define ({location})"
            )
        raise ExternalDefinitionError(
            f"is an attribute `{name}` of a value that is only known at run time"
            f" ({location})"
        )

    def _find_members(
        self, owner: PackageDefinition, name: str, location: str, steps: int
    ) -> list[PackageDefinition]:
        """Return the definitions of a class's member, own or inherited.

        Members of external base classes are ignored; empty if nothing is found.
        """
        class_ = owner.node
        if not isinstance(class_, ast.ClassDef):
            return []
        members = self._find_own_members(owner, name, location, steps)
        for base in class_.bases if not members else ():
            try:
                parents = self._resolve(owner.module, base, location, steps - 1)
            except ExternalDefinitionError as error:
                if error.is_unproved:
                    raise
                # Members of external classes are never accepted.
                continue
            for parent in parents:
                members = members or self._find_members(
                    parent, name, location, steps - 1
                )
        return members

    def _find_own_members(
        self, owner: PackageDefinition, name: str, location: str, steps: int
    ) -> list[PackageDefinition]:
        """Return the definitions of a member in a class's body; empty if it has none.

        Raises:
            ExternalDefinitionError: a definition is not certainly in the package.
        """
        if not isinstance(owner.node, ast.ClassDef):
            return []
        python_module = self._load_module(owner.module)
        bindings = collect_bindings(owner.node.body, python_module)
        members: list[PackageDefinition] = []
        for binding in bindings.get(name, ()):
            if isinstance(binding.value, ast.expr):
                # `_resolve` looks names up in the module, so an expression with names
                # of the class body would be resolved wrongly.
                for node in ast.walk(binding.value):
                    if isinstance(node, ast.Name) and node.id in bindings:
                        raise ExternalDefinitionError(
                            f"is computed from `{node.id}`, another name of its class"
                            f" ({location})"
                        )
            for meaning in self._names.list_binding_meanings(python_module, binding):
                for definition in self._resolve_meaning(meaning, steps - 1):
                    if definition.kind == "function":
                        definition = definition._replace(kind="method")
                    members.append(definition)
        return members

    def _resolve_call(
        self, called: PackageDefinition, location: str, steps: int
    ) -> PackageDefinition:
        if called.kind == "class" and isinstance(called.node, ast.ClassDef):
            return PackageDefinition("instance", called.module, called.node)
        if called.kind in ("function", "method"):
            self._reject_imported_results(called, steps)
            return PackageDefinition("result", called.module, called.node)
        if called.kind == "instance":
            methods = self._resolve_attribute(called, "__call__", location, steps - 1)
            if methods:
                return self._resolve_call(methods[0], location, steps - 1)
        raise ExternalDefinitionError(
            "is the result of a call whose function is not defined in the package"
            f" ({location})"
        )

    def _reject_imported_results(self, called: PackageDefinition, steps: int) -> None:
        """Check that a function does not plainly return an imported name.

        Returned parameters and assigned local names are not followed.

        Raises:
            ExternalDefinitionError: a returned name is imported from outside the
                package.
        """
        function = called.node
        if not isinstance(function, FunctionDefinition):
            return
        python_module = self._load_module(called.module)
        local = collect_bindings(function.body, python_module)
        for name in _list_parameters(function):
            local.setdefault(name, []).append(Binding(function.lineno, None))
        for value in list_returned_values(function):
            root = _get_root(value)
            if not isinstance(root, ast.Name):
                continue
            if root.id not in local:
                location = f"{python_module.file}:{value.lineno}"
                self._resolve(called.module, value, location, steps - 1)
            # Only imports inside the function are followed, not parameters and assigned
            # names.
            for binding in local.get(root.id, ()):
                if isinstance(binding.value, ImportedName):
                    for meaning in self._names.list_binding_meanings(
                        python_module, binding
                    ):
                        self._resolve_meaning(meaning, steps - 1)

    def _check_decorator(
        self, module: str, decorator: ast.expr, location: str, steps: int
    ) -> None:
        """Check that a decorator of the package does not return an imported function.

        Decorators from outside are accepted, because they wrap the function below them.
        Their result is checked when the handler is loaded.

        Raises:
            ExternalDefinitionError: the decorator is not a name or attribute, or
                plainly returns an imported function.
        """
        factory = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(_get_root(factory), ast.Name):
            raise ExternalDefinitionError(
                f"is decorated with `{format_expression(decorator)}` ({location})"
            )
        try:
            definitions = self._resolve(module, factory, location, steps - 1)
        except ExternalDefinitionError as error:
            if error.is_unproved:
                raise
            return
        for definition in definitions:
            if definition.kind == "function":
                self._reject_imported_results(definition, steps - 1)


def _get_root(node: ast.expr) -> ast.expr:
    """Return the expression at the beginning of an attribute chain."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _list_parameters(function: FunctionDefinition) -> list[str]:
    signature = function.args
    parameters = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
    for parameter in (signature.vararg, signature.kwarg):
        if parameter is not None:
            parameters.append(parameter)
    return [parameter.arg for parameter in parameters]
