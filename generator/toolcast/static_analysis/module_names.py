"""Resolution of the names in a project's modules; nothing is imported.

Conditions, `try` and `import *` can give a name several meanings. `ModuleNames` finds all of
them, and its methods select: the check of a handler's origin needs all meanings, the call
graph the most likely one, and annotations only names with one meaning.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .modules import Binding, FunctionDefinition, ImportedName, PythonModule

# The maximum length of a followed chain of imports and attributes.
_MAX_STEPS = 20
# The kinds of definitions that are followed, in ascending order of preference.
_FOLLOWED_KINDS = ("external", "module", "value", "class", "function")
CYCLE_PROBLEM = "is assigned and imported in a circle"


@dataclass(frozen=True)
class Definition:
    """The object that a name or expression refers to.

    Attributes:
        kind: `function`, `class`, `instance` (of a class), `value` (assigned),
            `module`, `external` (not defined in the package) or `unknown`.
        module: the module that defines it; for an external one, the module that refers
            to it.
        name: the name in that module, `Class.method` for a method; the dotted name of
            an external object or a module.
        node: the function, the class or the assigned expression.
        class_: the class itself, or that of the instance or method.
    """

    kind: str
    module: PythonModule
    name: str
    node: FunctionDefinition | ast.ClassDef | ast.expr | None = field(
        default=None, compare=False
    )
    class_: ast.ClassDef | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """The kind, module and name: a key for sets and dictionaries."""
        return self.kind, self.module.name, self.name

    @property
    def reference(self) -> str:
        """The reference in the form that handlers have in specs: `module:name`."""
        return f"{self.module.name}:{self.name}"

    @property
    def function(self) -> FunctionDefinition | None:
        """The function's syntax tree node; None for other kinds."""
        return self.node if isinstance(self.node, FunctionDefinition) else None

    @property
    def value(self) -> ast.expr | None:
        """The assigned expression; None for other kinds."""
        return self.node if isinstance(self.node, ast.expr) else None


class Meaning(NamedTuple):
    """One of the possible meanings of a name.

    Attributes:
        definition: the object that the name refers to.
        location: `file:line` of the binding.
        problem: the reason why the object is not defined in the package, as a predicate after
            the name; empty if it is.
        star: module and location of the `import *` that binds the name; None without one.
        is_absent: whether the name is imported from a module that does not define it.
    """

    definition: Definition
    location: str
    problem: str = ""
    star: tuple[str, str] | None = None
    is_absent: bool = False


class ModuleNames:
    """The names of a package's modules, which are read on demand.

    Args:
        read_module: returns the module with a dotted name, or None if there is none.
        package: the package; names from other modules are external. Empty for all
            modules.

    Attributes:
        loaded_modules: the requested modules by name; None for missing modules.
    """

    def __init__(
        self, read_module: Callable[[str], PythonModule | None], package: str = ""
    ) -> None:
        self._read_module = read_module
        self.package = package
        self.loaded_modules: dict[str, PythonModule | None] = {}
        self._meanings: dict[tuple[str, str], tuple[Meaning, ...]] = {}

    def is_in_package(self, module: str) -> bool:
        """Return whether a module is the package or one of its submodules."""
        return not self.package or f"{module}.".startswith(f"{self.package}.")

    def load_module(self, name: str) -> PythonModule | None:
        """Return a module; None if it does not exist or is not in the package."""
        if not self.is_in_package(name):
            return None
        if name not in self.loaded_modules:
            self.loaded_modules[name] = self._read_module(name)
        return self.loaded_modules[name]

    def list_meanings(self, module: PythonModule, name: str) -> tuple[Meaning, ...]:
        """Return all possible meanings of a name of a module, in source order.

        Imports are followed to the definition or assignment. Empty if the module does not
        define the name.
        """
        key = (module.name, name)
        if key not in self._meanings:
            search = _Search(self)
            search.find_name(module, name, _SearchPath())
            self._meanings[key] = tuple(search.meanings)
        return self._meanings[key]

    def list_binding_meanings(
        self, module: PythonModule, binding: Binding
    ) -> tuple[Meaning, ...]:
        """Return all possible meanings of one binding, from any scope of a module."""
        search = _Search(self)
        search.add_binding(module, "", binding, _SearchPath())
        return tuple(search.meanings)

    def find_definition(self, module: PythonModule, name: str) -> Definition | None:
        """Return the most likely meaning of a name of a module; None if it is unknown.

        A definition in the module itself has priority over an imported one, a function
        or class over a value, and a later definition over an earlier one.
        """
        best, best_rank = None, (False, -1)
        for meaning in self.list_meanings(module, name):
            definition = meaning.definition
            if definition.kind in _FOLLOWED_KINDS:
                is_local = (
                    definition.node is not None
                    and definition.module.name == module.name
                )
                rank = (is_local, _FOLLOWED_KINDS.index(definition.kind))
                # Of definitions with equal ranks, the later one is preferred.
                if rank >= best_rank:
                    best, best_rank = definition, rank
        return best

    def resolve_import(self, module: PythonModule, source: ImportedName) -> Definition:
        """Return the object that an import in a module or in its functions binds.

        An object that cannot be found is `external`.
        """
        if source.name is not None:
            source_module = self.load_module(source.module)
            if source_module is not None:
                definition = self.find_definition(source_module, source.name)
                if definition is not None:
                    return definition
        return self.resolve_dotted_name(module, source.dotted)

    def resolve_dotted_name(self, module: PythonModule, dotted: str) -> Definition:
        """Return the package's module with a dotted name, else an external object."""
        found = self.load_module(dotted)
        if found is not None:
            return Definition("module", found, dotted)
        return Definition("external", module, dotted)

    def resolve_unambiguous(
        self, module: PythonModule, node: ast.expr, steps: int = _MAX_STEPS
    ) -> Definition | None:
        """Return the meaning of a name or attribute chain if it has exactly one.

        None if it has several or none. Python's built-in names are `external`, such as
        `builtins.str`.
        """
        if isinstance(node, ast.Attribute) and steps > 0:
            owner = self.resolve_unambiguous(module, node.value, steps - 1)
            if owner is None or owner.kind not in ("module", "external"):
                return None
            if owner.kind == "external":
                return self.resolve_dotted_name(module, f"{owner.name}.{node.attr}")
            meanings = self.list_meanings(owner.module, node.attr)
        elif isinstance(node, ast.Name):
            is_bound = not module.bindings.keys().isdisjoint((node.id, "*"))
            if not is_bound and hasattr(builtins, node.id):
                return Definition("external", module, f"builtins.{node.id}")
            meanings = self.list_meanings(module, node.id)
        else:
            return None
        definitions = {
            (meaning.definition.key, meaning.definition.node) for meaning in meanings
        }
        if len(definitions) != 1:
            return None
        definition = meanings[0].definition
        return definition if definition.kind in _FOLLOWED_KINDS else None


class _SearchPath(NamedTuple):
    """The imports that a search has followed to a name.

    Attributes:
        names: module, name and whether an `import *` was followed, for each step.
        star: module and location of the first `import *`.
    """

    names: tuple[tuple[str, str, bool], ...] = ()
    star: tuple[str, str] | None = None


class _Search:
    """Search for all meanings of a name; each name of a module is visited once."""

    def __init__(self, names: ModuleNames) -> None:
        self._names = names
        self.meanings: list[Meaning] = []
        # The results of `find_name`, by module, name, and whether an `import *` led to
        # the name.
        self._exists: dict[tuple[str, str, bool], bool] = {}

    @cached_property
    def _probe(self) -> _Search:
        """A second search that tests whether names exist; its meanings are ignored."""
        search = _Search(self._names)
        search._probe = search
        return search

    def find_name(self, module: PythonModule, name: str, path: _SearchPath) -> bool:
        """Add the meanings of a module's name; return whether the module has it.

        A circular import, and a chain that is too long, count as an unknown meaning.
        """
        key = (module.name, name, path.star is not None)
        if key in path.names or len(path.names) >= _MAX_STEPS:
            self._add_unknown(module, name, CYCLE_PROBLEM, path)
            return True
        if key not in self._exists:
            self._exists[key] = self._search_module(
                module, name, path._replace(names=(*path.names, key))
            )
        return self._exists[key]

    def _search_module(
        self, module: PythonModule, name: str, path: _SearchPath
    ) -> bool:
        bindings = module.bindings.get(name, ())
        results = [
            self.add_binding(module, name, binding, path) for binding in bindings
        ]
        for star in module.bindings.get("*", ()):
            source = star.value
            if isinstance(source, ImportedName) and not _is_overridden(
                module, star, bindings
            ):
                origin = path.star or (source.module, f"{module.file}:{star.line}")
                results.append(
                    self._search_star(module, name, source, path._replace(star=origin))
                )
        if any(results):
            return True
        # Importing a submodule makes it an attribute of its package.
        submodule = self._names.load_module(f"{module.name}.{name}")
        if module.is_package and submodule is not None:
            definition = Definition("module", submodule, submodule.name)
            self.meanings.append(Meaning(definition, module.file, star=path.star))
            return True
        # The `__getattr__` of a module can return any name (PEP 562).
        if "__getattr__" in module.bindings:
            problem = f"comes from the `__getattr__` of {module.file}"
            self._add_unknown(module, name, problem, path)
            return True
        return False

    def _add_unknown(
        self, module: PythonModule, name: str, problem: str, path: _SearchPath
    ) -> None:
        definition = Definition("unknown", module, name)
        self.meanings.append(Meaning(definition, module.file, problem, path.star))

    def _search_star(
        self, module: PythonModule, name: str, source: ImportedName, path: _SearchPath
    ) -> bool:
        source_module = self._names.load_module(source.module)
        if source_module is not None and not source_module.problem:
            return self.find_name(source_module, name, path)
        self._add_unknown(module, name, "is unknown", path)
        return True

    def add_binding(
        self, module: PythonModule, name: str, binding: Binding, path: _SearchPath
    ) -> bool:
        """Add the meanings of one binding; return whether the name exists.

        Only an import of a missing name, reached by `import *`, has no meaning.
        """
        value, location, problem = binding.value, f"{module.file}:{binding.line}", ""
        if isinstance(value, ImportedName):
            return self._add_import(module, value, location, path)
        kind = "value"
        if isinstance(value, FunctionDefinition):
            kind = "function"
        elif isinstance(value, ast.ClassDef):
            kind = "class"
        elif value is None:
            kind, problem = "unknown", f"is only known at run time ({location})"
        class_ = value if isinstance(value, ast.ClassDef) else None
        definition = Definition(kind, module, name, value, class_)
        self.meanings.append(Meaning(definition, location, problem, path.star))
        return True

    def _add_import(
        self,
        module: PythonModule,
        source: ImportedName,
        location: str,
        path: _SearchPath,
    ) -> bool:
        names, is_absent, problem = self._names, False, ""
        submodule = names.load_module(source.dotted)
        if source.name is None:
            # `import a.b` binds `a`, which can be a module that contains the package.
            is_parent = f"{names.package}.".startswith(f"{source.module}.")
            if not (names.is_in_package(source.module) or is_parent):
                problem = f"is the imported module `{source.module}` ({location})"
        elif not names.is_in_package(source.module):
            problem = f"is imported from outside: `{source.dotted}` ({location})"
        elif (
            source.module == module.name and module.is_package and submodule is not None
        ):
            # In an `__init__.py`, `from . import work` binds the submodule, unless the
            # package already has an attribute of that name.
            problem = self._find_earlier_binding(module, source, location, path)
        else:
            source_module = names.load_module(source.module)
            if source_module is None:
                problem = f"comes from `{source.module}`, which does not exist"
            elif source_module.problem:
                problem = (
                    f"is in {source_module.file}, which cannot be read:"
                    f" {source_module.problem}"
                )
            elif self.find_name(source_module, source.name, path):
                return True
            elif path.star is not None:
                return False
            else:
                problem, is_absent = f"is not defined in {source_module.file}", True
        definition = names.resolve_dotted_name(module, source.dotted)
        self.meanings.append(
            Meaning(definition, location, problem, path.star, is_absent)
        )
        return True

    def _find_earlier_binding(
        self,
        module: PythonModule,
        source: ImportedName,
        location: str,
        path: _SearchPath,
    ) -> str:
        """Return why `from . import name` may not bind a submodule; "" if it does.

        The package can have an attribute of that name before the import.
        """
        line, name = int(location.rpartition(":")[2]), source.name or ""
        bindings = [*module.bindings.get(name, ())]
        for star in module.bindings.get("*", ()):
            source_module = None
            if isinstance(star.value, ImportedName):
                source_module = self._names.load_module(star.value.module)
            if (
                source_module is None
                or source_module.problem
                or self._probe.find_name(source_module, name, path)
            ):
                bindings.append(star)
        for binding in bindings:
            # A binding without a value can be in a function with `global`, which can
            # run at any time.
            is_earlier = binding.value is None or binding.line < line
            if is_earlier and binding.value != source:
                return (
                    f"may be bound by line {binding.line} of {module.file} ({location})"
                )
        if "__getattr__" in module.bindings:
            return f"comes from the `__getattr__` of {module.file}"
        return ""


def _is_overridden(
    module: PythonModule, star: Binding, bindings: Sequence[Binding]
) -> bool:
    """Return whether a later binding replaces a name imported by `import *`.

    Only an unconditional binding is certain to replace it.
    """
    unconditional_lines = module.unconditional_lines
    return any(
        binding.line > star.line and binding.line in unconditional_lines
        for binding in bindings
    )
