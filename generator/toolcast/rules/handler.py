"""The rules `handler/...`; `handler.md` says what each is for."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.values.annotated_types import is_keyword_argument
from toolcast_runtime.values.schema_types import SchemaTypes

from ..analysis.annotation import AnnotationChecker
from ..analysis.uri_templates import list_variables
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


def place(file: str, line: int) -> str:
    """`file:line`."""
    return f"{file}:{line}"


def way_to(way: Sequence[CallStep]) -> str:
    """The calls from the handler to a function; empty for the handler itself."""
    if len(way) < 2:
        return ""
    calls = [f"`{step.name}` ({place(step.file, step.line)})" for step in way[:-1]]
    return f", by way of {' -> '.join([*calls, f'`{way[-1].name}`'])}"


def missing_function(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """What is not there of a function below `handlers`, with a help; None when it is."""
    module = find_module(workspace, reference.module)
    if module is None:
        path = reference.module.replace(".", "/") + ".py"
        folders = [source for source in workspace.sources if source != "."]
        where = f" below {', '.join(folders)}" if folders else ""
        help_ = (
            f"it is looked for as `{path}`{where}; toolcast.yaml's `sources` says where"
        )
        return f"there is no module `{reference.module}`", help_
    if module.problem:
        return f"{module.file} cannot be read: {module.problem}", ""
    code = find_function_code(workspace, toolset, reference)
    if code is None or code.is_found:
        return None
    help_ = suggest_name(reference.function, sorted(module.bindings.functions))
    return f"{module.file} has no function `{reference.function}`", help_


def outside(
    toolset: Toolset, named: HandlerReference, what: str
) -> tuple[str, str] | None:
    """Why a spec may not name a function, with a help; None when it may.

    `what`: the functions of which this is one, for the message.
    """
    if toolset.handlers is None:
        return (
            f"the toolset does not say which package {what} come from",
            f"add `handlers: {named.module.split('.')[0]}` to toolset.yaml",
        )
    if not is_in_package(named.module, toolset.handlers):
        return (
            f"`{named.module}` is not below `{toolset.handlers}`",
            "the toolset's `handlers` is the only package that specs may name",
        )
    return None


def outside_or_missing(
    workspace: Workspace, toolset: Toolset, named: HandlerReference
) -> tuple[str, str] | None:
    """Why a function of the toolset itself cannot be had, with a help; None when it can."""
    problem = outside(toolset, named, "its functions")
    return problem or missing_function(workspace, toolset, named)


def problems_with_dependencies(
    signature: Signature, uses: Sequence[str], toolset: Toolset
) -> Iterator[tuple[str, str]]:
    """What a function does not take of the dependencies that it is given, with a help each.

    One that the toolset does not have is `handler/unknown-dependency`'s to tell.
    """
    for name in filter(toolset.dependencies.__contains__, uses):
        if name in signature.positional_only:
            only = f"the handler takes `{name}` by place only"
            yield f"{only}, and dependencies come by name", "remove the `/` behind it"
        elif name not in signature.names and not signature.has_kwargs:
            lacks = f"the handler has no parameter for the dependency `{name}`"
            help_ = f"add `{name}` to the function, or remove it from `uses`"
            yield f"{lacks}, which `uses` names", help_


@rule("handler/annotation-mismatch", on="tool", severity=Severity.WARNING)
def annotation_mismatch(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    code = find_handler_code(where.workspace, where.toolset, tool)
    # What is given as another value than JSON is compared by `handler/type-mismatch`.
    if code is None or tool.handler is None:
        return
    if where.toolset.has_python_values(tool) or tool.arguments_type:
        return
    for problem in _problems_of_annotation_mismatch(tool, code, where.workspace):
        message = f"{problem} (`{tool.handler.function}`, {code.location})"
        help_ = (
            "mend the annotation or the schema; the schema is what callers are held to"
        )
        yield problem_at(tool, ("handler",), message, help_)


def _problems_of_annotation_mismatch(
    tool: ToolSpec, code: HandlerCode, workspace: Workspace
) -> Iterator[str]:
    signature, module = code.signature, code.source
    if signature is None or module is None or module.tree is None:
        return
    if not code.accepts_mapping(tool):
        types = SchemaTypes(tool.parameters, "Arguments")
        given = types.arguments("Arguments")
        annotations = AnnotationChecker(
            get_module_names(workspace), module, types.objects
        )
        for name, node in signature.annotations.items():
            if name in given.members:
                yield from annotations.check_parameter(
                    given.members[name].type, node, name
                )
    if isinstance(tool.returns, dict) and signature.result and not tool.result_type:
        types = SchemaTypes(tool.returns, "Result")
        wanted, _ = types.whole("Result")
        annotations = AnnotationChecker(
            get_module_names(workspace), module, types.objects
        )
        yield from annotations.check_result(wanted, signature.result, "the result")


@rule("handler/default-mismatch", on="tool", severity=Severity.WARNING)
def default(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    code = find_handler_code(where.workspace, where.toolset, tool)
    if code is None or code.signature is None or code.accepts_mapping(tool):
        return
    for name, expression in code.signature.optional.items():
        schema = tool.properties.get(name)
        if not isinstance(schema, dict) or "default" not in schema:
            continue
        try:
            default = ast.literal_eval(expression)
            shown = encode_compact_json(default)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            # Not a literal, or one that JSON has not: only the handler knows it.
            continue
        if default is not None and shown != encode_compact_json(schema["default"]):
            own = f"the handler's own default of `{name}` is {shown[:60]} ({code.location})"
            help_ = (
                "callers are told the one of the schema; let the handler have the same"
                " one, or None"
            )
            yield problem_at(
                tool, ("parameters", "properties", name, "default"), own, help_
            )


@rule(
    "handler/ledger-sink",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def ledger_sink(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if "sink" not in toolset.ledger:
        return
    sink = HandlerReference.parse(toolset.ledger["sink"])
    problem = outside_or_missing(workspace, toolset, sink)
    if problem is not None:
        yield problem_at(toolset, ("ledger", "sink"), *problem)
    elif "path" in toolset.ledger:
        message = "records go to `sink`, and nothing is written to `path`"
        yield problem_at(toolset, ("ledger", "path"), message, "remove one of the two")


@rule(
    "handler/lifespan", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def lifespan(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if toolset.lifespan is None:
        if toolset.dependencies:
            message = "nothing gives the dependencies: the toolset has no `lifespan`"
            help_ = (
                "add `lifespan: module:function`, a context manager that yields them"
            )
            yield problem_at(toolset, ("dependencies",), message, help_, at_key=True)
        return
    problem = outside_or_missing(workspace, toolset, toolset.lifespan)
    if problem is None:
        problem = _signature_problem(toolset, workspace)
    if problem is not None:
        yield problem_at(toolset, ("lifespan",), *problem)
    for name, type_ in toolset.dependencies.items():
        parts = [*type_.module.split("."), type_.function]
        if any(map(keyword.iskeyword, parts)):
            message = f"no module can have a class that is called `{type_}`"
            yield problem_at(
                toolset, ("dependencies", name), message, "write `module:Class`"
            )
            continue
        # What others define is not looked for: nothing imports it but type checkers.
        if toolset.handlers is None or not is_in_package(
            type_.module, toolset.handlers
        ):
            continue
        absent = missing_function(workspace, toolset, type_)
        if absent is not None:
            message = absent[0].replace("has no function", "has no class")
            near = did_you_mean(type_.function, _classes(workspace, type_))
            yield problem_at(
                toolset, ("dependencies", name), message, near or absent[1]
            )


def _classes(workspace: Workspace, type_: HandlerReference) -> list[str]:
    module = find_module(workspace, type_.module)
    body = module.tree.body if module is not None and module.tree is not None else []
    return [node.name for node in body if isinstance(node, ast.ClassDef)]


def _signature_problem(
    toolset: Toolset, workspace: Workspace
) -> tuple[str, str] | None:
    code = toolset.lifespan and find_function_code(workspace, toolset, toolset.lifespan)
    if not code or code.signature is None:
        return None
    needed = [*code.signature.positional_only, *code.signature.names]
    left = [name for name in needed if name not in code.signature.optional]
    if not left:
        return None
    listed = ", ".join(f"`{name}`" for name in left)
    return (
        f"the lifespan needs {listed}, and it is given nothing ({code.location})",
        "let it read its settings itself, from the environment for example",
    )


@rule("handler/mcp-signature", on="toolset", severity=Severity.ERROR)
def mcp_signature(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for spec in toolset.mcp_specs:
        if spec.handler is None:
            continue
        code = find_function_code(workspace, toolset, spec.handler)
        if code is None or code.signature is None:
            continue
        if isinstance(spec, ResourceSpec):
            given = always = list_variables(spec.uri_template or "")
        else:
            given = tuple(one.name for one in spec.arguments)
            always = tuple(one.name for one in spec.arguments if one.required)
        signature = code.signature.remove_parameters(spec.uses)
        for message, help_ in (
            *problems_with_dependencies(code.signature, spec.uses, toolset),
            *_problems_of_mcp_signature(signature, given, always),
        ):
            yield problem_at(spec, ("handler",), f"{message} ({code.location})", help_)


def _problems_of_mcp_signature(
    signature: Signature, given: tuple[str, ...], always: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    takes_mapping = (
        len(signature.names) + len(signature.positional_only) == 1
        and not (
            signature.has_kwargs or signature.has_varargs or signature.keyword_only
        )
        and not set(given) & set(signature.names)
    )
    if takes_mapping:
        return
    for name in signature.positional_only:
        if name not in signature.optional:
            yield f"`{name}` can be given by place only", "remove the `/` behind it"
    for name in given:
        if name not in signature.names and not signature.has_kwargs:
            near = [n for n in signature.names if n not in given]
            help_ = did_you_mean(name, near) or f"add `{name}` to the function"
            yield f"the handler has no parameter `{name}`", help_
    for name in signature.names:
        if name not in always and name not in signature.optional:
            help_ = did_you_mean(name, given) or "give it a default, or remove it"
            yield f"the handler needs `{name}`, which may not be given", help_


@rule("handler/missing", on="toolset", severity=Severity.WARNING)
def missing(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    if "registry" not in {*toolset.targets}.union(*(one.needs for one in chosen)):
        return
    shown = toolset.list_target_tools("registry")
    missing = [t for t in shown if t.handler is None and toolset.get_proxy(t) is None]
    if toolset.handlers is None and len(missing) > 1 and len(missing) == len(shown):
        # What was imported: nobody would read the same of each.
        message = (
            f"none of the {len(shown)} tools of `{toolset.name}` has a handler: they can be"
            " shown and not called"
        )
        help_ = (
            "name the package of their `handlers` here and a `handler` in each, or `proxy`"
            " with a server that answers"
        )
        yield problem_at(toolset, ("name",), message, help_)
        return
    for tool in missing:
        message = f"`{tool.name}` has no handler: it can be shown and not called"
        help_ = (
            "add `handler: module:function`, or `proxy` with a server that answers;"
            " `toolcast new NAME --kind handler` writes a stub"
        )
        yield problem_at(tool, ("name",), message, help_)


@rule(
    "handler/not-found", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def not_found(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for spec in (*toolset.tools, *toolset.mcp_specs):
        named = spec.handler
        # Of the others `handler/outside-package` tells.
        if named is not None and outside(toolset, named, "handlers") is None:
            problem = missing_function(workspace, toolset, named)
            if problem is not None:
                yield problem_at(spec, ("handler",), *problem)


@rule(
    "handler/imported", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def not_own(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    named: list[tuple[Owner, Path, HandlerReference | None]] = [
        (spec, ("handler",), spec.handler)
        for spec in (*toolset.tools, *toolset.mcp_specs)
    ]
    named.append((toolset, ("lifespan",), toolset.lifespan))
    if "sink" in toolset.ledger:
        sink = HandlerReference.parse(toolset.ledger["sink"])
        named.append((toolset, ("ledger", "sink"), sink))
    for owner, path, reference in named:
        code = reference and find_function_code(workspace, toolset, reference)
        if reference and code and code.external_reason:
            message = (
                f"`{reference.function}` is not seen to be defined in"
                f" `{toolset.handlers}`: it {code.external_reason}"
            )
            yield problem_at(owner, path, message, _HELP)


_HELP = (
    "name a `def` or a `class` of that package, or what a call of one gives; one that is"
    " written there may call what is imported"
)


@rule(
    "handler/outside-package",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def outside_package(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    found = [
        (spec, problem)
        for spec in (*toolset.tools, *toolset.mcp_specs)
        if spec.handler and (problem := outside(toolset, spec.handler, "handlers"))
    ]
    meant = _meant(toolset, workspace) if found else ""
    for spec, (message, help_) in found:
        yield problem_at(spec, ("handler",), message, help_ + meant)


def _meant(toolset: Toolset, workspace: Workspace) -> str:
    """What the toolset's package was probably meant to be, where no handler is below it."""
    package = toolset.handlers
    modules = [tool.handler.module for tool in toolset.tools if tool.handler]
    if package is None or any(is_in_package(module, package) for module in modules):
        return ""
    own = (name for name in modules if find_module(workspace, name) is not None)
    parts = [name.split(".") for name in own]
    packages = dict.fromkeys(
        ".".join(names[:count]) for names in parts for count in range(1, len(names) + 1)
    )
    suggestion = did_you_mean(package, packages)
    return f"; in toolset.yaml, {suggestion}" if suggestion else ""


_UNREAD = {
    "lock": "what its tools say is in your specs, which need no lock",
    "on_change": "what its tools say is in your specs, which need no lock",
    "clients": "the clients of a tool are in its spec, `clients`",
    "persistent": "what is recorded is in a tool's spec, `persistent`",
    "result": "what is sent of results is in a tool's spec, `result`",
    "max_tools": "which of its tools there are is what the specs say",
    "list_timeout": "a proxied server is not asked for its list",
    "call_timeout": "the time-out of a call is the tool's own, `timeout`",
}


@rule("handler/proxy", on="toolset", severity=Severity.ERROR)
def proxy(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    servers = {server.name: server for server in toolset.mcp_servers}
    owners: tuple[Toolset | ToolSpec, ...] = (toolset, *toolset.tools)
    for owner in owners:
        if owner.proxy is not None and owner.proxy not in servers:
            message = f"`{owner.proxy}` is no entry of `mcp_servers`"
            near = did_you_mean(owner.proxy, servers)
            help_ = near or "declare the server, or remove `proxy`"
            yield problem_at(owner, ("proxy",), message, help_)
    for tool in toolset.tools:
        if tool.proxy is not None and tool.handler is not None:
            message = (
                f"`{tool.name}` has a handler and a proxy: one of them answers a call"
            )
            yield problem_at(tool, ("proxy",), message, "remove `handler`, or `proxy`")
        server = servers.get(toolset.get_proxy(tool) or "")
        own = "" if server is None else server.get_server_name(tool.name)
        if server is not None and not server.is_allowed(own):
            message = f"`{own}` is not taken from `{server.name}`, which is to answer its calls"
            help_ = "remove the server's `allow` and `deny`, or the tool's proxy"
            yield problem_at(tool, ("name",), message, help_)
    for name in sorted(toolset.proxied_servers & servers.keys()):
        for field in servers[name].fields:
            if field in _UNREAD:
                message = f"`{field}` of `{name}` is not read: its tools are the toolset's own"
                help_ = f"remove it: {_UNREAD[field]}"
                path = ("mcp_servers", name, field)
                yield problem_at(toolset, path, message, help_, at_key=True)


@rule("handler/signature", on="tool", severity=Severity.ERROR)
def signature(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    whole = tool.handler and find_function_code(
        where.workspace, where.toolset, tool.handler
    )
    if not whole or whole.signature is None:
        return
    problems = [*problems_with_dependencies(whole.signature, tool.uses, where.toolset)]
    signature = whole.signature.remove_parameters(tool.uses)
    if not whole._replace(signature=signature).accepts_mapping(tool):
        problems += _problems_of_signature(tool, signature)
    for message, help_ in problems:
        yield problem_at(tool, ("handler",), f"{message} ({whole.location})", help_)


def _problems_of_signature(
    tool: ToolSpec, signature: Signature
) -> Iterator[tuple[str, str]]:
    declared = tool.schemas["parameters"].declared
    known = declared.names
    sent = _always_sent(tool)
    for name in signature.positional_only:
        if name not in signature.optional:
            only = f"`{name}` can be given by place only, and arguments come by name"
            yield only, "remove the `/` behind it"
    if not signature.has_kwargs:
        for name in sorted(
            known.difference(signature.names, signature.positional_only)
        ):
            if not is_keyword_argument(name):
                help_ = "let the handler take one mapping, or add `**arguments`"
            else:
                near = [n for n in signature.names if n not in known]
                help_ = did_you_mean(name, near) or f"add `{name}` to the function"
            word = "required parameter" if name in sent else "parameter"
            yield f"the handler has no {word} `{name}`", help_
    for name in signature.names:
        if name in signature.optional or name in sent:
            continue
        needs = f"the handler needs `{name}`"
        if not declared.find_undeclared([name]):
            help_ = "give it a default, or make it `required` in the schema"
            yield f"{needs}, and a call may leave it out", help_
        else:
            meant = did_you_mean(name, sorted(known))
            help_ = meant or "give it a default, or remove it"
            yield f"{needs}, which is not a parameter of the tool", help_


def _always_sent(tool: ToolSpec) -> set[str]:
    """The parameters that every valid call has."""
    sent = set(tool.required)
    parts = tool.parameters.get("allOf")
    for schema in parts if isinstance(parts, list) else ():
        listed = schema.get("required") if isinstance(schema, dict) else None
        if isinstance(listed, list):
            sent.update(name for name in listed if isinstance(name, str))
    if tool.actions is not None and tool.actions.parameter in sent:
        needs = [set(action.requires) for action in tool.actions.values]
        sent |= set.intersection(*needs) if needs else set()
    return sent


@rule("handler/type-mismatch", on="tool", severity=Severity.ERROR)
def type_mismatch(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    for key, reference, schema in (
        ("arguments_type", tool.arguments_type, tool.parameters),
        ("result_type", tool.result_type, tool.returns),
    ):
        if reference is None or not isinstance(schema, dict):
            continue
        fields = find_class_fields(where.workspace, where.toolset, reference)
        if fields is None or not isinstance(schema.get("properties"), dict):
            continue
        for problem in _disagreements(fields, schema, is_sent=key == "arguments_type"):
            message = (
                f"`{reference.function}` does not agree with the schema: {problem}"
            )
            help_ = "mend one of the two; the schema is what callers are shown"
            yield problem_at(tool, (key,), message, help_)


def _disagreements(
    fields: Mapping[str, ClassField], schema: Mapping[str, Any], *, is_sent: bool
) -> Iterator[str]:
    """What a class and a schema say otherwise, of what callers send or of what they get."""
    own_properties, needed = schema["properties"], schema.get("required", ())
    why = "which callers may send" if is_sent else "which is required"
    for name in own_properties if is_sent else needed:
        if name not in fields:
            yield f"it has no `{name}`, {why}"
    is_closed = schema.get("additionalProperties", True) is False
    for name, field in fields.items():
        if is_sent and field.is_required and name not in needed:
            yield f"it needs `{name}`, which callers need not send"
        elif not is_sent and is_closed and name not in own_properties:
            yield f"`{name}` is not in `returns`"
    for name, field in fields.items():
        schema = own_properties.get(name)
        kind = schema.get("type") if isinstance(schema, dict) else None
        if field.kind is None or not isinstance(kind, str) or kind == field.kind:
            continue
        is_iterated = field.is_iterable and kind in ("string", "object")
        if {kind, field.kind} != {"integer", "number"} and not is_iterated:
            yield f"`{name}` is of type {field.kind}, and {kind} in the schema"


@rule(
    "handler/imported-type", on="tool", severity=Severity.ERROR, can_be_suppressed=False
)
def type_not_own(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    for field in ("arguments_type", "result_type"):
        named = getattr(tool, field)
        problem = named and find_class_problem(where.workspace, where.toolset, named)
        if problem:
            message = (
                f"`{named.function}` is no class of the handlers' package: it {problem}"
            )
            help_ = "name a `class` that is written below the toolset's `handlers`"
            yield problem_at(tool, (field,), message, help_)


_CALL, _ASK = "current_call", "ask"


@rule("handler/unawaited-ask", on="toolset", severity=Severity.ERROR)
def unawaited_ask(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    read: set[str] = set()
    for tool in toolset.tools:
        module = find_defining_module(workspace, toolset, tool)
        if module is None or module.file in read:
            continue
        read.add(module.file)
        for line in sorted(_unawaited_in(module)):
            message = f"{place(module.file, line)} asks a person and goes on without the answer"
            help_ = "`await` it in an async function; a plain one has `ask_sync`"
            yield problem_at(tool, ("handler",), message, help_)


def _unawaited_in(module: PythonModule) -> Iterator[int]:
    """The lines of questions that stand in no `await`."""
    if module.tree is None or not module.may_contain(_CALL):
        return
    calls: set[str] = set()
    asks: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign):
            names = {one.id for one in node.targets if isinstance(one, ast.Name)}
            if _is_call(node.value):
                calls |= names
            elif _is_ask(node.value, calls):
                asks |= names
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Await):
            # A question that is given on, to `gather` say, is waited for with it.
            continue
        if isinstance(node, ast.Call) and (
            _is_ask(node.func, calls)
            or (isinstance(node.func, ast.Name) and node.func.id in asks)
        ):
            yield node.lineno
        waiting.extend(ast.iter_child_nodes(node))


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and get_last_name(node.func) == _CALL


def _is_ask(node: ast.expr, calls: set[str]) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != _ASK:
        return False
    owner = node.value
    return _is_call(owner) or (isinstance(owner, ast.Name) and owner.id in calls)


@rule("handler/undeclared-parameter", on="tool", severity=Severity.WARNING)
def undeclared_parameter(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    code = find_handler_code(where.workspace, where.toolset, tool)
    if code is None or code.signature is None or code.accepts_mapping(tool):
        return
    declared = tool.schemas["parameters"].declared
    # One without a default is found by `handler/signature`.
    for name in declared.find_undeclared(code.signature.optional):
        what = f"the handler has a parameter `{name}` that the schema does not declare"
        help_ = did_you_mean(name, sorted(declared.names)) or (
            "no caller can give it: declare it in `parameters`, or let the handler"
            " have it in another way"
        )
        yield problem_at(tool, ("handler",), f"{what} ({code.location})", help_)
    if tool.parameters.get("additionalProperties", False) is not False:
        message = (
            "the schema lets in parameters that it does not name, and a handler that"
            f" takes keywords is never given one ({code.location})"
        )
        help_ = (
            "let the handler take one mapping, or write `additionalProperties: false`"
        )
        path = ("parameters", "additionalProperties")
        yield problem_at(tool, path, message, help_, at_key=True)


@rule("handler/unanalyzed-code", on="tool", severity=Severity.WARNING)
def unfollowed(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if not tool.data:
        return
    reach = trace_handler(where.workspace, where.toolset, tool)
    for reason in reach.problems[:3] if reach else ():
        message = f"what the handler does cannot be followed to the end: {reason}"
        help_ = "until then nobody knows which tables it queries"
        yield problem_at(tool, ("handler",), message, help_)


@rule(
    "handler/unknown-dependency",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def unknown_resource(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for name in toolset.dependencies:
        if not is_keyword_argument(name):
            message = f"no function can have a parameter `{name}`"
            help_ = "give the dependency another name"
            yield problem_at(
                toolset, ("dependencies", name), message, help_, at_key=True
            )
    for spec in (*toolset.tools, *toolset.mcp_specs):
        for number, name in enumerate(spec.uses):
            if name not in toolset.dependencies:
                message = f"the toolset has no dependency `{name}`"
                near = did_you_mean(name, list(toolset.dependencies))
                help_ = (
                    near or "add it to `dependencies` of toolset.yaml, with its type"
                )
                yield problem_at(spec, ("uses", number), message, help_)
            what, is_sent = _sent(spec, name)
            if is_sent:
                message = f"`{name}` is {what}, too: a caller could send it"
                help_ = "give one of the two another name"
                yield problem_at(spec, ("uses", number), message, help_)


def _sent(spec: ToolSpec | ResourceSpec | PromptSpec, name: str) -> tuple[str, bool]:
    """What callers send, and whether something of that is called so."""
    if isinstance(spec, ToolSpec):
        declared = spec.schemas["parameters"].declared
        return "a parameter of the tool", not declared.find_undeclared([name])
    if isinstance(spec, ResourceSpec):
        variables = list_variables(spec.uri_template or "")
        return "a variable of the URI", name in variables
    arguments = {one.name for one in spec.arguments}
    return "an argument of the prompt", name in arguments


@rule("handler/unused-dependency", on="toolset", severity=Severity.WARNING)
def unused_resource(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    specs = (*toolset.tools, *toolset.mcp_specs)
    used = {name for spec in specs for name in spec.uses}
    for name in toolset.dependencies:
        if name not in used:
            unknown = sorted(used - toolset.dependencies.keys())
            message = f"nothing uses the dependency `{name}`"
            use = (
                f"say `uses: [{name}]` in a spec, or remove it here and in the lifespan"
            )
            help_ = did_you_mean(name, unknown) or use
            yield problem_at(
                toolset, ("dependencies", name), message, help_, at_key=True
            )


def gone_imports(
    workspace: Workspace, outputs: Mapping[str, bytes]
) -> Iterator[Finding]:
    """Findings at handlers' imports of generated modules, or names in them, that are not there.

    Read are the handlers, and the modules of their package that these import.

    Args:
        workspace: any.
        outputs: the bytes of every file, by its path below the output folder.
    """
    below = [workspace.package] if workspace.package else []
    texts: dict[str, bytes] = {}
    for path, data in outputs.items():
        stem, _, end = ".".join([*below, *path.split("/")]).rpartition(".")
        if end == "py":
            texts[stem.removesuffix(".__init__")] = data
    # Where the output folder is on the path itself, each toolset is a root of its own.
    roots = below or [toolset.name for toolset in workspace.toolsets]
    former: dict[str, str] = {}
    for toolset in workspace.toolsets:
        tools = ".".join([*below, toolset.name, "tools", ""])
        for tool in toolset.tools:
            for old in map(module_name, tool.renamed_from):
                former[tools + old] = f"did you mean `{tools}{tool.module}`?"
    for module, node, imported in _imports_of_handlers(workspace):
        name, help_ = imported.module, ""
        if (
            not any(is_in_package(name, root) for root in roots)
            or imported.dotted in texts
        ):
            continue
        if name in texts:
            known = collect_bindings(
                ast.parse(texts[name]).body, PythonModule(name, "")
            )
            if imported.name in known:
                continue
            name, help_ = imported.dotted, did_you_mean(imported.name or "", known)
        text = read_text(workspace.root, module.file) or ""
        line = "".join(text.splitlines()[node.lineno - 1 : node.lineno])
        yield Finding(
            "handler/import-error",
            Severity.ERROR,
            Location(module.file, node.lineno, node.col_offset + 1, len(line) + 1),
            f"a handler imports `{name}`, which is not generated",
            former.get(name, help_),
            line,
        )


def _imports_of_handlers(
    workspace: Workspace,
) -> Iterator[tuple[PythonModule, ast.stmt, ImportedName]]:
    waiting = [
        (toolset.handlers, reference.module)
        for toolset in workspace.toolsets
        for owner in (*toolset.tools, *toolset.mcp_specs)
        for reference in (owner.handler, toolset.lifespan)
        if toolset.handlers and reference is not None
    ]
    seen: set[str] = set()
    while waiting:
        package, name = waiting.pop()
        module = find_module(workspace, name) if is_in_package(name, package) else None
        if module is not None and name not in seen:
            for node, imported in list_imports(module):
                yield module, node, imported
                waiting += [(package, imported.module), (package, imported.dotted)]
        seen.add(name)
