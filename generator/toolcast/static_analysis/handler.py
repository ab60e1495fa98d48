"""A tool's handler, found in the source text without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import cache, lru_cache, partial
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import HandlerReference
from .classes import ClassField, read_class_fields
from .module_names import ModuleNames
from .modules import FunctionDefinition, PythonModule, read_module
from .origin import ExternalDefinitionError, OriginChecker, PackageDefinition


class Signature(NamedTuple):
    """What a function takes.

    Attributes:
        names: the parameters that can be given by name.
        positional_only: those that cannot.
        optional: the parameters with a default, with the default's expression.
        takes_any: it has `**arguments`.
        has_star: it has `*arguments`.
        keyword_only: the parameters behind a `*`.
        annotations: the parameters with an annotation, with that.
        result: the annotation of the result; None without one.
    """

    names: tuple[str, ...]
    positional_only: tuple[str, ...]
    optional: Mapping[str, ast.expr]
    has_kwargs: bool
    has_varargs: bool
    keyword_only: frozenset[str]
    annotations: Mapping[str, ast.expr]
    result: ast.expr | None

    def remove_parameters(self, names: Collection[str]) -> Signature:
        """The same without keywords that no caller gives."""
        if not names:
            return self
        return self._replace(
            names=tuple(name for name in self.names if name not in names),
            optional={k: v for k, v in self.optional.items() if k not in names},
            keyword_only=self.keyword_only.difference(names),
        )


class HandlerCode(NamedTuple):
    """Where a handler is, and what it takes.

    Attributes:
        module: the module that the spec names.
        is_found: the module has the name.
        foreign: why it is not seen to be defined in the package of handlers, in words that
            go on after the name; empty when it is.
        place: `file:line` of the function; empty when it is no plain one.
        source: the module that defines it; None when that is not seen.
        signature: what it takes; None when it is known at run time only: the function is
            decorated, a method, given by another one, or a class.
    """

    module: PythonModule
    is_found: bool = True
    external_reason: str = ""
    location: str = ""
    source: PythonModule | None = None
    signature: Signature | None = None

    def accepts_mapping(self, tool: ToolSpec) -> bool:
        """Whether it is handed all arguments as one mapping.

        The runtime decides the same of the live function.
        """
        if tool.arguments_type is not None:
            return True
        if self.signature is None:
            return False
        s = self.signature
        count = len(s.names) + len(s.positional_only) + s.has_kwargs + s.has_varargs
        if count != 1 or s.has_kwargs or s.keyword_only:
            return False
        declared = tool.schemas["parameters"].declared
        return not s.names or s.names[0] not in declared.names


def is_in_package(module: str, package: str) -> bool:
    """Whether a module is a package or in it."""
    return module == package or module.startswith(f"{package}.")


def find_module(workspace: Workspace, name: str) -> PythonModule | None:
    """The module of a dotted name, read once a run; None when no source has it."""
    return _read(workspace).module(name)


def find_handler_code(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> HandlerCode | None:
    """The handler of a tool; None when it has none, or none that may be read.

    Its signature is without the dependencies that the tool uses.
    """
    if tool.handler is None:
        return None
    code = find_function_code(workspace, toolset, tool.handler)
    if code is None or code.signature is None:
        return code
    return code._replace(signature=code.signature.remove_parameters(tool.uses))


def _package_of(toolset: Toolset, reference: HandlerReference) -> str:
    """The package of handlers, where what a spec names is in it; else empty."""
    package = toolset.handlers or ""
    return package if package and is_in_package(reference.module, package) else ""


def find_function_code(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> HandlerCode | None:
    """What a spec names as `module:function`; None when it may not be read, or is not there."""
    package = _package_of(toolset, reference)
    return _read(workspace).code(package, reference) if package else None


def find_class_problem(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> str:
    """Why a spec may not name `module:Class`, in words that go on after it.

    Returns:
        An empty text where it may, or the module cannot be read.
    """
    package = _package_of(toolset, reference)
    if not package:
        above = toolset.handlers
        return f"is not below `{above}`" if above else "is in no package of handlers"
    found = _read(workspace).class_(package, reference)
    return found if isinstance(found, str) else ""


def find_class_fields(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> Mapping[str, ClassField] | None:
    """The fields of a class that a spec names; None where its text alone does not tell them."""
    package, read = _package_of(toolset, reference), _read(workspace)
    own = read.class_(package, reference) if package else None
    if not isinstance(own, PackageDefinition) or not isinstance(own.node, ast.ClassDef):
        return None
    module = read.module(own.module)
    return (
        read_class_fields(read.names, module, own.node) if module is not None else None
    )


def get_module_names(workspace: Workspace) -> ModuleNames:
    """The names of the workspace's modules."""
    return _read(workspace).names


def find_defining_module(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> PythonModule | None:
    """The module that defines a tool's handler; None when that is not seen."""
    code = find_handler_code(workspace, toolset, tool)
    return None if code is None or code.external_reason else code.source


class _HandlerCache:
    """The handlers of one workspace; each module and function is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self.names = ModuleNames(
            partial(read_module, workspace.root, workspace.sources)
        )
        self.module = self.names.module
        self.code = cache(self._code)
        self.class_ = cache(self._class)
        self._origins = cache(
            lambda package: OriginChecker(ModuleNames(self.module, package))
        )

    def _code(self, package: str, reference: HandlerReference) -> HandlerCode | None:
        module = self.module(reference.module)
        if module is None or module.problem:
            return None
        try:
            own = self._origins(package).of(reference.module, reference.function)
        except ExternalDefinitionError as problem:
            is_found = not problem.is_absent
            return HandlerCode(module, is_found, str(problem) if is_found else "")
        node = own[0].node
        source = self.module(own[0].module) or module
        if len(own) > 1 or not isinstance(node, FunctionDefinition):
            return HandlerCode(module, source=source)
        is_plain = own[0].kind == "function" and not node.decorator_list
        signature = _signature(node) if is_plain else None
        where = f"{source.file}:{node.lineno}"
        return HandlerCode(module, location=where, source=source, signature=signature)

    def _class(
        self, package: str, reference: HandlerReference
    ) -> PackageDefinition | str | None:
        module = self.module(reference.module)
        if module is None:
            return "is in no module that is there"
        if module.problem:
            return None
        try:
            return self._origins(package).class_of(reference.module, reference.function)
        except ExternalDefinitionError as problem:
            return str(problem)


@lru_cache(maxsize=2)
def _read(workspace: Workspace) -> _HandlerCache:
    return _HandlerCache(workspace)


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
        {a.arg: a.annotation for a in [*placed, *given.kwonlyargs] if a.annotation},
        function.returns,
    )
