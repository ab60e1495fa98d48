"""A tool's handler, found in the source text without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ..model.model import HandlerReference, Toolset, ToolSpec, Workspace
from .python_module import FunctionDefinition, PythonModule, read_module

__all__ = ["HandlerCode", "Signature", "handler_code", "handler_module", "is_below"]


class Signature(NamedTuple):
    """What a function takes.

    Attributes:
        names: the parameters that can be given by name.
        positional_only: those that cannot.
        optional: the parameters with a default, with the default's expression.
        takes_any: it has `**arguments`.
        has_star: it has `*arguments`.
        keyword_only: the parameters behind a `*`.
    """

    names: tuple[str, ...]
    positional_only: tuple[str, ...]
    optional: Mapping[str, ast.expr]
    takes_any: bool
    has_star: bool
    keyword_only: frozenset[str]


class HandlerCode(NamedTuple):
    """Where a handler is, and what it takes.

    Attributes:
        module: the module.
        is_found: the module has the name.
        line: the line of the function; 0 when it is not the module's own.
        signature: what it takes; None when it is known at run time only: the function is decorated,
            imported, assigned, or a class.
    """

    module: PythonModule
    is_found: bool
    line: int = 0
    signature: Signature | None = None

    @property
    def place(self) -> str:
        """`file:line`."""
        return f"{self.module.file}:{self.line}"

    def takes_mapping(self, tool: ToolSpec) -> bool:
        """Whether it is handed all arguments as one mapping.

        The runtime decides the same of the live function.
        """
        if self.signature is None:
            return False
        s = self.signature
        count = len(s.names) + len(s.positional_only) + s.takes_any + s.has_star
        if count != 1 or s.takes_any or s.keyword_only:
            return False
        return not s.names or s.names[0] not in tool.properties


def is_below(module: str, package: str) -> bool:
    """Whether a module is a package or in it."""
    return module == package or module.startswith(f"{package}.")


def handler_module(workspace: Workspace, name: str) -> PythonModule | None:
    """The module of a dotted name, read once a run; None when no source has it."""
    return _read(workspace).module(name)


def handler_code(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> HandlerCode | None:
    """The handler of a tool; None when it has none, or none that may be read."""
    reference = tool.handler
    if reference is None or toolset.handlers is None:
        return None
    if not is_below(reference.module, toolset.handlers):
        return None
    return _read(workspace).code(reference)


class _Read:
    """The handlers of one workspace; each module and function is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self.module = cache(partial(read_module, workspace.root, workspace.sources))
        self.code = cache(self._code)

    def _code(self, reference: HandlerReference) -> HandlerCode | None:
        module = self.module(reference.module)
        return None if module is None else _code_in(module, reference)


@lru_cache(maxsize=2)
def _read(workspace: Workspace) -> _Read:
    return _Read(workspace)


def _code_in(module: PythonModule, reference: HandlerReference) -> HandlerCode:
    function = module.functions.get(reference.function)
    is_elsewhere = reference.function in module.other_names or module.has_any_name
    if function is None or is_elsewhere:
        found = function is not None or is_elsewhere
        return HandlerCode(module, found, function.lineno if function else 0)
    signature = None if function.decorator_list else _signature(function)
    return HandlerCode(module, True, function.lineno, signature)


def _signature(function: FunctionDefinition) -> Signature:
    given = function.args
    placed = [*given.posonlyargs, *given.args]
    defaults: dict[str, ast.expr] = {}
    if given.defaults:
        late = placed[-len(given.defaults) :]
        defaults = {a.arg: d for a, d in zip(late, given.defaults, strict=True)}
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = default
    return Signature(
        tuple(a.arg for a in [*given.args, *given.kwonlyargs]),
        tuple(a.arg for a in given.posonlyargs),
        defaults,
        given.kwarg is not None,
        given.vararg is not None,
        frozenset(a.arg for a in given.kwonlyargs),
    )
