"""Functions of FastMCP and SDK servers that are handlers: their source and their Context.

The runtime's decorator `adapt` names the adapted function in its argument `source`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..suggestions import did_you_mean
from .annotated_names import find_type_name
from .module_names import ModuleNames
from .modules import (
    FunctionDefinition,
    PythonModule,
    collect_bindings,
    get_last_name,
)

_ADAPT_NAMES = (
    "toolcast_runtime.fastmcp.adapt",
    "toolcast_runtime.fastmcp.adapting.adapt",
)
_REGISTRATIONS = ("tool", "resource", "prompt")
_SERVER_CLASSES = ("FastMCP", "MCPServer")
_SERVER_PACKAGES = ("fastmcp", "mcp")
_SDK_MEMBERS = frozenset(
    [
        *("debug", "info", "warning", "error", "log", "report_progress", "elicit"),
        *("read_resource", "request_id", "request_context"),
    ]
)
CONTEXT_MEMBERS = {
    "mcp": _SDK_MEMBERS,
    "fastmcp": _SDK_MEMBERS
    | {"lifespan_context", "session_id", "client_id", "fastmcp"},
}
"""Members that the runtime's `fastmcp.context` provides, by library; a test compares them."""
_INJECTIONS = ("Depends", "Resolve")


class AdaptedFunction(NamedTuple):
    """The function that the argument `source` of an `adapt` decorator names.

    Attributes:
        module: the module of the function.
        node: the definition.
        is_method: whether its first parameter is the object.
        is_plain: whether its decorators only register it at a server.
    """

    module: PythonModule
    node: FunctionDefinition
    is_method: bool
    is_plain: bool


def find_adapted_source(
    names: ModuleNames, module: PythonModule, node: FunctionDefinition
) -> str | None:
    """Return the argument `source` of a function's `adapt` decorator.

    None without this decorator, or if the argument is not a literal.
    """
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        definition = names.resolve_unambiguous(module, decorator.func)
        if definition is None or definition.name not in _ADAPT_NAMES:
            continue
        for keyword in decorator.keywords:
            value = keyword.value
            if keyword.arg == "source" and isinstance(value, ast.Constant):
                return str(value.value)
    return None


def find_adapted_function(
    names: ModuleNames, source: str
) -> AdaptedFunction | str | None:
    """Return the function that a `module:outer.inner` source names.

    Returns:
        The function, the reason why it does not exist, or None if its module is not
        part of the project.
    """
    module_name, _, path = source.partition(":")
    module = names.load_module(module_name)
    if module is None:
        package = module_name.partition(".")[0]
        if names.load_module(package) is None:
            return None
        return f"the project's sources have no module `{module_name}`"
    if module.tree is None:
        return f"{module.file} cannot be read: {module.problem}"
    body = module.tree.body
    is_method = False
    parts = path.split(".")
    for index, part in enumerate(parts):
        bindings = collect_bindings(body, module)
        is_last = index + 1 == len(parts)
        node = bindings.functions.get(part)
        class_ = None if is_last else bindings.classes.get(part)
        if node is None and class_ is None:
            name = ".".join(parts[: index + 1])
            similar = did_you_mean(part, sorted(bindings.functions))
            hint = f"; {similar}" if similar else ""
            return f"{module.file} has no function `{name}`{hint}"
        if node is not None and is_last:
            decorators = [d for d in node.decorator_list if not _is_registration(d)]
            is_static = any(get_last_name(d) == "staticmethod" for d in decorators)
            has_others = any(
                get_last_name(d) not in ("staticmethod", "classmethod")
                for d in decorators
            )
            return AdaptedFunction(
                module, node, is_method and not is_static, not has_others
            )
        is_method = class_ is not None
        owner = class_ if class_ is not None else node
        body = owner.body if owner is not None else []
    return f"`source` names no function: `{source}`"


def has_only_registrations(
    names: ModuleNames, module: PythonModule, node: FunctionDefinition
) -> bool:
    """Return whether all decorators register the function at a server of its module.

    Such decorators return the function unchanged. True for a function without
    decorators.
    """
    return all(
        _is_registration(decorator) and _is_server(names, module, decorator)
        for decorator in node.decorator_list
    )


def _is_registration(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in _REGISTRATIONS


def _is_server(names: ModuleNames, module: PythonModule, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    server = called.value if isinstance(called, ast.Attribute) else called
    definition = names.resolve_unambiguous(module, server)
    value = None if definition is None else definition.value
    if definition is None or not isinstance(value, ast.Call):
        return False
    class_ = names.resolve_unambiguous(definition.module, value.func)
    if class_ is None:
        return False
    package, _, name = class_.name.partition(".")
    return package in _SERVER_PACKAGES and name.endswith(_SERVER_CLASSES)


def list_contexts(
    names: ModuleNames,
    module: PythonModule,
    parameters: Mapping[str, tuple[ast.expr | None, ast.expr | None]],
) -> Iterator[tuple[str, str]]:
    """Yield the parameters that receive a `Context`, with the name of its library.

    Args:
        parameters: the annotation and the default of each parameter.
    """
    for name, (annotation, default) in parameters.items():
        type_name = annotation and find_type_name(names, module, annotation)
        package, _, rest = (type_name or "").partition(".")
        is_default = (
            isinstance(default, ast.Call)
            and get_last_name(default.func) == "CurrentContext"
        )
        is_context = package in _SERVER_PACKAGES and f".{rest}".endswith(".Context")
        if is_default or is_context:
            yield name, "fastmcp" if is_default else package


def list_unsupported_uses(
    node: FunctionDefinition,
    contexts: Mapping[str, str],
    parameters: Mapping[str, tuple[ast.expr | None, ast.expr | None]],
) -> Iterator[str]:
    """Yield what a function uses of a library and the runtime does not provide.

    Args:
        node: the definition.
        contexts: the library of each `Context` parameter.
        parameters: the annotation and the default of each parameter.
    """
    for name, expressions in parameters.items():
        for part in (p for e in expressions if e is not None for p in ast.walk(e)):
            called = get_last_name(part.func) if isinstance(part, ast.Call) else None
            if called in _INJECTIONS:
                yield f"`{called}` for the parameter `{name}`"
    for part in ast.walk(node):
        if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
            continue
        library = contexts.get(part.value.id)
        if library and part.attr not in CONTEXT_MEMBERS[library]:
            yield f"`Context.{part.attr}` in line {part.lineno}"


def find_alias(annotation: ast.expr | None, default: ast.expr | None) -> str | None:
    """Return the name that callers send for a parameter; None for its own name.

    pydantic's `Field` sets another name, in the default or in the annotation.
    """
    for expression in (default, annotation):
        for node in ast.walk(expression) if expression is not None else ():
            if not isinstance(node, ast.Call) or get_last_name(node.func) != "Field":
                continue
            arguments = {keyword.arg: keyword.value for keyword in node.keywords}
            value = arguments.get("validation_alias", arguments.get("alias"))
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return None
