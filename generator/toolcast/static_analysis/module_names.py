"""What the names of a project's modules stand for, by their text; nothing is imported.

A name may stand for several things, as conditions, `try` and `import *` have it. Here they are
found once, and whoever asks takes of them what its question needs: the proof of a handler's
origin all of them, what follows calls the likeliest, annotations the only one.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .modules import Binding, FunctionDefinition, ImportedName, PythonModule

# Imports that lead to one another, one after the other.
_STEPS = 20
# Of what a name may stand for, what is followed: the last of these that it has.
_PREFERRED = ("external", "module", "value", "class", "function")
CYCLE_PROBLEM = "is assigned and imported in a circle"


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


class ModuleNames:
    """The names of a package's modules, read as they are needed.

    Args:
        module_of: a module by its dotted name; None when there is none.
        package: the package; what lies outside of it is external. Empty for all modules.

    Attributes:
        read: the modules that were looked for so far.
    """

    def __init__(
        self, module_of: Callable[[str], PythonModule | None], package: str = ""
    ) -> None:
        self._module_of = module_of
        self.package = package
        self.read: dict[str, PythonModule | None] = {}
        self._meanings: dict[tuple[str, str], tuple[Meaning, ...]] = {}

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
            search.name(module, name, _SearchPath())
            self._meanings[key] = tuple(search.found)
        return self._meanings[key]

    def meanings_of(
        self, module: PythonModule, binding: Binding
    ) -> tuple[Meaning, ...]:
        """All that a name stands for by one place that binds it, in whatever scope."""
        search = _Search(self)
        search.binding(module, "", binding, _SearchPath())
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

    def imported(self, module: PythonModule, source: ImportedName) -> Definition:
        """What an import in a module, or in one of its functions, brings."""
        there = self.module(source.module) if source.name is not None else None
        found = self.named(there, source.name) if there and source.name else None
        return found or self.external(module, source.dotted)

    def external(self, module: PythonModule, dotted: str) -> Definition:
        """A module of the package by its dotted name, or what is not the package's."""
        inner = self.module(dotted)
        if inner is not None:
            return Definition("module", inner, dotted)
        return Definition("external", module, dotted)

    def only(
        self, module: PythonModule, node: ast.expr, steps: int = _STEPS
    ) -> Definition | None:
        """What an expression of names stands for, where it is one thing only.

        What Python has built in is `external`, with `builtins.` before its name.
        """
        if isinstance(node, ast.Attribute) and steps > 0:
            owner = self.only(module, node.value, steps - 1)
            if owner is None or owner.kind not in ("module", "external"):
                return None
            if owner.kind == "external":
                return self.external(module, f"{owner.name}.{node.attr}")
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


class _SearchPath(NamedTuple):
    """How a search came to a name.

    Attributes:
        names: the names of modules on the way, and whether an `import *` led to each.
        star: the first `import *`, its module and its place.
    """

    names: tuple[tuple[str, str, bool], ...] = ()
    star: tuple[str, str] | None = None


class _Search:
    """One search for what a name may stand for; each name of a module is looked at once."""

    def __init__(self, names: ModuleNames) -> None:
        self._names = names
        self.found: list[Meaning] = []
        # Whether a module has a name, which is asked for by `import *` or not.
        self._has: dict[tuple[str, str, bool], bool] = {}

    @cached_property
    def _apart(self) -> _Search:
        """One search for all that is asked beside it, so that what it finds is not noted."""
        search = _Search(self._names)
        search._apart = search
        return search

    def name(self, module: PythonModule, name: str, way: _SearchPath) -> bool:
        """Notes what a name of a module may stand for; whether the module has it."""
        key = (module.name, name, way.star is not None)
        if key in way.names or len(way.names) >= _STEPS:
            self._note_unknown(module, name, CYCLE_PROBLEM, way)
            return True
        if key not in self._has:
            self._has[key] = self._look(
                module, name, way._replace(names=(*way.names, key))
            )
        return self._has[key]

    def _look(self, module: PythonModule, name: str, way: _SearchPath) -> bool:
        places = module.bindings.get(name, ())
        has = [self.binding(module, name, place, way) for place in places]
        for one in module.bindings.get("*", ()):
            source = one.value
            if isinstance(source, ImportedName) and not _is_hidden(module, one, places):
                by = way.star or (source.module, f"{module.file}:{one.line}")
                has.append(self._starred(module, name, source, way._replace(star=by)))
        if any(has):
            return True
        inner = self._names.module(f"{module.name}.{name}")
        if module.is_package and inner is not None:
            known = Definition("module", inner, inner.name)
            self.found.append(Meaning(known, module.file, star=way.star))
            return True
        if "__getattr__" in module.bindings:
            problem = f"comes out of the `__getattr__` of {module.file}"
            self._note_unknown(module, name, problem, way)
            return True
        return False

    def _note_unknown(
        self, module: PythonModule, name: str, problem: str, way: _SearchPath
    ) -> None:
        known = Definition("unknown", module, name)
        self.found.append(Meaning(known, module.file, problem, way.star))

    def _starred(
        self, module: PythonModule, name: str, source: ImportedName, way: _SearchPath
    ) -> bool:
        there = self._names.module(source.module)
        if there is not None and not there.problem:
            return self.name(there, name, way)
        self._note_unknown(module, name, "is unknown", way)
        return True

    def binding(
        self, module: PythonModule, name: str, place: Binding, way: _SearchPath
    ) -> bool:
        """Notes what a name stands for by one place; whether it stands for anything."""
        bound, where, problem = place.value, f"{module.file}:{place.line}", ""
        if isinstance(bound, ImportedName):
            return self._imported(module, bound, where, way)
        kind = "value"
        if isinstance(bound, FunctionDefinition):
            kind = "function"
        elif isinstance(bound, ast.ClassDef):
            kind = "class"
        elif bound is None:
            kind, problem = "unknown", f"is whatever is found when it runs ({where})"
        class_ = bound if isinstance(bound, ast.ClassDef) else None
        known = Definition(kind, module, name, bound, class_)
        self.found.append(Meaning(known, where, problem, way.star))
        return True

    def _imported(
        self,
        module: PythonModule,
        source: ImportedName,
        where: str,
        way: _SearchPath,
    ) -> bool:
        names, is_absent, problem = self._names, False, ""
        itself = names.module(source.dotted)
        if source.name is None:
            is_above = f"{names.package}.".startswith(f"{source.module}.")
            if not (names.is_own(source.module) or is_above):
                problem = f"is imported: it is the module `{source.module}` ({where})"
        elif not names.is_own(source.module):
            problem = f"is imported: it is `{source.dotted}` ({where})"
        elif source.module == module.name and module.is_package and itself is not None:
            # `from . import work` in an `__init__.py`: the module below it, but where that
            # has the name already.
            problem = self._bound_before(module, source, where, way)
        else:
            there = names.module(source.module)
            if there is None:
                problem = f"comes from `{source.module}`, which is not there"
            elif there.problem:
                problem = f"is in {there.file}, which cannot be read: {there.problem}"
            elif self.name(there, source.name, way):
                return True
            elif way.star is not None:
                return False
            else:
                problem, is_absent = f"is not in {there.file}", True
        known = names.external(module, source.dotted)
        self.found.append(Meaning(known, where, problem, way.star, is_absent))
        return True

    def _bound_before(
        self, module: PythonModule, source: ImportedName, where: str, way: _SearchPath
    ) -> str:
        """Why what a package imports from itself may be something else than a module."""
        line, name = int(where.rpartition(":")[2]), source.name or ""
        places = [*module.bindings.get(name, ())]
        for star in module.bindings.get("*", ()):
            bound = star.value
            there = (
                self._names.module(bound.module)
                if isinstance(bound, ImportedName)
                else None
            )
            is_unread = there is None or there.problem
            if is_unread or (there and self._apart.name(there, name, way)):
                places.append(star)
        for one in places:
            # A function's `global` stands anywhere.
            is_before = one.value is None or one.line < line
            if is_before and one.value != source:
                return f"may be what line {one.line} of {module.file} binds ({where})"
        if "__getattr__" in module.bindings:
            return f"comes out of the `__getattr__` of {module.file}"
        return ""


def _is_hidden(module: PythonModule, star: Binding, places: Sequence[Binding]) -> bool:
    """Whether what a module binds below an `import *`, always, counts instead."""
    always = module.always_bound
    return any(one.line > star.line and one.line in always for one in places)
