"""The tool registry: a module a tool, the look-up, and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcast_runtime.registry.tool_list import FILE, checksum

from ..encoders.code import Code
from ..encoders.layout import Entry, Expression, Group, Text
from ..encoders.names import class_name, module_name
from ..encoders.python import (
    call,
    code_of,
    encode,
    identifier,
    keyword_argument,
    literal,
    string,
    tuple_of,
)
from ..facts.mcp_definition import mcp_definition
from ..model.model import Actions, HandlerReference, Toolset, ToolSpec
from ..rendering.output_guard import PythonShape
from .argument_types import ArgumentTypes, argument_types
from .external import external_view
from .prepared_lines import prepared_tools
from .registry_module import registry_view
from .target import Context, Target, header

__all__ = ["TARGET"]


class ToolView(NamedTuple):
    """One tool's module."""

    header: Code
    name: Code
    typing_import: Code
    runtime_import: Code
    types: ArgumentTypes
    has_handler: bool
    handler_import: Code
    handler_function: Code
    tool: Code
    shape: PythonShape


class PackageView(NamedTuple):
    """A package's `__init__.py`."""

    header: Code
    docstring: Code
    shape: PythonShape = PythonShape(("docstring",))


class PreparedView(NamedTuple):
    """What the registry knows of its prepared file."""

    header: Code
    title: Code
    checksum: Code
    shape: PythonShape = PythonShape(("docstring", "CHECKSUM ="))


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """The registry's files."""
    tools = toolset.tools_in("registry")
    return {
        **_packages(toolset, context),
        **_prepared(toolset, tools, context),
        **_registry(toolset, tools, context),
        **{_path(tool): _tool(toolset, tool, context) for tool in tools},
    }


def _path(tool: ToolSpec) -> str:
    return f"tools/{module_name(tool.name)}.py"


def _tool(toolset: Toolset, tool: ToolSpec, context: Context) -> bytes:
    return context.render("registry/tool.py.jinja", _tool_view(toolset, tool))


def _prepared(
    toolset: Toolset, tools: Sequence[ToolSpec], context: Context
) -> Mapping[str, bytes]:
    """The file of prepared answers, and the module that knows its checksum."""
    prepared = prepared_tools(tools)
    sum_ = literal(checksum(prepared), 0, "CHECKSUM = ")
    view = PreparedView(_source(toolset), Code(toolset.name), sum_)
    module = context.render("registry/prepared.py.jinja", view)
    return {FILE: prepared, "prepared.py": module}


def _registry(
    toolset: Toolset, tools: Sequence[ToolSpec], context: Context
) -> Mapping[str, bytes]:
    """The look-up, and what comes from outside."""
    source = _source(toolset)
    view = registry_view(toolset, tools, source)
    files = {"registry.py": context.render("registry/registry.py.jinja", view)}
    external = external_view(toolset, tools, source)
    if external is not None:
        files["external.py"] = context.render("registry/external.py.jinja", external)
    return files


def _packages(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    return {
        path: context.render(
            "registry/package.py.jinja", PackageView(_source(toolset), Code(docstring))
        )
        for path, docstring in (
            ("__init__.py", f"The tools of the toolset {toolset.name}."),
            ("tools/__init__.py", "One module a tool."),
        )
    }


def _source(toolset: Toolset) -> Code:
    return header(f"{toolset.folder}/toolset.yaml")


def _tool_view(toolset: Toolset, tool: ToolSpec) -> ToolView:
    types = argument_types(tool)
    handler = tool.handler
    typing_names = [n for n in types.typing_names if handler or n != "TYPE_CHECKING"]
    runtime_names = ["Action", "Tool"] if tool.actions else ["Tool"]
    return ToolView(
        header(f"{toolset.folder}/{tool.name}.yaml"),
        Code(tool.name),
        _import("typing", typing_names),
        _import("toolcast_runtime.registry.tool", runtime_names),
        types,
        handler is not None,
        _handler_import(handler) if handler else Code(""),
        identifier(handler.function) if handler else Code(""),
        code_of(call("Tool", _tool_arguments(toolset, tool)), 0, "TOOL = "),
        _tool_shape(tool, types, handler is not None),
    )


def _handler_import(handler: HandlerReference) -> Code:
    function = identifier(handler.function)
    module = ".".join(identifier(part) for part in handler.module.split("."))
    one_line = f"from {module} import {function}"
    if len(one_line) + 4 <= 88:
        return Code(one_line)
    return Code(f"from {module} import (\n        {function},\n    )")


def _tool_shape(tool: ToolSpec, types: ArgumentTypes, has_handler: bool) -> PythonShape:
    name = types.arguments
    arguments = [f"class {name}"] if types.is_class else [f"{name} =", "docstring"]
    return PythonShape(
        (
            *(
                "docstring",
                "from __future__",
                "from typing",
                "from toolcast_runtime.registry.tool",
            ),
            *(*arguments, f"class {name}Handler"),
            *([f"class {types.handler}"] if types.has_keywords else []),
            *("TOOL =", *(["if TYPE_CHECKING"] if has_handler else [])),
        ),
        frozenset(["Tool", "Action", "TypedDict"]),
        class_name(tool.name),
    )


def _import(module: str, names: Sequence[str]) -> Code:
    one_line = f"from {module} import {', '.join(names)}"
    if len(one_line) <= 88:
        return Code(one_line)
    rows = "".join(f"    {name},\n" for name in names)
    return Code(f"from {module} import (\n{rows})")


def _tool_arguments(toolset: Toolset, tool: ToolSpec) -> list[Expression]:
    values: dict[str, Any] = {
        "name": tool.name,
        "summary": tool.summary,
        "description": tool.model_description,
        "definition": mcp_definition(tool),
        "handler": str(tool.handler) if tool.handler else None,
        "timeout": float(toolset.timeout if tool.timeout is None else tool.timeout),
    }
    arguments: list[Expression] = [
        keyword_argument(name, encode(value)) for name, value in values.items()
    ]
    if tool.actions:
        arguments += _action_arguments(tool.actions)
    optional: dict[str, Any] = {
        "always": tool.always or None,
        "persistent": tool.persistent or None,
        "service": tool.service,
        "permission": tool.permission,
        "deprecated": tool.deprecated,
        "examples": [_example(example) for example in tool.examples] or None,
    }
    arguments += [
        keyword_argument(name, encode(value))
        for name, value in optional.items()
        if value is not None
    ]
    return arguments


def _example(example: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": example.title} if example.title else {}
    shown["arguments"] = example.arguments
    if example.has_result:
        shown["result"] = example.result
    if example.error is not None:
        shown["error"] = example.error
    return shown


def _action_arguments(actions: Actions) -> list[Expression]:
    entries: list[Expression] = []
    for action in actions.values:
        given: list[Expression] = []
        if action.summary:
            given.append(keyword_argument("summary", encode(action.summary)))
        for name, parameters in (
            ("requires", action.requires),
            ("requires_any", action.requires_any),
            ("accepts", action.accepts),
        ):
            if parameters or (name == "accepts" and parameters is not None):
                elements = (Text(string(parameter)) for parameter in parameters)
                given.append(keyword_argument(name, tuple_of(elements)))
        entries.append(Entry(f"{string(action.name)}: ", call("Action", given)))
    return [
        keyword_argument("action_parameter", encode(actions.parameter)),
        keyword_argument("actions", Group("{", entries, "}")),
    ]


TARGET = Target(
    name="registry",
    reads_toolset=frozenset(["mcp_servers", "router"]),
    purpose="A typed module a tool, look-up by client, and calls with validation.",
    cast=cast,
    reads=frozenset(
        [
            *("name", "title", "summary", "description", "parameters", "returns"),
            "when_to_use",
            *("annotations", "icons", "meta", "execution", "mcp", "handler", "clients"),
            *("always", "persistent", "service", "permission", "timeout", "actions"),
            *("renamed_from", "deprecated", "examples", "order"),
        ]
    ),
)
