"""Rules of the family `handler`: existence and signatures of handlers.

`handler.md` explains each rule.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.values.annotated_types import is_keyword_argument
from toolcast_runtime.values.schema_types import SchemaTypes

from ..analysis.annotation import AnnotationChecker
from ..analysis.mcp_definitions import list_handler_arguments
from ..encoders.json_text import encode_compact_json
from ..findings import Finding, Location, Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import HandlerReference, PromptSpec, ResourceSpec
from ..parsing.tree import Path
from ..static_analysis.call_graph import CallStep, trace_handler
from ..static_analysis.classes import ClassField
from ..static_analysis.handler import (
    HandlerCode,
    Signature,
    find_class_fields,
    find_class_problem,
    find_defining_module,
    find_function_code,
    find_handler_code,
    find_module,
    get_module_names,
    is_in_package,
)
from ..static_analysis.modules import (
    ImportedName,
    PythonModule,
    collect_bindings,
    get_last_name,
    list_imports,
    read_text,
)
from ..suggestions import did_you_mean, suggest_name
from ..targets.table import list_enabled_targets
from .rule import Problem, problem_at, rule
from .subjects import Scope

Owner = Toolset | ToolSpec | ResourceSpec | PromptSpec

LIFESPAN_DEPENDENCY = "lifespan_context"
"""Name of the dependency that an adapted lifespan provides.

`values.pydantic_functions` of the runtime defines the same name.
"""
_REMOVE_SLASH = "remove the `/` after it in the function's parameters"


def format_location(file: str, line: int) -> str:
    """Return a position in a file as `file:line`."""
    return f"{file}:{line}"


def format_call_path(path: Sequence[CallStep]) -> str:
    """Return text that describes the calls from a handler to a function.

    The text begins with a comma, to be appended to a message. Empty for the handler itself.
    """
    if len(path) < 2:
        return ""
    calls = [
        f"`{step.name}` ({format_location(step.file, step.line)})" for step in path[:-1]
    ]
    return f", called through {' -> '.join([*calls, f'`{path[-1].name}`'])}"


def _check_exists(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """Return a message and a help if a function or its module does not exist, or None.

    None also if the code cannot be analyzed, so that the function may exist.
    """
    module = find_module(workspace, reference.module)
    if module is None:
        path = reference.module.replace(".", "/") + ".py"
        folders = [source for source in workspace.sources if source != "."]
        folder = f" in {', '.join(folders)}" if folders else ""
        help_ = (
            f"create `{path}`{folder}, or add its folder to `sources` of toolcast.yaml"
        )
        return f"the module `{reference.module}` does not exist", help_
    if module.problem:
        message = f"{module.file} cannot be read: {module.problem}"
        return message, "fix the file"
    code = find_function_code(workspace, toolset, reference)
    if code is not None and code.source_problem:
        message = (
            f"the function that `{reference}` adapts is missing: {code.source_problem}"
        )
        return message, f"correct `source` of `adapt` ({code.location})"
    if code is None or code.is_found:
        return None
    functions = sorted(module.bindings.functions)
    help_ = f"define `{reference.function}` in {module.file}"
    if functions:
        help_ = suggest_name(reference.function, functions)
    return f"{module.file} has no function `{reference.function}`", help_


def _check_package(
    toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """Return a message and a help if a module is not in the handlers package, or None.

    The module itself need not exist.
    """
    if toolset.handlers is None:
        return (
            f"`{reference.module}` is used, but the toolset has no `handlers` package",
            f"add `handlers: {reference.module.split('.')[0]}` to toolset.yaml",
        )
    if not is_in_package(reference.module, toolset.handlers):
        return (
            f"`{reference.module}` is not in the handlers package `{toolset.handlers}`",
            f"use a module of `{toolset.handlers}`, or change `handlers` of toolset.yaml",
        )
    return None


def _check_reference(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """Return a message and a help if the handlers package has no such function, or None."""
    problem = _check_package(toolset, reference)
    return problem or _check_exists(workspace, toolset, reference)


def _check_dependency_parameters(
    signature: Signature, uses: Sequence[str], toolset: Toolset
) -> Iterator[tuple[str, str]]:
    """Yield a message and a help for each dependency that a function does not accept.

    Dependencies are passed as keyword arguments.
    """
    for name in uses:
        if name not in toolset.dependencies:
            # The rule `handler/unknown-dependency` reports unknown dependencies.
            continue
        if name in signature.positional_only:
            message = (
                f"`{name}` is positional-only, but dependencies are passed by name"
            )
            yield message, _REMOVE_SLASH
        elif name not in signature.names and not signature.has_kwargs:
            message = f"the handler has no parameter for the dependency `{name}`"
            help_ = f"add `{name}` to the function, or remove it from `uses`"
            yield message, help_


@rule("handler/annotation-mismatch", on="tool", severity=Severity.WARNING)
def check_annotations(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report type annotations of a handler that do not match the schemas.

    Only handlers that receive JSON values (`values: json`) are checked.
    """
    code = find_handler_code(scope.workspace, scope.toolset, tool)
    if code is None or tool.handler is None:
        return
    # Handlers with other values, or with an `arguments_type`, have annotations that the JSON
    # types cannot be compared with. `handler/type-mismatch` checks classes.
    value_types = scope.toolset.get_value_types(tool)
    if value_types != "json" or tool.arguments_type:
        return
    for problem in _compare_annotations(tool, code, scope.workspace):
        message = f"{problem} (`{tool.handler.function}`, {code.location})"
        help_ = "change the annotation or the schema; calls are validated by the schema"
        yield problem_at(tool, ("handler",), message, help_)


def _compare_annotations(
    tool: ToolSpec, code: HandlerCode, workspace: Workspace
) -> Iterator[str]:
    """Yield a message for each annotation that contradicts a schema.

    Annotations of parameters are skipped if the handler accepts one mapping.
    """
    signature, module = code.signature, code.source
    if signature is None or module is None or module.tree is None:
        return
    if not code.accepts_mapping(tool):
        types = SchemaTypes(tool.parameters, "Arguments")
        arguments = types.build_arguments_class("Arguments")
        annotations = AnnotationChecker(
            get_module_names(workspace), module, types.objects
        )
        for name, node in signature.annotations.items():
            if name in arguments.members:
                type_ = arguments.members[name].type
                yield from annotations.check_parameter(type_, node, name)
    if isinstance(tool.returns, dict) and signature.result and not tool.result_type:
        types = SchemaTypes(tool.returns, "Result")
        result, _ = types.build_type("Result")
        annotations = AnnotationChecker(
            get_module_names(workspace), module, types.objects
        )
        yield from annotations.check_result(result, signature.result, "the result")


@rule("handler/default-mismatch", on="tool", severity=Severity.WARNING)
def check_defaults(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report default values of a handler that differ from `default` of the schema.

    A default of None, and defaults that are not literals, are not reported.
    """
    code = find_handler_code(scope.workspace, scope.toolset, tool)
    if code is None or code.signature is None or code.accepts_mapping(tool):
        return
    for name, expression in code.signature.optional.items():
        schema = tool.properties.get(name)
        if not isinstance(schema, dict) or "default" not in schema:
            continue
        try:
            default = ast.literal_eval(expression)
            text = encode_compact_json(default)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            # The handler is not imported, so only literals with a JSON value can be compared.
            continue
        if default is not None and text != encode_compact_json(schema["default"]):
            path = ("parameters", "properties", name, "default")
            message = (
                f"the handler's default of `{name}` is {text[:60]}, which differs from the"
                f" schema's ({code.location})"
            )
            help_ = "use the schema's default in the function, or None"
            yield problem_at(tool, path, message, help_)


@rule(
    "handler/ledger-sink",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_ledger_sink(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report a ledger sink that is not a function of the handlers package.

    With a valid sink, report `ledger.path`, which then has no effect.
    """
    if "sink" not in toolset.ledger:
        return
    sink = HandlerReference.parse(toolset.ledger["sink"])
    problem = _check_reference(workspace, toolset, sink)
    if problem is not None:
        yield problem_at(toolset, ("ledger", "sink"), *problem)
    elif "path" in toolset.ledger:
        message = "`ledger.path` has no effect, because records are passed to `sink`"
        yield problem_at(toolset, ("ledger", "path"), message, "remove one of the two")


@rule(
    "handler/lifespan", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def check_lifespan(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report a lifespan function or a dependency's type that cannot be used.

    Also report `dependencies` without a `lifespan`, which provides them.
    """
    if toolset.lifespan is None:
        if toolset.dependencies:
            message = "the toolset has `dependencies`, but no `lifespan`"
            help_ = (
                "add `lifespan: module:function`, a context manager that yields the"
                " dependencies"
            )
            yield problem_at(toolset, ("dependencies",), message, help_)
        return
    problem = _check_reference(workspace, toolset, toolset.lifespan)
    if problem is None:
        problem = _check_lifespan_signature(toolset, workspace)
    if problem is not None:
        yield problem_at(toolset, ("lifespan",), *problem)
    for name, type_ in toolset.dependencies.items():
        problem = _check_dependency_type(type_, toolset, workspace)
        if problem is not None:
            yield problem_at(toolset, ("dependencies", name), *problem)


def _check_dependency_type(
    type_: HandlerReference, toolset: Toolset, workspace: Workspace
) -> tuple[str, str] | None:
    """Return a message and a help if the class of a dependency does not exist, or None."""
    parts = [*type_.module.split("."), type_.function]
    if any(map(keyword.iskeyword, parts)):
        message = f"`{type_}` contains a Python keyword"
        return message, "write `module:Class` with the name of an existing class"
    # Types in other packages are not checked here: only type checkers import them.
    if toolset.handlers is None or not is_in_package(type_.module, toolset.handlers):
        return None
    problem = _check_exists(workspace, toolset, type_)
    if problem is None:
        return None
    message, help_ = problem
    similar = did_you_mean(type_.function, _list_classes(workspace, type_))
    return message.replace("has no function", "has no class"), similar or help_


def _list_classes(workspace: Workspace, type_: HandlerReference) -> list[str]:
    """Return the top-level classes of a reference's module; empty if it is unreadable."""
    module = find_module(workspace, type_.module)
    body = module.tree.body if module is not None and module.tree is not None else []
    return [node.name for node in body if isinstance(node, ast.ClassDef)]


def _check_lifespan_signature(
    toolset: Toolset, workspace: Workspace
) -> tuple[str, str] | None:
    """Return a message and a help if the lifespan function has required parameters."""
    code = toolset.lifespan and find_function_code(workspace, toolset, toolset.lifespan)
    if not code or code.signature is None:
        return None
    signature = code.signature
    required = [
        name
        for name in (*signature.positional_only, *signature.names)
        if name not in signature.optional
    ]
    if not required:
        return None
    names = ", ".join(f"`{name}`" for name in required)
    return (
        f"the lifespan function is called without arguments, but requires {names}"
        f" ({code.location})",
        "remove the parameters, and read settings in the function, for example from the"
        " environment",
    )


@rule("handler/mcp-signature", on="toolset", severity=Severity.ERROR)
def check_mcp_signatures(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report handlers of resources and MCP prompts that do not accept their arguments."""
    for spec in toolset.mcp_specs:
        if spec.handler is None:
            continue
        code = find_function_code(workspace, toolset, spec.handler)
        if code is None or code.signature is None:
            continue
        arguments, required = list_handler_arguments(spec)
        signature = code.signature.remove_parameters(spec.uses)
        for message, help_ in (
            *_check_dependency_parameters(code.signature, spec.uses, toolset),
            *_compare_mcp_signature(signature, arguments, required),
        ):
            message = f"{message} ({code.signature_location})"
            yield problem_at(spec, ("handler",), message, help_)


def _compare_mcp_signature(
    signature: Signature, arguments: tuple[str, ...], required: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Yield a message and a help for each argument that a signature does not accept.

    Required parameters that a request may not contain are reported, too.

    Args:
        signature: the signature without dependencies.
        arguments: names of all arguments.
        required: names of the arguments that every request contains.
    """
    if signature.accepts_mapping(arguments):
        return
    for name in signature.positional_only:
        if name not in signature.optional:
            message = f"`{name}` is positional-only, but arguments are passed by name"
            yield message, _REMOVE_SLASH
    for name in arguments:
        if name not in signature.names and not signature.has_kwargs:
            yield (
                f"the handler has no parameter `{name}`",
                _suggest_parameter(name, signature, arguments),
            )
    for name in signature.names:
        if name not in required and name not in signature.optional:
            message = f"the handler requires `{name}`, which a request may not contain"
            help_ = did_you_mean(name, arguments) or _suggest_form(signature)
            yield message, help_


def _suggest_parameter(
    name: str, signature: Signature, arguments: Collection[str]
) -> str:
    """Return the help for an argument without a parameter: a rename or an addition."""
    undeclared = [n for n in signature.names if n not in arguments]
    suggestion = did_you_mean(name, undeclared)
    if not suggestion and len(undeclared) == len(signature.names) == 1:
        suggestion = f"rename `{undeclared[0]}` to `{name}`"
    return suggestion or f"add `{name}` to the function"


def _suggest_form(signature: Signature) -> str:
    """Return the help for a required parameter of a function that is not an argument.

    A single parameter may be meant for a mapping of all arguments.
    """
    if len(signature.names) > 1 or signature.positional_only:
        return "add a default, or remove it"
    name = signature.names[0]
    return (
        "rename it, or annotate it as a mapping to receive all arguments:"
        f" `{name}: Mapping[str, Any]`"
    )


@rule("handler/missing", on="toolset", severity=Severity.WARNING)
def check_missing_handlers(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools that have neither a handler nor a proxy, so that calls fail.

    Nothing is reported without the target `registry`, which calls need.
    """
    enabled = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    if "registry" not in {*toolset.targets}.union(*(t.needs for t in enabled)):
        return
    tools = toolset.list_target_tools("registry")
    missing = [t for t in tools if t.handler is None and toolset.get_proxy(t) is None]
    if toolset.handlers is None and len(missing) > 1 and len(missing) == len(tools):
        # After an import, no tool has a handler. Report this once instead of once per tool.
        message = f"none of the {len(tools)} tools of `{toolset.name}` has a handler, so calls fail"
        help_ = (
            "set `handlers` here and `handler` in each tool, or set `proxy` to the server"
            " that implements them"
        )
        yield problem_at(toolset, ("name",), message, help_)
        return
    for tool in missing:
        message = f"`{tool.name}` has no handler, so calls fail"
        help_ = (
            "add `handler: module:function`, or set `proxy` to the server that implements"
            " the tool; `toolcast new NAME --kind handler` writes a stub"
        )
        yield problem_at(tool, ("name",), message, help_)


@rule(
    "handler/not-found", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def check_handlers_exist(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report handlers whose module or function does not exist."""
    for spec in (*toolset.tools, *toolset.mcp_specs):
        reference = spec.handler
        # Handlers in other packages are reported by `handler/outside-package`.
        if reference is not None and _check_package(toolset, reference) is None:
            problem = _check_exists(workspace, toolset, reference)
            if problem is not None:
                yield problem_at(spec, ("handler",), *problem)


@rule(
    "handler/imported", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def check_imported_handlers(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report handlers, lifespans and sinks that the handlers package only imports.

    Functions that are defined in other packages, and code that the analysis does not follow,
    are reported.
    """
    references: list[tuple[Owner, Path, HandlerReference | None]] = [
        (spec, ("handler",), spec.handler)
        for spec in (*toolset.tools, *toolset.mcp_specs)
    ]
    references.append((toolset, ("lifespan",), toolset.lifespan))
    if "sink" in toolset.ledger:
        sink = HandlerReference.parse(toolset.ledger["sink"])
        references.append((toolset, ("ledger", "sink"), sink))
    for owner, path, reference in references:
        code = reference and find_function_code(workspace, toolset, reference)
        if reference and code and code.external_reason:
            message = (
                f"`{reference}` must be defined in `{toolset.handlers}`, but it"
                f" {code.external_reason}"
            )
            help_ = (
                f"write a function in `{reference.module}` that calls it, and name that"
                " function"
            )
            yield problem_at(owner, path, message, help_)


@rule(
    "handler/outside-package",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_handler_packages(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report handlers that are not in the toolset's handlers package."""
    problems: list[tuple[ToolSpec | ResourceSpec | PromptSpec, tuple[str, str]]] = []
    for spec in (*toolset.tools, *toolset.mcp_specs):
        problem = spec.handler and _check_package(toolset, spec.handler)
        if problem:
            problems.append((spec, problem))
    suggestion = _suggest_package(toolset, workspace) if problems else ""
    for spec, (message, help_) in problems:
        if suggestion:
            help_ = f"change `handlers` of toolset.yaml: {suggestion}"
        yield problem_at(spec, ("handler",), message, help_)


def _suggest_package(toolset: Toolset, workspace: Workspace) -> str:
    """Return a suggestion for a misspelled `handlers`, or an empty string.

    The suggestion is a package of existing handlers with a similar name. If a handler is in the
    package that `handlers` names, the name is not misspelled.
    """
    package = toolset.handlers
    modules = [tool.handler.module for tool in toolset.tools if tool.handler]
    if package is None or any(is_in_package(module, package) for module in modules):
        return ""
    packages: dict[str, None] = {}
    for module in modules:
        if find_module(workspace, module) is not None:
            parts = module.split(".")
            # The module and each of its parent packages can be what `handlers` should name.
            for count in range(1, len(parts) + 1):
                packages[".".join(parts[:count])] = None
    return did_you_mean(package, packages)


_UNUSED_SERVER_FIELDS = {
    "lock": "the specs contain the definitions, so there is nothing to lock",
    "on_change": "the specs contain the definitions, so there is nothing to lock",
    "clients": "set `clients` in the tool's spec instead",
    "persistent": "set `persistent` in the tool's spec instead",
    "result": "set `result` in the tool's spec instead",
    "max_tools": "the specs determine the tools",
    "list_timeout": "the list of a proxied server is not requested",
    "call_timeout": "set `timeout` in the tool's spec instead",
}
"""Fields of `mcp_servers` that have no effect for a proxied server, with the reason.

The reason is the second half of the help.
"""


@rule("handler/proxy", on="toolset", severity=Severity.ERROR)
def check_proxies(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report proxies to unknown servers, and contradictory settings of proxied tools."""
    servers = {server.name: server for server in toolset.mcp_servers}
    owners: tuple[Toolset | ToolSpec, ...] = (toolset, *toolset.tools)
    for owner in owners:
        if owner.proxy is not None and owner.proxy not in servers:
            message = f"`proxy`: `{owner.proxy}` is not declared in `mcp_servers`"
            help_ = did_you_mean(owner.proxy, servers) or (
                "declare the server, or remove `proxy`"
            )
            yield problem_at(owner, ("proxy",), message, help_)
    for tool in toolset.tools:
        if tool.proxy is not None and tool.handler is not None:
            message = f"`{tool.name}` has both `handler` and `proxy`"
            yield problem_at(tool, ("proxy",), message, "remove one of the two")
        server = servers.get(toolset.get_proxy(tool) or "")
        if server is None:
            continue
        server_name = server.get_server_name(tool.name)
        if not server.is_allowed(server_name):
            message = (
                f"`{server_name}` is proxied to `{server.name}`, whose `allow` or `deny`"
                " excludes it"
            )
            help_ = f"allow it in `mcp_servers.{server.name}`, or remove `proxy`"
            yield problem_at(tool, ("name",), message, help_)
    for name in sorted(toolset.proxied_servers & servers.keys()):
        for field in servers[name].fields:
            if field in _UNUSED_SERVER_FIELDS:
                message = f"`{field}` of `{name}` has no effect, because specs define its tools"
                help_ = f"remove `{field}`: {_UNUSED_SERVER_FIELDS[field]}"
                path = ("mcp_servers", name, field)
                yield problem_at(toolset, path, message, help_, at_key=True)


@rule("handler/signature", on="tool", severity=Severity.ERROR)
def check_signature(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a handler that does not accept the tool's parameters or dependencies."""
    value_types = scope.toolset.get_value_types(tool)
    code = tool.handler and find_function_code(
        scope.workspace, scope.toolset, tool.handler, value_types
    )
    if not code or code.signature is None:
        return
    problems = [*_check_dependency_parameters(code.signature, tool.uses, scope.toolset)]
    signature = code.signature.remove_parameters(tool.uses)
    if not code._replace(signature=signature).accepts_mapping(tool):
        problems += _compare_signature(tool, signature)
    for message, help_ in problems:
        message = f"{message} ({code.signature_location})"
        yield problem_at(tool, ("handler",), message, help_)


def _compare_signature(
    tool: ToolSpec, signature: Signature
) -> Iterator[tuple[str, str]]:
    """Yield a message and a help for each difference of a signature from the schema.

    Parameters with a default that the schema does not declare are not reported here.
    """
    declared = tool.schemas["parameters"].declared
    names = declared.names
    always_sent = _list_always_sent(tool)
    for name in signature.positional_only:
        if name not in signature.optional:
            message = f"`{name}` is positional-only, but arguments are passed by name"
            yield message, _REMOVE_SLASH
    if not signature.has_kwargs:
        missing = names.difference(signature.names, signature.positional_only)
        for name in sorted(missing):
            if not is_keyword_argument(name):
                help_ = "accept one mapping of all arguments, or add `**arguments`"
            else:
                help_ = _suggest_parameter(name, signature, names)
            label = "required parameter" if name in always_sent else "parameter"
            yield f"the handler has no {label} `{name}`", help_
    for name in signature.names:
        if name in signature.optional or name in always_sent:
            continue
        if not declared.find_undeclared([name]):
            help_ = "add a default, or list the parameter in `required` of the schema"
            yield f"the handler requires `{name}`, which calls may omit", help_
        else:
            message = (
                f"the handler requires `{name}`, which is not a parameter of the tool"
            )
            help_ = did_you_mean(name, sorted(names)) or _suggest_form(signature)
            yield message, help_


def _list_always_sent(tool: ToolSpec) -> set[str]:
    """Return the names of the parameters that every valid call contains.

    These are the parameters in `required`, also in branches of `allOf`, and, if the parameter
    that selects an action is required, those that every action requires.
    """
    names = set(tool.required)
    schemas = tool.parameters.get("allOf")
    for schema in schemas if isinstance(schemas, list) else ():
        required = schema.get("required") if isinstance(schema, dict) else None
        if isinstance(required, list):
            names.update(name for name in required if isinstance(name, str))
    if tool.actions is not None and tool.actions.parameter in names:
        action_names = [set(action.requires) for action in tool.actions.values]
        names |= set.intersection(*action_names) if action_names else set()
    return names


@rule("handler/type-mismatch", on="tool", severity=Severity.ERROR)
def check_types(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report argument and result classes whose fields do not match the schemas."""
    for key, reference, schema in (
        ("arguments_type", tool.arguments_type, tool.parameters),
        ("result_type", tool.result_type, tool.returns),
    ):
        if reference is None or not isinstance(schema, dict):
            continue
        fields = find_class_fields(scope.workspace, scope.toolset, reference)
        if fields is None or not isinstance(schema.get("properties"), dict):
            continue
        is_argument = key == "arguments_type"
        for problem in _compare_class(fields, schema, is_argument=is_argument):
            message = f"`{reference.function}` does not match the schema: {problem}"
            help_ = "change the class or the schema; calls are validated by the schema"
            yield problem_at(tool, (key,), message, help_)


def _compare_class(
    fields: Mapping[str, ClassField], schema: Mapping[str, Any], *, is_argument: bool
) -> Iterator[str]:
    """Yield a text for each difference between a class and a schema.

    Args:
        fields: the fields of the class.
        schema: the schema of the parameters or of the result.
        is_argument: whether the schema is that of the parameters.
    """
    properties, required = schema["properties"], schema.get("required", ())
    if is_argument:
        names, reason = properties, "which callers may send"
    else:
        names, reason = required, "which is required"
    for name in names:
        if name not in fields:
            yield f"it has no field `{name}`, {reason}"
    is_closed = schema.get("additionalProperties", True) is False
    for name, field in fields.items():
        if is_argument and field.is_required and name not in required:
            yield f"it requires `{name}`, which callers may omit"
        elif not is_argument and is_closed and name not in properties:
            yield f"`{name}` is not in `returns`"
    for name, field in fields.items():
        member = properties.get(name)
        type_ = member.get("type") if isinstance(member, dict) else None
        if field.kind is None or not isinstance(type_, str) or type_ == field.kind:
            continue
        is_iterated = field.is_iterable and type_ in ("string", "object")
        # An integer and a number are compatible in both directions.
        if {type_, field.kind} != {"integer", "number"} and not is_iterated:
            yield f"`{name}` has the type {field.kind}, and {type_} in the schema"


@rule(
    "handler/imported-type", on="tool", severity=Severity.ERROR, can_be_suppressed=False
)
def check_imported_types(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report argument and result classes that the handlers package does not define."""
    for field in ("arguments_type", "result_type"):
        reference = getattr(tool, field)
        if not reference:
            continue
        problem = find_class_problem(scope.workspace, scope.toolset, reference)
        if problem:
            message = f"`{reference}` must be a class of the handlers package, but it {problem}"
            help_ = "define a `class` in the toolset's handlers package, and name it"
            yield problem_at(tool, (field,), message, help_)


_CURRENT_CALL, _ASK = "current_call", "ask"


@rule("handler/unawaited-ask", on="toolset", severity=Severity.ERROR)
def check_unawaited_questions(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report calls of `current_call().ask(...)` without `await` in handlers' modules.

    Each module is checked once, and reported for the first tool that uses it.
    """
    checked_files: set[str] = set()
    for tool in toolset.tools:
        module = find_defining_module(workspace, toolset, tool)
        if module is None or module.file in checked_files:
            continue
        checked_files.add(module.file)
        for line in sorted(_find_unawaited_questions(module)):
            location = format_location(module.file, line)
            message = f"{location} calls `ask` without `await`, so it gets no answer"
            help_ = "add `await` in an async function, or use `ask_sync` in a sync one"
            yield problem_at(tool, ("handler",), message, help_)


def _find_unawaited_questions(module: PythonModule) -> Iterator[int]:
    """Yield the lines of calls of `ask` that are not part of an `await` expression."""
    if module.tree is None or not module.may_contain(_CURRENT_CALL):
        return
    # First collect the variables with the current call or with its `ask` method; the second
    # loop then recognizes calls through these variables.
    call_variables: set[str] = set()
    ask_variables: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign):
            names = {
                target.id for target in node.targets if isinstance(target, ast.Name)
            }
            if _is_current_call(node.value):
                call_variables |= names
            elif _is_ask_method(node.value, call_variables):
                ask_variables |= names
    pending: list[ast.AST] = [module.tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Await):
            # Skip everything below `await`: awaiting `gather(...)`, for example, also awaits
            # the questions in its arguments.
            continue
        if isinstance(node, ast.Call) and (
            _is_ask_method(node.func, call_variables)
            or (isinstance(node.func, ast.Name) and node.func.id in ask_variables)
        ):
            yield node.lineno
        pending.extend(ast.iter_child_nodes(node))


def _is_current_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and get_last_name(node.func) == _CURRENT_CALL


def _is_ask_method(node: ast.expr, call_variables: set[str]) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != _ASK:
        return False
    owner = node.value
    is_variable = isinstance(owner, ast.Name) and owner.id in call_variables
    return is_variable or _is_current_call(owner)


@rule("handler/unsupported-context", on="toolset", severity=Severity.WARNING)
def check_context_uses(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report handlers that use members of a `Context` that the runtime does not provide."""
    for spec in (*toolset.tools, *toolset.mcp_specs):
        values = toolset.values
        if isinstance(spec, ToolSpec):
            values = toolset.get_value_types(spec)
        if spec.handler is None or values != "pydantic":
            continue
        code = find_function_code(workspace, toolset, spec.handler, values)
        signature = None if code is None else code.signature
        for use in () if signature is None else signature.unsupported_uses:
            message = f"the handler uses {use}, which is not available"
            if code is not None:
                message = f"{message} ({code.signature_location})"
            help_ = "change the function; docs/context.md lists the available members"
            yield problem_at(spec, ("handler",), message, help_)


@rule("handler/undeclared-parameter", on="tool", severity=Severity.WARNING)
def check_undeclared_parameters(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report optional parameters of a handler that the schema does not declare.

    Also report a schema with additional properties, which keyword parameters do not receive.
    """
    code = find_handler_code(scope.workspace, scope.toolset, tool)
    if code is None or code.signature is None or code.accepts_mapping(tool):
        return
    declared = tool.schemas["parameters"].declared
    # Parameters without a default are reported by `handler/signature`.
    for name in declared.find_undeclared(code.signature.optional):
        message = (
            f"the handler has a parameter `{name}` that the schema does not declare"
            f" ({code.location})"
        )
        help_ = did_you_mean(name, sorted(declared.names)) or (
            "declare it in `parameters`, or remove it: callers cannot send it"
        )
        yield problem_at(tool, ("handler",), message, help_)
    if tool.parameters.get("additionalProperties", False) is not False:
        message = (
            "the schema allows additional parameters, which a handler with keyword"
            f" parameters does not receive ({code.location})"
        )
        help_ = (
            "accept one mapping of all arguments, or set `additionalProperties: false`"
        )
        path = ("parameters", "additionalProperties")
        yield problem_at(tool, path, message, help_, at_key=True)


_MAX_REASONS_SHOWN = 3
"""Maximum number of findings of `handler/unanalyzed-code` per tool."""


@rule("handler/unanalyzed-code", on="tool", severity=Severity.WARNING)
def check_analyzability(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report code of a handler in which tables may be used without being recognized.

    Only tools with `data` are checked.
    """
    if not tool.data:
        return
    reach = trace_handler(scope.workspace, scope.toolset, tool)
    for reason in reach.problems[:_MAX_REASONS_SHOWN] if reach else ():
        message = f"the handler's code cannot be analyzed completely: {reason}"
        help_ = "simplify the code, so that the tables that it queries can be checked"
        yield problem_at(tool, ("handler",), message, help_)


@rule(
    "handler/unknown-dependency",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_used_dependencies(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report unknown dependencies in `uses`, and names that cannot be a parameter."""
    for name in toolset.dependencies:
        if not is_keyword_argument(name):
            message = f"the dependency `{name}` cannot be a parameter of a function"
            path: Path = ("dependencies", name)
            help_ = "rename the dependency"
            yield problem_at(toolset, path, message, help_, at_key=True)
    for spec in (*toolset.tools, *toolset.mcp_specs):
        for index, name in enumerate(spec.uses):
            path = ("uses", index)
            if name not in toolset.dependencies:
                message = f"the toolset has no dependency `{name}`"
                help_ = did_you_mean(name, list(toolset.dependencies)) or (
                    "add it with its type to `dependencies` of toolset.yaml"
                )
                yield problem_at(spec, path, message, help_)
            label, is_argument = _describe_argument(spec, name)
            if is_argument:
                message = f"`{name}` is also {label}, so callers could send it"
                yield problem_at(spec, path, message, "rename one of the two")


def _describe_argument(
    spec: ToolSpec | ResourceSpec | PromptSpec, name: str
) -> tuple[str, bool]:
    """Return the noun for arguments of a spec, and whether one of them has the name."""
    if isinstance(spec, ToolSpec):
        declared = spec.schemas["parameters"].declared
        return "a parameter of the tool", not declared.find_undeclared([name])
    label = "a variable of the URI"
    if isinstance(spec, PromptSpec):
        label = "an argument of the prompt"
    return label, name in list_handler_arguments(spec)[0]


@rule("handler/unused-dependency", on="toolset", severity=Severity.WARNING)
def check_unused_dependencies(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report dependencies that no spec uses."""
    specs = (*toolset.tools, *toolset.mcp_specs)
    used = {name for spec in specs for name in spec.uses}
    if toolset.values == "pydantic":
        # With `values: pydantic`, a handler can read this dependency from its `Context`
        # parameter, without `uses` in the spec.
        used.add(LIFESPAN_DEPENDENCY)
    for name in toolset.dependencies:
        if name not in used:
            unknown = sorted(used - {LIFESPAN_DEPENDENCY} - toolset.dependencies.keys())
            message = f"no spec uses the dependency `{name}`"
            help_ = did_you_mean(name, unknown) or (
                f"add `uses: [{name}]` to a spec, or remove it here and in the lifespan"
            )
            path = ("dependencies", name)
            yield problem_at(toolset, path, message, help_, at_key=True)


def check_generated_imports(
    workspace: Workspace, outputs: Mapping[str, bytes]
) -> Iterator[Finding]:
    """Report imports by handlers of generated modules or names that do not exist.

    The modules of the handlers and lifespans are checked, and the modules of their package
    that these import, directly or indirectly.

    Args:
        workspace: the workspace.
        outputs: the content of each generated file by its path in the output folder.
    """
    package = [workspace.package] if workspace.package else []
    sources: dict[str, bytes] = {}
    for path, data in outputs.items():
        stem, _, extension = ".".join([*package, *path.split("/")]).rpartition(".")
        if extension == "py":
            sources[stem.removesuffix(".__init__")] = data
    # If the output folder itself is a source folder, each toolset is a top-level package.
    roots = package or [toolset.name for toolset in workspace.toolsets]
    suggestions = _suggest_renamed_modules(workspace, package)
    for module, node, imported in _list_handler_imports(workspace):
        name = imported.module
        is_generated = any(is_in_package(name, root) for root in roots)
        if not is_generated or imported.dotted in sources:
            continue
        help_ = "correct the import, or remove it"
        # The generated module exists, so check the name that is imported from it.
        if name in sources:
            tree = ast.parse(sources[name])
            names = collect_bindings(tree.body, PythonModule(name, ""))
            if imported.name in names:
                continue
            name = imported.dotted
            help_ = did_you_mean(imported.name or "", names) or help_
        text = read_text(workspace.root, module.file) or ""
        line = "".join(text.splitlines()[node.lineno - 1 : node.lineno])
        yield Finding(
            "handler/import-error",
            Severity.ERROR,
            Location(module.file, node.lineno, node.col_offset + 1, len(line) + 1),
            f"a handler imports `{name}`, which is not generated",
            suggestions.get(name, help_),
            line,
        )


def _suggest_renamed_modules(
    workspace: Workspace, package: Sequence[str]
) -> dict[str, str]:
    """Return a help for each generated module of a previous tool name, by module name."""
    suggestions: dict[str, str] = {}
    for toolset in workspace.toolsets:
        prefix = ".".join([*package, toolset.name, "tools", ""])
        for tool in toolset.tools:
            for name in map(module_name, tool.renamed_from):
                suggestions[prefix + name] = f"did you mean `{prefix}{tool.module}`?"
    return suggestions


def _list_handler_imports(
    workspace: Workspace,
) -> Iterator[tuple[PythonModule, ast.stmt, ImportedName]]:
    """Yield each import in the modules of handlers and lifespans.

    Modules of the handlers package that these modules import are followed.
    """
    pending = [
        (toolset.handlers, reference.module)
        for toolset in workspace.toolsets
        for owner in (*toolset.tools, *toolset.mcp_specs)
        for reference in (owner.handler, toolset.lifespan)
        if toolset.handlers and reference is not None
    ]
    visited: set[str] = set()
    while pending:
        package, name = pending.pop()
        module = find_module(workspace, name) if is_in_package(name, package) else None
        if module is not None and name not in visited:
            for node, imported in list_imports(module):
                yield module, node, imported
                pending += [(package, imported.module), (package, imported.dotted)]
        visited.add(name)
