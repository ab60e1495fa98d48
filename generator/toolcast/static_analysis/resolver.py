"""Resolution of expressions in a handlers package, through calls, attributes and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeGuard

from .module_names import Definition, ModuleNames
from .modules import (
    FunctionDefinition,
    PythonModule,
    collect_bindings,
    get_last_name,
    list_returned_values,
)

# The maximum length of a followed chain of attributes and calls.
_MAX_STEPS = 20
# The maximum number of classes in one inheritance hierarchy.
_MAX_CLASSES = 200
# An annotation with one of these generic types resolves to its first argument: the
# value that `with`, `for` or `await` produces.
_TRANSPARENT_TYPES = frozenset(
    (
        "Iterator AsyncIterator Generator AsyncGenerator Iterable"
        " ContextManager AbstractContextManager AbstractAsyncContextManager"
        " Optional Annotated Awaitable Coroutine Type type"
    ).split()
)


class _FunctionBody(NamedTuple):
    """Returned values of a function, and the last assignment to each of its names."""

    returned: tuple[ast.expr, ...]
    assignments: Mapping[str, ast.expr]


class _ClassMembers(NamedTuple):
    """Methods of a class by name, and the assigned values of its attributes."""

    functions: Mapping[str, FunctionDefinition]
    values: Mapping[str, ast.expr]


class Resolver(ModuleNames):
    """The objects that expressions in the modules of a package refer to.

    Attributes, calls and inheritance are followed.

    Args:
        read_module: returns the module with a dotted name, or None if there is none.
        package: the package; names from other modules are external. Empty for all
            modules.
        read_file: returns the text of a file from the path of the referring module and
            the path in its source; "" if there is no such file.
    """

    def __init__(
        self,
        read_module: Callable[[str], PythonModule | None],
        package: str = "",
        read_file: Callable[[str, str], str] = lambda file, path: "",
    ) -> None:
        super().__init__(read_module, package)
        self.read_file = read_file
        self._members: dict[ast.ClassDef, _ClassMembers] = {}
        self._hierarchies: dict[ast.ClassDef, tuple[Definition, ...]] = {}
        self._bodies: dict[ast.AST, _FunctionBody] = {}

    def resolve(
        self,
        expression: ast.expr,
        module: PythonModule,
        names: Mapping[str, Definition],
        steps: int = _MAX_STEPS,
    ) -> Definition | None:
        """Return the object that an expression refers to; None if it is unknown.

        Args:
            expression: the expression.
            module: the module that contains it.
            names: the local names of the function that contains it.
            steps: the remaining steps in chains of attributes and calls.
        """
        if steps <= 0:
            return None
        if isinstance(expression, ast.Name):
            if expression.id in names:
                return names[expression.id]
            return self.find_definition(module, expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.resolve(expression.value, module, names, steps - 1)
            return owner and self.resolve_attribute(owner, expression.attr, steps - 1)
        if isinstance(expression, ast.Await):
            return self.resolve(expression.value, module, names, steps - 1)
        lookup = _parse_lookup(expression)
        if lookup is not None:
            literal = lookup.name
            if not isinstance(literal, ast.Constant):
                # The name can be a constant of a module.
                named = self.resolve(literal, module, names, steps - 1)
                literal = named.value if named and named.value else literal
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                return self._resolve_lookup(
                    lookup.owner, literal.value, module, names, steps - 1
                )
        if isinstance(expression, ast.Call):
            called = self.resolve(expression.func, module, names, steps - 1)
            return called and self.resolve_call(called)
        return None

    def _resolve_lookup(
        self,
        owner: ast.expr | None,
        name: str,
        module: PythonModule,
        names: Mapping[str, Definition],
        steps: int,
    ) -> Definition | None:
        """Return the object that a lookup by a name in a string finds.

        Args:
            owner: the object whose attribute is looked up; None for a module, or an
                object in a module.
            name: the attribute; without an owner, a dotted name, which may be relative.
            module: the module with the lookup.
            names: the local names.
            steps: the remaining steps.
        """
        if owner is not None:
            found = self.resolve(owner, module, names, steps)
            return found and self.resolve_attribute(found, name, steps)
        dotted = name.replace(":", ".")
        if dotted.startswith("."):
            # In a relative name, one dot is the package that contains the module.
            level = len(dotted) - len(dotted.lstrip("."))
            parts = module.name.split(".")[:-level]
            dotted = ".".join([*parts, *filter(None, dotted.lstrip(".").split("."))])
        package, _, last = dotted.rpartition(".")
        found = self.resolve_dotted_name(module, package)
        if package and found.kind == "module" and self.load_module(dotted) is None:
            return self.resolve_attribute(found, last, steps)
        return self.resolve_dotted_name(module, dotted)

    def resolve_attribute(
        self, owner: Definition, name: str, steps: int = _MAX_STEPS
    ) -> Definition | None:
        """Return the object that an attribute refers to; None if it is unknown.

        Attributes of classes and instances can be inherited.
        """
        if steps <= 0:
            return None
        if owner.kind == "module":
            definition = self.find_definition(owner.module, name)
            return definition or self.resolve_dotted_name(
                owner.module, f"{owner.name}.{name}"
            )
        if owner.kind == "external":
            # `import a.b` binds `a`, and `a.b` can be in the package even if `a` is not.
            return self.resolve_dotted_name(owner.module, f"{owner.name}.{name}")
        if owner.kind == "value" and owner.value is not None:
            value = self.resolve(owner.value, owner.module, {}, steps - 1)
            return value and self.resolve_attribute(value, name, steps - 1)
        if owner.class_ is None or owner.kind == "function":
            return None
        for definition in self.list_hierarchy(owner):
            class_, module = definition.class_, definition.module
            if class_ is None:
                continue
            members = self.collect_members(class_, module)
            full_name = f"{definition.name}.{name}"
            if name in members.functions:
                function = members.functions[name]
                return Definition("function", module, full_name, function, class_)
            if name in members.values:
                value_node = members.values[name]
                return Definition("value", module, full_name, value_node, class_)
        return None

    def list_hierarchy(self, class_: Definition) -> tuple[Definition, ...]:
        """Return a class and its base classes in the package, a class before its bases.

        Empty for other definitions.
        """
        node = class_.class_
        if node is None:
            return ()
        if node not in self._hierarchies:
            classes: dict[ast.ClassDef, Definition] = {}
            pending = [class_]
            while pending and len(classes) < _MAX_CLASSES:
                definition = pending.pop()
                module, own_node = definition.module, definition.class_
                if own_node is None or own_node in classes:
                    continue
                classes[own_node] = Definition(
                    "class", module, own_node.name, own_node, own_node
                )
                bases = [self.resolve(base, module, {}) for base in own_node.bases]
                pending += filter(None, reversed(bases))
            self._hierarchies[node] = tuple(classes.values())
        return self._hierarchies[node]

    def collect_members(
        self, node: ast.ClassDef, module: PythonModule
    ) -> _ClassMembers:
        """Return the methods and attributes of a class, without inherited ones.

        Attributes are assigned in the class body, or to `self` in a method.
        """
        if node not in self._members:
            bindings = collect_bindings(node.body, module)
            functions, values = bindings.functions, dict(bindings.assignments)
            for function in functions.values():
                for inner_node in ast.walk(function):
                    if isinstance(inner_node, ast.Assign):
                        for target in inner_node.targets:
                            if _is_self_attribute(target):
                                # An assignment in the class body has priority over
                                # assignments in methods.
                                values.setdefault(target.attr, inner_node.value)
            self._members[node] = _ClassMembers(functions, values)
        return self._members[node]

    def get_body(self, definition: Definition) -> _FunctionBody:
        """Return the returned values of a function, and the assignments to its names.

        The assignments are left out of a function that returns no value.
        """
        function = definition.function
        if function is None:
            return _FunctionBody((), {})
        if function not in self._bodies:
            returned = tuple(list_returned_values(function))
            assignments: Mapping[str, ast.expr] = {}
            if returned:
                bindings = collect_bindings(function.body, definition.module)
                assignments = bindings.assignments
            self._bodies[function] = _FunctionBody(returned, assignments)
        return self._bodies[function]

    def resolve_call(self, called: Definition) -> Definition | None:
        """Return the result of a call: an instance of the class or annotated type.

        None if the called function's result has no known annotation.
        """
        if called.kind == "class":
            return Definition(
                "instance", called.module, called.name, class_=called.class_
            )
        if called.kind == "external":
            return called
        if called.function is not None and called.function.returns is not None:
            return self.resolve_annotation(called.function.returns, called.module)
        return None

    def resolve_annotation(
        self, annotation: ast.expr, module: PythonModule, steps: int = _MAX_STEPS
    ) -> Definition | None:
        """Return an instance of the annotated type; None if the type is unknown.

        For a union, this is the first known member.
        """
        if steps <= 0:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        if isinstance(annotation, ast.BinOp):
            left = self.resolve_annotation(annotation.left, module, steps - 1)
            return left or self.resolve_annotation(annotation.right, module, steps - 1)
        if isinstance(annotation, ast.Subscript):
            if get_last_name(annotation.value) not in _TRANSPARENT_TYPES:
                return None
            argument = annotation.slice
            if isinstance(argument, ast.Tuple) and argument.elts:
                argument = argument.elts[0]
            return self.resolve_annotation(argument, module, steps - 1)
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return None
        definition = self.resolve(annotation, module, {}, steps - 1)
        if definition is None or definition.kind not in ("class", "external"):
            return None
        return self.resolve_call(definition)


class _Lookup(NamedTuple):
    """A lookup of an object by a name in a string.

    `owner` is the object whose attribute is looked up; None for a module.
    """

    owner: ast.expr | None
    name: ast.expr


def _parse_lookup(node: ast.expr) -> _Lookup | None:
    """Return the parts of a lookup such as `getattr(x, "a")`; None for others.

    Also `vars(x)["a"]`, `x.__dict__["a"]`, `sys.modules["a.b"]`,
    `import_module("a.b")`, `__import__("a.b", ...)` and
    `pkgutil.resolve_name("a.b:c")`.
    """
    if isinstance(node, ast.Subscript):
        owner = node.value
        if get_last_name(owner) == "modules":
            return _Lookup(None, node.slice)
        if isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
            return _Lookup(owner.value, node.slice)
        if isinstance(owner, ast.Call) and owner.args:
            is_vars = get_last_name(owner.func) == "vars"
            return _Lookup(owner.args[0], node.slice) if is_vars else None
    elif isinstance(node, ast.Call) and node.args:
        function = get_last_name(node.func)
        if function in ("import_module", "__import__", "resolve_name"):
            return _Lookup(None, node.args[0])
        if function == "getattr" and len(node.args) > 1:
            return _Lookup(*node.args[:2])
    return None


def is_lookup(node: ast.expr) -> bool:
    """Return whether an expression finds an object by a name in a string.

    Examples: `getattr(x, "a")`, `import_module("a.b")`.
    """
    return _parse_lookup(node) is not None


def _is_self_attribute(target: ast.expr) -> TypeGuard[ast.Attribute]:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )


@dataclass
class ExpressionScope:
    """The names that expressions of a function can use.

    Attributes:
        resolver: the resolver of the package.
        module: the module that contains the expressions.
        names: the local names of the function, with the objects that they refer to.
        aliases: the expressions that local names were assigned.
    """

    resolver: Resolver
    module: PythonModule
    names: Mapping[str, Definition] = field(default_factory=dict)
    aliases: Mapping[str, ast.expr] = field(default_factory=dict)

    def resolve(self, node: ast.expr) -> Definition | None:
        """Return the object that an expression refers to; None if it is unknown."""
        return self.resolver.resolve(node, self.module, self.names)

    def find_assigned(self, node: ast.expr) -> tuple[ast.expr, ExpressionScope] | None:
        """Return the expression assigned to a name or attribute, and its scope.

        None if no known expression is assigned.
        """
        if isinstance(node, ast.Name) and node.id in self.aliases:
            # The assigned expression can use the previous value of the same name, as in
            # `x = x + 1`, so the name is not followed again.
            aliases = {
                name: value for name, value in self.aliases.items() if name != node.id
            }
            return self.aliases[node.id], replace(self, aliases=aliases)
        definition = self.resolve(node)
        if definition is None or definition.kind != "value" or definition.value is None:
            return None
        return definition.value, ExpressionScope(self.resolver, definition.module)
