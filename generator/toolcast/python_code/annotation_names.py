"""What a name in a module stands for, followed through the project's own imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import NamedTuple

from .modules import Binding, PythonModule, absolute_module, bindings_of, last_name

__all__ = ["Names", "Place"]


_STEPS = 20


class Place(NamedTuple):
    """A class of the project, or an expression that it assigns to a name.

    Attributes:
        module: the module in which it stands, by its dotted name.
        node: what stands there.
    """

    module: str
    node: ast.ClassDef | ast.expr


class Names:
    """The names of a project's modules.

    Args:
        module_of: a module by its dotted name; None for one that is not the project's.
    """

    def __init__(self, module_of: Callable[[str], PythonModule | None]) -> None:
        self._module_of = module_of
        self._bindings: dict[str, dict[str, list[Binding]]] = {}

    def for_type_checkers(self, module: str) -> frozenset[str]:
        """The names that a module has under `if TYPE_CHECKING` alone."""
        found = self._module_of(module)
        if found is None or found.tree is None:
            return frozenset()
        names: set[str] = set()
        for node in ast.walk(found.tree):
            if isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING":
                names.update(bindings_of(node.body))
        return frozenset(names)

    def of(self, module: str, node: ast.expr) -> Place | str | None:
        """What an expression of names stands for.

        Returns:
            The dotted name of what is not the project's, with `typing` for
            `collections.abc` and for `typing_extensions`, but for its TypedDict; None where
            the text does not tell.
        """
        found = self._of(module, node, _STEPS)
        return _standard(found) if isinstance(found, str) else found

    def _of(self, module: str, node: ast.expr, steps: int) -> Place | str | None:
        if steps <= 0:
            return None
        if isinstance(node, ast.Name):
            return self._name(module, node.id, steps)
        if isinstance(node, ast.Attribute):
            owner = self._of(module, node.value, steps - 1)
            if not isinstance(owner, str):
                return None
            if self._module_of(owner) is not None:
                return self._name(owner, node.attr, steps - 1)
            return f"{owner}.{node.attr}"
        return None

    def _name(self, module: str, name: str, steps: int) -> Place | str | None:
        bindings = self._bound_in(module)
        found = bindings.get(name, [])
        if not found:
            inner = f"{module}.{name}"
            if self._module_of(inner) is not None:
                return inner
            is_builtin = hasattr(builtins, name) and "*" not in bindings
            return f"builtins.{name}" if is_builtin else None
        meant = {self._bound(module, one, steps - 1) for one in found}
        return meant.pop() if len(meant) == 1 else None

    def _bound(self, module: str, binding: Binding, steps: int) -> Place | str | None:
        bound = binding.bound
        if isinstance(bound, ast.Import):
            return binding.name
        if isinstance(bound, ast.ImportFrom):
            text = self._module_of(module)
            is_package = text is not None and text.file.endswith("__init__.py")
            source = absolute_module(bound, module, is_package)
            if self._module_of(source) is not None and steps > 0:
                return self._name(source, binding.name, steps)
            return _standard(f"{source}.{binding.name}")
        if isinstance(bound, ast.ClassDef | ast.expr):
            return Place(module, bound)
        return None

    def _bound_in(self, module: str) -> dict[str, list[Binding]]:
        found = self._bindings.get(module)
        if found is None:
            text = self._module_of(module)
            tree = text.tree if text is not None else None
            found = self._bindings[module] = bindings_of(tree.body if tree else [])
        return found


def _standard(name: str) -> str:
    for prefix in ("typing_extensions.", "collections.abc."):
        # pydantic tells the two TypedDicts apart.
        if name.startswith(prefix) and not name.endswith(".TypedDict"):
            return f"typing.{name.removeprefix(prefix)}"
    return name
