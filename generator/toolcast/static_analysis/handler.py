"""Handlers of tools, found in the source code without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import HandlerReference
from .adapted_functions import (
    find_adapted_function,
    find_adapted_source,
    find_alias,
    has_only_registrations,
    list_contexts,
    list_unsupported_uses,
)
from .annotated_names import is_mapping
from .classes import ClassField, read_class_fields
from .module_names import ModuleNames
from .modules import FunctionDefinition, PythonModule, read_module
from .origin import ExternalDefinitionError, OriginChecker, PackageDefinition


class Signature(NamedTuple):
    """The parameters and the result of a function.

    Attributes:
        names: the parameters that can be passed by name.
        positional_only: the positional-only parameters.
        optional: the default of each optional parameter.
        has_kwargs: whether it accepts any keywords (`**kwargs`).
        has_varargs: whether it accepts any positional arguments (`*args`).
        keyword_only: the keyword-only parameters.
        annotations: the annotation of each annotated parameter.
        result: the annotation of the result; None without one.
        mappings: the parameters that are annotated as a mapping or a TypedDict.
        contexts: the parameters that receive the `Context` of FastMCP or the SDK.
        aliases: the names that callers send for parameters, if pydantic sets others.
        unsupported_uses: uses of a library that the runtime does not provide, for messages.
    """

    names: tuple[str, ...]
    positional_only: tuple[str, ...]
    optional: Mapping[str, ast.expr]
    has_kwargs: bool
    has_varargs: bool
    keyword_only: frozenset[str]
    annotations: Mapping[str, ast.expr]
    result: ast.expr | None
    mappings: frozenset[str] = frozenset()
    contexts: tuple[str, ...] = ()
    aliases: Mapping[str, str] = MappingProxyType({})
    unsupported_uses: tuple[str, ...] = ()

    def accepts_mapping(self, names: Collection[str]) -> bool:
        """Return whether the function receives all arguments as one mapping.

        True for a function with exactly one parameter, which is positional-only, or is
        annotated as a mapping and not itself an argument. The runtime applies the same
        rule to the imported function.

        Args:
            names: the names of the tool's arguments.
        """
        if self.has_kwargs or self.has_varargs or self.keyword_only:
            return False
        parameters = (*self.positional_only, *self.names)
        if len(parameters) != 1 or parameters == self.positional_only:
            return len(parameters) == 1
        return parameters[0] not in names and parameters[0] in self.mappings

    def remove_parameters(self, names: Collection[str]) -> Signature:
        """Return the signature without parameters that callers cannot set.

        Args:
            names: the names of these parameters.
        """
        if not names:
            return self
        return self._replace(
            names=tuple(name for name in self.names if name not in names),
            optional={k: v for k, v in self.optional.items() if k not in names},
            keyword_only=self.keyword_only.difference(names),
        )

    def apply_pydantic(self) -> Signature:
        """Return the signature as callers see it with `values: pydantic`.

        Parameters that receive a `Context` are removed, and aliases replace names.
        """
        signature = self.remove_parameters(self.contexts)
        aliases = self.aliases
        if not aliases:
            return signature
        return signature._replace(
            names=tuple(aliases.get(name, name) for name in signature.names),
            optional={aliases.get(k, k): v for k, v in signature.optional.items()},
            keyword_only=frozenset(aliases.get(k, k) for k in signature.keyword_only),
        )


class HandlerCode(NamedTuple):
    """What the source code shows of a handler.

    Attributes:
        module: the module that the spec names.
        is_found: whether the module has the handler's name.
        external_reason: the reason why the handler is not certainly defined in the
            handlers package, as a predicate after the name; empty if it is.
        location: `file:line` of the function; empty if it is not a function definition.
        source: the module that defines the handler; None if it is unknown.
        signature: the signature; None if it is only known at run time, for decorated
            functions, methods, classes and results of calls.
        source_problem: the reason why the function that `adapt` names does not exist.
        signature_location: `file:line` of the function with the signature.
    """

    module: PythonModule
    is_found: bool = True
    external_reason: str = ""
    location: str = ""
    source: PythonModule | None = None
    signature: Signature | None = None
    source_problem: str = ""
    signature_location: str = ""

    def accepts_mapping(self, tool: ToolSpec) -> bool:
        """Return whether the handler receives all arguments as one mapping or object.

        False if the signature is unknown and the tool has no `arguments_type`.
        """
        if tool.arguments_type is not None:
            return True
        names = tool.schemas["parameters"].declared.names
        return self.signature is not None and self.signature.accepts_mapping(names)


def is_in_package(module: str, package: str) -> bool:
    """Return whether a module is a package or one of its submodules."""
    return module == package or module.startswith(f"{package}.")


def find_module(workspace: Workspace, name: str) -> PythonModule | None:
    """Return the module with a dotted name; None if no source folder contains it."""
    return _get_cache(workspace).load_module(name)


def find_handler_code(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> HandlerCode | None:
    """Return what the source shows of a tool's handler.

    None if the tool has no handler, or its module is outside the handlers package or
    cannot be read. The signature does not contain the dependencies that the tool uses.
    """
    if tool.handler is None:
        return None
    value_types = toolset.get_value_types(tool)
    code = find_function_code(workspace, toolset, tool.handler, value_types)
    if code is None or code.signature is None:
        return code
    return code._replace(signature=code.signature.remove_parameters(tool.uses))


def _get_package(toolset: Toolset, reference: HandlerReference) -> str:
    """Return the handlers package if it contains the referenced module; else ""."""
    package = toolset.handlers or ""
    return package if package and is_in_package(reference.module, package) else ""


def find_function_code(
    workspace: Workspace,
    toolset: Toolset,
    reference: HandlerReference,
    value_types: str | None = None,
) -> HandlerCode | None:
    """Return what the source shows of a `module:function` reference.

    None if the module is outside the handlers package, or cannot be read.

    Args:
        workspace: the project.
        toolset: the toolset of the handlers package.
        reference: the reference.
        value_types: the value of `values`; by default the toolset's.
    """
    package = _get_package(toolset, reference)
    code = _get_cache(workspace).find_code(package, reference) if package else None
    is_pydantic = (value_types or toolset.values) == "pydantic"
    if code is None or code.signature is None or not is_pydantic:
        return code
    return code._replace(signature=code.signature.apply_pydantic())


def find_class_problem(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> str:
    """Return why a spec cannot use a `module:Class` reference; "" if it can.

    The reason is a predicate after the class. "" also if the module cannot be parsed.
    """
    package = _get_package(toolset, reference)
    if not package:
        handlers = toolset.handlers
        if handlers:
            return f"is not in the package `{handlers}`"
        return "needs a package of handlers, and `handlers` is not set"
    result = _get_cache(workspace).find_class(package, reference)
    return result if isinstance(result, str) else ""


def find_class_fields(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> Mapping[str, ClassField] | None:
    """Return the fields of a `module:Class` reference, by name.

    None if the source does not show all fields, or the class is not in the package.
    """
    package, handlers = _get_package(toolset, reference), _get_cache(workspace)
    definition = handlers.find_class(package, reference) if package else None
    if not isinstance(definition, PackageDefinition):
        return None
    if not isinstance(definition.node, ast.ClassDef):
        return None
    module = handlers.load_module(definition.module)
    if module is None:
        return None
    return read_class_fields(handlers.names, module, definition.node)


def get_module_names(workspace: Workspace) -> ModuleNames:
    """Return the names of the workspace's modules."""
    return _get_cache(workspace).names


def find_defining_module(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> PythonModule | None:
    """Return the module that defines a tool's handler; None if it is unknown.

    A handler that may be defined outside the handlers package has no such module.
    """
    code = find_handler_code(workspace, toolset, tool)
    return None if code is None or code.external_reason else code.source


class _HandlerCache:
    """The handlers of one workspace; each module and function is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self.names = ModuleNames(
            partial(read_module, workspace.root, workspace.sources)
        )
        self.load_module = self.names.load_module
        self._generated_package = workspace.package
        self.find_code = cache(self._find_code)
        self.find_class = cache(self._find_class)
        self._get_checker = cache(
            lambda package: OriginChecker(ModuleNames(self.load_module, package))
        )

    def _find_code(
        self, package: str, reference: HandlerReference
    ) -> HandlerCode | None:
        module = self.load_module(reference.module)
        if module is None or module.problem:
            return None
        try:
            definitions = self._get_checker(package).find_definitions(
                reference.module, reference.function
            )
        except ExternalDefinitionError as error:
            # The rule `handler/not-found` reports a missing name, so it is no problem
            # of the origin.
            is_found = not error.is_absent
            return HandlerCode(module, is_found, str(error) if is_found else "")
        definition = definitions[0]
        node = definition.node
        source = self.load_module(definition.module) or module
        # With several definitions, the signature depends on conditions at run time.
        if len(definitions) > 1 or not isinstance(node, FunctionDefinition):
            return HandlerCode(module, source=source)
        location = f"{source.file}:{node.lineno}"
        code = HandlerCode(module, location=location, source=source)
        if definition.kind != "function":
            return code
        adapted_source = find_adapted_source(self.names, source, node)
        if adapted_source is not None:
            return self._find_adapted_code(code, adapted_source)
        # A decorator that does not only register the function can change the signature.
        if not has_only_registrations(self.names, source, node):
            return code
        return code._replace(
            signature=self._read_signature(source, node), signature_location=location
        )

    def _find_adapted_code(self, code: HandlerCode, source: str) -> HandlerCode:
        """Return a handler with the signature of the function that it adapts.

        The signature stays unknown if that function cannot be found or has other
        decorators.
        """
        adapted = find_adapted_function(self.names, source)
        if adapted is None:
            return code
        if isinstance(adapted, str):
            return code._replace(source_problem=adapted)
        location = f"{adapted.module.file}:{adapted.node.lineno}"
        if not adapted.is_plain:
            return code._replace(signature_location=location)
        signature = self._read_signature(adapted.module, adapted.node)
        if adapted.is_method:
            signature = signature.remove_parameters(signature.names[:1])
        return code._replace(signature=signature, signature_location=location)

    def _read_signature(
        self, module: PythonModule, node: FunctionDefinition
    ) -> Signature:
        signature = _build_signature(node)
        parameters = {
            name: (signature.annotations.get(name), signature.optional.get(name))
            for name in signature.names
        }
        aliases = {
            name: alias
            for name, expressions in parameters.items()
            if (alias := find_alias(*expressions)) is not None
        }
        contexts = dict(list_contexts(self.names, module, parameters))
        mappings = frozenset(
            name
            for name, annotation in signature.annotations.items()
            if is_mapping(self.names, module, annotation, self._generated_package)
        )
        return signature._replace(
            mappings=mappings,
            contexts=tuple(contexts),
            aliases=aliases,
            unsupported_uses=tuple(list_unsupported_uses(node, contexts, parameters)),
        )

    def _find_class(
        self, package: str, reference: HandlerReference
    ) -> PackageDefinition | str | None:
        """Return a class, or why a spec cannot use it, as a predicate after its name.

        None if the module cannot be parsed.
        """
        module = self.load_module(reference.module)
        if module is None:
            return "is in a module that does not exist"
        if module.problem:
            return None
        try:
            return self._get_checker(package).find_class(
                reference.module, reference.function
            )
        except ExternalDefinitionError as error:
            return str(error)


@lru_cache(maxsize=2)
def _get_cache(workspace: Workspace) -> _HandlerCache:
    return _HandlerCache(workspace)


def _build_signature(function: FunctionDefinition) -> Signature:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr] = {}
    if arguments.defaults:
        # In a syntax tree, the defaults belong to the last positional parameters.
        optional = positional[-len(arguments.defaults) :]
        for argument, value in zip(optional, arguments.defaults, strict=True):
            defaults[argument.arg] = value
    for argument, default in zip(
        arguments.kwonlyargs, arguments.kw_defaults, strict=True
    ):
        if default is not None:
            defaults[argument.arg] = default
    return Signature(
        tuple(a.arg for a in [*arguments.args, *arguments.kwonlyargs]),
        tuple(a.arg for a in arguments.posonlyargs),
        defaults,
        arguments.kwarg is not None,
        arguments.vararg is not None,
        frozenset(a.arg for a in arguments.kwonlyargs),
        {
            a.arg: a.annotation
            for a in [*positional, *arguments.kwonlyargs]
            if a.annotation
        },
        function.returns,
    )
