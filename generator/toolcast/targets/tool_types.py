"""Render `tools/TOOL.py`: the types of a tool, and a typed function that calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcast_runtime.values.annotated_types import (
    Member,
    PythonType,
    is_keyword_argument,
)
from toolcast_runtime.values.schema_types import SchemaTypes
from toolcast_runtime.values.tool_types import (
    RESERVED_NAMES,
    ResultTypes,
    ToolTypes,
    build_tool_types,
)

from ..analysis.mcp_definitions import list_handler_arguments
from ..encoders.code import Code
from ..encoders.python import (
    encode_identifier,
    encode_import,
    encode_module_imports,
    encode_safe_text,
    encode_unbroken_string,
)
from ..encoders.python_types import (
    Type,
    build_module_type,
    build_named_type,
    build_subscript,
    encode_annotation,
    encode_call,
    encode_chained_call,
    encode_method_parameters,
    encode_parameters,
)
from ..model.model import Toolset, ToolSpec
from ..model.toolset_parts import PromptSpec, ResourceSpec
from ..rendering.output_shape import PythonShape, View
from .target import Context, encode_header
from .type_text import (
    RUNTIME_TYPES,
    TYPING_EXTENSIONS,
    TypePrinter,
    format_omitted_keywords,
)


def render_types_file(
    toolset: Toolset, tool: ToolSpec, context: Context
) -> tuple[str, bytes]:
    """Return the path and the bytes of `tools/TOOL.py`, the module with a tool's types."""
    view = _build_types_view(toolset, tool, "tool")
    path = f"tools/{tool.module}.py"
    return path, context.render("registry/tool.py.jinja", view)


def render_mcp_types(
    toolset: Toolset, spec: ResourceSpec | PromptSpec, context: Context
) -> bytes:
    """Return the bytes of the module with the types of a resource's or prompt's handler."""
    # MCP passes the arguments of prompts and the variables of URI templates as strings.
    names, required = list_handler_arguments(spec)
    parameters = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(required),
        "additionalProperties": False,
    }
    tool = ToolSpec(
        name=spec.name,
        summary="",
        parameters=parameters,
        fields=(),
        handler=spec.handler,
        uses=spec.uses,
        values="json",
        source=spec.source,
    )
    view = _build_types_view(toolset, tool, spec.kind)
    return context.render("registry/tool.py.jinja", view)


def _build_types_view(toolset: Toolset, tool: ToolSpec, kind: str) -> View:
    has_call = kind == "tool"
    has_values = toolset.has_python_values(tool)
    if toolset.get_value_types(tool) == "pydantic" and tool.arguments_type is None:
        # pydantic converts arguments to the handler's own annotations, which differ from the
        # JSON types, so the generated module does not compare the handler with its types.
        tool = replace(tool, handler=None)
    types = build_tool_types(
        tool.name,
        tool.listed_parameters,
        tool.listed_returns,
        has_values=has_values,
        takes_class=tool.arguments_type is not None,
        result_class=tool.result_type.function if tool.result_type else None,
        handler_schemas=(tool.parameters, tool.returns) if tool.picks else None,
    )
    arguments_name, result_name, handler_name, *_ = types.reserved_names
    class_names = {object_type.name for object_type in types.objects}
    class_names |= {result_name, types.handler_results.name}
    printer = TypePrinter(class_names, has_values=has_values)
    classes = [
        printer.build_view(
            object_type,
            _build_docstring(object_type.name, types.reserved_names, has_values),
            read_only=object_type in types.read_only,
        )
        for object_type in types.objects
    ]
    aliases = _build_aliases([types.results, types.handler_results], printer)
    dependency_types = {key: toolset.dependencies[key] for key in tool.uses}
    dependencies = {
        key: build_module_type(type_.module, type_.function)
        for key, type_ in dependency_types.items()
    }
    handler_result = _build_handler_result(tool, types)
    handler = _build_handler_check(tool, printer, types, handler_result, dependencies)
    # The generated module imports the modules of these classes for type checkers.
    project_types = [
        *dependency_types.values(),
        *filter(None, (tool.arguments_type, tool.result_type)),
    ]
    # A name such as `from` cannot be a keyword argument in Python; the handler then accepts
    # one mapping with all arguments.
    has_keywords = all(map(is_keyword_argument, types.arguments.members))
    handler_parameters = _encode_handler_parameters(
        tool, types, printer, handler_result, dependencies, has_keywords
    )
    printer.add("typing", "Protocol")
    if has_call:
        printer.add("collections.abc", "Coroutine")
        printer.add("typing", "Any")
        printer.add(RUNTIME_TYPES, "tool_result")
    if has_call and has_keywords:
        printer.add("typing", "Unpack")
    if handler is not None or project_types:
        printer.add("typing", "TYPE_CHECKING")
    if handler is not None and tool.arguments_type is None:
        printer.add(RUNTIME_TYPES, _get_form_name(dependencies))
    if types.handler_results.name:
        printer.add(RUNTIME_TYPES, types.handler_results.handlers)
    call_result = types.results.name or "Any"
    has_clients = bool(toolset.clients)
    call_arguments = [encode_unbroken_string(tool.name), encode_safe_text("arguments")]
    if has_clients:
        call_arguments.append(encode_safe_text("client"))
    return View(
        _build_shape(handler_name, classes, aliases, tool, printer, has_call),
        header=encode_header(tool.source.file),
        kind=encode_safe_text(kind),
        name=encode_safe_text(tool.name),
        definition=encode_safe_text(f"{tool.module}.json"),
        has_collections_import=printer.needs("collections.abc"),
        collections_import=printer.encode_import("collections.abc"),
        dates_import=printer.encode_import("datetime"),
        decimal_import=printer.encode_import("decimal"),
        typing_import=printer.encode_import("typing"),
        uuid_import=printer.encode_import("uuid"),
        runtime_import=printer.encode_import(RUNTIME_TYPES),
        extensions_import=printer.encode_import(TYPING_EXTENSIONS),
        classes=classes,
        aliases=aliases,
        project_imports=encode_module_imports(
            sorted({type_.module for type_ in project_types}), indent=4
        ),
        handler_class=encode_identifier(handler_name),
        handler_parameters=handler_parameters,
        handler_result=encode_annotation(handler_result),
        call_parameters=encode_parameters(
            _list_call_parameters(arguments_name, has_clients, has_keywords),
            "def call",
            f" -> Coroutine[Any, Any, {call_result}]:",
        ),
        call_result=encode_identifier(call_result),
        call=encode_call("call_tool", call_arguments, "    response = REGISTRY."),
        has_call=has_call,
        has_clients=has_clients,
        handler=handler,
    )


def _build_handler_result(tool: ToolSpec, types: ToolTypes) -> Type:
    """Return the type of the values that the handler may return; `object` if unknown."""
    if tool.result_type is not None:
        result_class = build_module_type(*tool.result_type)
        return build_subscript(types.handler_results.handlers, [result_class])
    if types.handler_results.name:
        return build_subscript(
            types.handler_results.handlers,
            [build_named_type(types.handler_results.name)],
        )
    return build_named_type("object")


def _encode_handler_parameters(
    tool: ToolSpec,
    types: ToolTypes,
    printer: TypePrinter,
    handler_result: Type,
    dependencies: Mapping[str, Type],
    has_keywords: bool,
) -> Code:
    """Encode the parameters of the handler's `__call__`.

    These are keyword arguments, one object of the tool's `arguments_type`, or one mapping if
    a name cannot be a keyword argument. Dependencies are keyword arguments in each case.
    """
    before, after = "    def __call__", f" -> {handler_result.flat}: ..."
    if has_keywords and tool.arguments_type is None:
        keyword_types = {
            key: printer.build_type(member.type)
            for key, member in types.handler_arguments.members.items()
        }
        required = _list_required(types)
        return encode_method_parameters(
            keyword_types, required, before, after, dependencies
        )
    if tool.arguments_type is not None:
        arguments_type = build_module_type(*tool.arguments_type)
    else:
        arguments_type = build_named_type(types.handler_arguments.name)
    name = "arguments_" if "arguments" in dependencies else "arguments"
    return encode_method_parameters(
        {name: arguments_type}, None, before, after, dependencies
    )


def _list_required(types: ToolTypes) -> frozenset[str]:
    members = types.handler_arguments.members
    return frozenset(key for key, member in members.items() if member.is_required)


def _list_call_parameters(
    arguments_name: str, has_clients: bool, has_keywords: bool
) -> list[tuple[str, Type | None]]:
    """Return the names and types of the parameters of the generated `call` function.

    The parameter `/`, which has no type, makes those before it positional-only, so that
    tools can have arguments with the same names.
    """
    client: list[tuple[str, Type | None]] = []
    if has_clients:
        client = [("client", build_named_type("str"))]
    positional_only: tuple[str, Type | None] = ("/", None)
    arguments_type = build_named_type(arguments_name)
    if not has_keywords:
        return [*client, ("arguments", arguments_type), positional_only]
    if client:
        client.append(positional_only)
    return [*client, ("**arguments", build_subscript("Unpack", [arguments_type]))]


def describe_types(schema: Any, *, has_values: bool = False) -> dict[str, str]:
    """Return the generated type of each property of a schema, as text by property name.

    The key "" has the type of the whole schema. Optional properties have a question mark after
    their type. The fields of generated classes are listed after a type that uses the classes.

    Args:
        schema: the schema of a tool's arguments or results.
        has_values: whether strings with a `format` have Python types such as `datetime`.
    """
    types = SchemaTypes(schema, "Tool", RESERVED_NAMES, has_values=has_values)
    root = types.build_arguments_class("ToolArguments")
    result_types = SchemaTypes(schema, "Tool", RESERVED_NAMES, has_values=has_values)
    whole, _ = result_types.build_type("ToolResult")
    classes = {
        object_type.name: "".join(
            f" {key!r}: {_format_member(member)}"
            for key, member in object_type.members.items()
        )
        for object_type in types.objects
    }
    descriptions = {
        key: _append_classes(_format_member(member), classes)
        for key, member in root.members.items()
    }
    return {**descriptions, "": _format_type(whole)}


def _format_member(member: Member) -> str:
    return _format_type(member.type) + ("" if member.is_required else "?")


def _format_type(type_: PythonType) -> str:
    return TypePrinter(()).build_type(type_).flat


def _append_classes(text: str, classes: dict[str, str]) -> str:
    """Return the text of a type, followed by the fields of each class that it uses.

    Classes that the fields of a class use are included.
    """
    used: dict[str, str] = {}
    pending = [text]
    while pending:
        for name in re.findall(r"\w+", pending.pop(), re.ASCII):
            if name in classes and name not in used:
                used[name] = classes[name]
                pending.append(classes[name])
    return "".join([text, *(f"; {name}{fields}" for name, fields in used.items())])


def _build_docstring(name: str, own: Sequence[str], has_values: bool) -> Code:
    """Return the docstring of a generated class; empty for classes of nested objects.

    `own` has the names of the module's arguments class, result class, handler class, and the
    handler's arguments and result classes, in this order.
    """
    arguments, result, _, handler_arguments, handler_result = own
    docstrings = {
        arguments: "Arguments of a call, as sent by the caller.",
        result: "Result of a call.",
        handler_arguments: "Arguments of the handler.",
        handler_result: "Result of the handler.",
    }
    if has_values:
        docstrings[handler_arguments] = (
            "Arguments of the handler, converted to Python values."
        )
        docstrings[handler_result] = "Result of the handler, with Python values."
    return encode_safe_text(docstrings.get(name, ""))


def _build_aliases(results: Sequence[ResultTypes], printer: TypePrinter) -> list[View]:
    """Build a type alias for each result type that is not a class.

    A call and its handler can have different result types, such as `str` and `date`.
    """
    aliases: dict[str, View] = {}
    for result in results:
        if result.type is None or result.name in aliases:
            continue
        printer.add("typing", "TypeAlias")
        before = f"{result.name}: TypeAlias = "
        owner = "the handler" if aliases or result.has_values else "a call"
        aliases[result.name] = View(
            name=encode_identifier(result.name),
            type=encode_annotation(printer.build_evaluated_type(result.type), before),
            comment=format_omitted_keywords(result.wider),
            docstring=encode_safe_text(f"Result of {owner}."),
        )
    return list(aliases.values())


def _build_handler_check(
    tool: ToolSpec,
    printer: TypePrinter,
    types: ToolTypes,
    handler_result: Type,
    dependencies: Mapping[str, Type],
) -> View | None:
    """Build the code that lets type checkers compare the handler with the tool's types.

    The code calls the handler with all arguments, and, if there are optional arguments, with
    the required ones only. None for a tool without a handler.
    """
    if tool.handler is None:
        return None
    arguments, results = types.handler_arguments, types.handler_results
    required = _list_required(types)
    function = tool.handler.function

    def local_name(name: str) -> str:
        """Return a variable name that differs from the handler's name."""
        return f"{name}_" if name == function else name

    form_variable = local_name("as_keywords")
    arguments_variable = local_name("arguments")
    required_variable = local_name("required")
    result_variable = local_name("result") if results.name else "_"
    result_check = f"check_{function}_result"
    dependency_variables = {
        key: local_name(f"{key}_dependency") for key in dependencies
    }
    has_required_call = (
        tool.arguments_type is None
        and len(required) < len(arguments.members)
        and all(map(is_keyword_argument, required))
    )
    parameters: list[tuple[str, Type | None]]
    if tool.arguments_type is not None:
        parameters = [(arguments_variable, build_module_type(*tool.arguments_type))]
    else:
        parameters = [
            (form_variable, build_named_type(_get_form_name(dependencies))),
            (arguments_variable, build_named_type(arguments.name)),
        ]
    if has_required_call and required:
        printer.add("typing", "Any")
        parameters.append((required_variable, build_named_type("Any")))
    parameters += [
        (dependency_variables[key], type_) for key, type_ in dependencies.items()
    ]
    required_arguments = {
        key: required_variable
        for key in arguments.members
        if has_required_call and key in required
    }
    margin = "        "
    before = f"{margin}{result_variable} = "
    if tool.arguments_type is not None:
        full_call = encode_call(
            function,
            [encode_identifier(arguments_variable)],
            before,
            dependency_variables,
        )
    else:
        full_call = encode_chained_call(
            form_variable,
            function,
            arguments_variable,
            dependency_variables,
            before,
            unpack_arguments=True,
        )
    return View(
        handler_import=encode_import(tool.handler.module, [function], indent=8),
        has_result=bool(results.name),
        result_check=encode_identifier(result_check),
        result_parameters=encode_parameters(
            [("result", handler_result)], f"    def {result_check}", " -> None: ..."
        ),
        check_parameters=encode_parameters(parameters, "    def _check", " -> None:"),
        has_required_call=has_required_call,
        required_call=encode_chained_call(
            form_variable,
            function,
            arguments_variable,
            {**required_arguments, **dependency_variables},
            f"{margin}_ = ",
        ),
        result=encode_identifier(result_variable),
        full_call=full_call,
        result_comparison=encode_call(
            result_check, [encode_identifier(local_name("result"))], margin
        ),
    )


def _get_form_name(dependencies: Mapping[str, Type]) -> str:
    return "DependencyHandlerForm" if dependencies else "HandlerForm"


def _build_shape(
    handler_class: str,
    classes: Sequence[View],
    aliases: Sequence[View],
    tool: ToolSpec,
    printer: TypePrinter,
    has_call: bool,
) -> PythonShape:
    """Return the statements and the calls that `tools/TOOL.py` may contain."""
    statements = ["docstring", "from __future__"]
    modules = (
        *("collections.abc", "datetime", "decimal", "typing", "uuid"),
        *(RUNTIME_TYPES, TYPING_EXTENSIONS),
    )
    statements += [f"from {module}" for module in modules if printer.needs(module)]
    if tool.uses or tool.arguments_type is not None or tool.result_type is not None:
        statements.append("if TYPE_CHECKING")
    for view in classes:
        statements.append(f"class {view.name}" if view.is_class else f"{view.name} =")
        if not view.is_class and view.has_docstring:
            statements.append("docstring")
    for alias in aliases:
        statements += [f"{alias.name}:", "docstring"]
    statements += [f"class {handler_class}", *(["def call"] if has_call else [])]
    calls = {"TypedDict", "REGISTRY.call_tool", "tool_result"}
    if tool.handler is not None:
        statements.append("if TYPE_CHECKING")
        function = tool.handler.function
        calls |= {"as_keywords", "as_keywords_", "<Call>", f"check_{function}_result"}
        if tool.arguments_type is not None:
            calls.add(function)
    return PythonShape(tuple(statements), frozenset(calls))
