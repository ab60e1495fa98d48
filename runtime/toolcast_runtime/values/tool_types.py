"""Python types of a tool's arguments and result, for its callers and for its handler.

The generator prints the types, and generated tests compare the printed types with those of the
installed runtime. A change to the type of a schema therefore needs a new runtime level.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..core import optional
from .annotated_types import (
    ANY,
    Array,
    Choice,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
    class_name,
    is_keyword_argument,
)
from .schema_types import SchemaTypes

RESERVED_NAMES = """
    Any Callable Coroutine DependencyHandlerForm HandlerForm HandlerResult ListResult Literal
    Mapping NotRequired ObjectResult Protocol ReadOnly Sequence TypeAlias TypedDict Unpack
""".split()
"""Names that a generated module imports or defines; its classes must have other names."""


class ResultTypes(NamedTuple):
    """Types of a tool's result.

    Attributes:
        name: the name of the class or alias; empty if the tool has no schema
            of results or the schema allows any value.
        type: the type of the alias; None if the result is a class.
        wider: the parts of the schema that the alias cannot express.
        handlers: the name of the alias in `handler_types` for the values that the handler may
            return: `HandlerResult`, `ObjectResult` or `ListResult`.
        objects: the classes in the result's type.
        has_values: whether the type contains Python values such as dates.
    """

    name: str
    type: PythonType | None
    wider: Sequence[str]
    handlers: str
    objects: Sequence[ObjectType]
    has_values: bool = False


class ToolTypes(NamedTuple):
    """Types of a tool.

    Attributes:
        reserved_names: the names that are reserved for the tool: those of its arguments, result
            and handler, and of the handler's arguments and result.
        arguments: the class of the caller's arguments.
        results: the types of a call's result.
        handler_arguments: the class of the handler's arguments; `arguments` if they do not
            differ.
        handler_results: the types of the handler's result; `results` if they do not differ.
        objects: all classes, in the order of the generated module.
        read_only: the classes of results.
    """

    reserved_names: Sequence[str]
    arguments: ObjectType
    results: ResultTypes
    handler_arguments: ObjectType
    handler_results: ResultTypes
    objects: Sequence[ObjectType]
    read_only: Sequence[ObjectType]


def build_tool_types(
    tool: str,
    parameters: Any,
    returns: Any,
    *,
    has_values: bool,
    takes_class: bool,
    result_class: str | None,
    handler_schemas: tuple[Any, Any] | None = None,
) -> ToolTypes:
    """Return the types of a tool.

    Args:
        tool: the tool's name.
        parameters: the schema of the arguments.
        returns: the schema of the result; None if the tool has none.
        has_values: whether the handler receives strings with a format as Python values.
        takes_class: whether the handler receives all arguments as one object of a project
            class.
        result_class: the name of the project class that the handler returns; None if it
            returns JSON values.
        handler_schemas: the schemas of the handler's arguments and result if callers can
            select properties of the result; None if they equal `parameters` and `returns`.
    """
    name = class_name(tool)
    arguments_name, result_name = f"{name}Arguments", f"{name}Result"
    handler_arguments_name = f"{name}HandlerArguments"
    handler_result_name = f"{name}HandlerResult"
    tool_names = [
        arguments_name,
        result_name,
        f"{name}Handler",
        handler_arguments_name,
        handler_result_name,
    ]
    types = SchemaTypes(parameters, name, [*RESERVED_NAMES, *tool_names[1:]])
    arguments = handler_arguments = types.build_arguments_class(arguments_name)
    used_names = [*RESERVED_NAMES, *tool_names]
    used_names += [object_type.name for object_type in types.objects]
    used_names.remove(result_name)
    results = handler_results = _build_result_types(returns, result_name, used_names)
    objects = [*types.objects, *results.objects]
    read_only = [*results.objects]
    if has_values or handler_schemas:
        # Add classes for the handler only where its types or schemas differ from the caller's.
        used_names = [*RESERVED_NAMES, *tool_names]
        used_names += [object_type.name for object_type in objects]
        schemas = handler_schemas or (parameters, returns)
        other_names = [
            used_name for used_name in used_names if used_name != handler_arguments_name
        ]
        types = SchemaTypes(
            schemas[0], handler_arguments_name, other_names, has_values=has_values
        )
        arguments_class = types.build_arguments_class(handler_arguments_name)
        if (types.uses_python_values or handler_schemas) and not takes_class:
            handler_arguments = arguments_class
            objects += types.objects
            used_names += [object_type.name for object_type in types.objects]
        other_names = [
            used_name for used_name in used_names if used_name != handler_result_name
        ]
        result_types = _build_result_types(
            schemas[1], handler_result_name, other_names, has_values=has_values
        )
        if result_types.has_values or handler_schemas:
            handler_results = result_types
    if result_class is not None:
        handler_results = ResultTypes(result_class, None, (), "HandlerResult", ())
    if handler_results is not results:
        objects += handler_results.objects
        read_only += handler_results.objects
    return ToolTypes(
        tool_names,
        arguments,
        results,
        handler_arguments,
        handler_results,
        objects,
        read_only,
    )


def _build_result_types(
    schema: Any, name: str, used_names: Sequence[str], *, has_values: bool = False
) -> ResultTypes:
    """Build the types of a result schema; empty types if it allows any value.

    Args:
        schema: the schema of the result; None if the tool has none.
        name: the name of the class or alias.
        used_names: the names that classes must not have.
        has_values: whether strings with a format become Python values.
    """
    no_types = ResultTypes("", None, (), "", ())
    if not isinstance(schema, dict):
        return no_types
    types = SchemaTypes(schema, name, used_names, has_values=has_values)
    type_, wider = types.build_type(name)
    if type_ == ANY:
        return no_types
    members = type_.members if isinstance(type_, OneOf) else (type_,)
    handlers = "HandlerResult"
    if any(isinstance(member, (ObjectName, Table)) for member in members):
        handlers = "ObjectResult"
    elif any(
        isinstance(member, Array) and isinstance(member.item, (ObjectName, OneOf))
        for member in members
    ):
        handlers = "ListResult"
    alias = None if type_ == ObjectName(name) else type_
    return ResultTypes(
        name, alias, wider, handlers, types.objects, types.uses_python_values
    )


def format_tool_types(
    definition: Mapping[str, Any], has_clients: bool
) -> dict[str, Any]:
    """Return the type annotations of a tool's generated module, by class or function name.

    Args:
        definition: the tool's definition.
        has_clients: whether the toolset has clients, so that `call` has a `client` parameter.
    """
    mcp = definition["mcp"]
    arguments_class = definition.get("arguments_type", "").replace(":", ".")
    result_class = definition.get("result_type", "").replace(":", ".")
    result_form = definition.get("result", {})
    fields = result_form.get("fields")
    returns = result_form.get("returns", mcp.get("outputSchema"))
    handler_schemas = None
    if fields is not None:
        # The runtime handles the parameter that selects properties, so the handler's schema
        # does not have it.
        properties = {**mcp["inputSchema"]["properties"]}
        del properties[fields["parameter"]]
        handler_schemas = ({**mcp["inputSchema"], "properties": properties}, returns)
        returns = optional.truncation.build_listed_returns(returns, fields)
    types = build_tool_types(
        mcp["name"],
        mcp["inputSchema"],
        returns,
        has_values=definition.get("values") == "python",
        takes_class=bool(arguments_class),
        result_class=result_class.rpartition(".")[2] or None,
        handler_schemas=handler_schemas,
    )
    handler_results = types.handler_results
    handler_result = (
        f"{handler_results.handlers}[{result_class or handler_results.name}]"
    )
    results = (types.results, handler_results)
    client = ", client" if has_clients else ""
    handler = definition.get("handler")
    if definition.get("values") == "pydantic" and not arguments_class:
        # With `values: pydantic` the handler's own annotations differ from the JSON types, so
        # type checkers do not compare them.
        handler = None
    return {
        **{
            object_type.name: _format_fields(
                object_type, object_type in types.read_only
            )
            for object_type in types.objects
        },
        **{
            result.name: _format_type(result.type)
            for result in results
            if result.type is not None
        },
        "__call__": [
            _format_handler_parameters(
                types, arguments_class, definition.get("uses", ())
            ),
            handler_result if handler_results.name else "object",
        ],
        "call": [
            _format_call_parameters(types, has_clients),
            f"Coroutine[Any, Any, {types.results.name or 'Any'}]",
            "from ..registry import REGISTRY",
            f"response = REGISTRY.call_tool({mcp['name']!r}, arguments{client})",
            "return tool_result(response)",
        ],
        "_check": [] if handler is None else [handler],
    }


def _format_handler_parameters(
    types: ToolTypes, class_: str, uses: Collection[str]
) -> str:
    """Return the parameter list of the handler; dependencies have no annotation."""
    members = types.handler_arguments.members
    if class_ or not _has_keyword_arguments(types):
        # Avoid the name of a dependency that is also called `arguments`.
        name = "arguments_" if "arguments" in uses else "arguments"
        parts = ["self", f"{name}: {class_ or types.handler_arguments.name}", "/"]
        return ", ".join([*parts, *(["*", *uses] if uses else [])])
    required = [key for key, member in members.items() if member.is_required]
    optional_keys = [key for key in members if key not in required]
    keywords = [f"{key}: {_format_type(members[key].type)}" for key in required]
    keywords += [
        f"{key}: {_format_type(members[key].type)}=..." for key in optional_keys
    ]
    keywords += uses
    return ", ".join(["self", "/", *(["*", *keywords] if keywords else [])])


def _format_call_parameters(types: ToolTypes, has_clients: bool) -> str:
    """Return the parameter list of `call`."""
    client = ["client: str"] if has_clients else []
    name = types.arguments.name
    if not _has_keyword_arguments(types):
        return ", ".join([*client, f"arguments: {name}", "/"])
    return ", ".join([*client, *["/"][: len(client)], f"**arguments: Unpack[{name}]"])


def _has_keyword_arguments(types: ToolTypes) -> bool:
    return all(map(is_keyword_argument, types.arguments.members))


def _format_fields(object_type: ObjectType, is_read_only: bool) -> dict[str, str]:
    fields = {}
    for key, member in object_type.members.items():
        text = _format_type(member.type)
        text = f"ReadOnly[{text}]" if is_read_only else text
        fields[key] = text if member.is_required else f"NotRequired[{text}]"
    return fields


def _format_type(type_: PythonType) -> str:
    match type_:
        case OneOf(members):
            return " | ".join(map(_format_type, members))
        case Choice(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case Array(item):
            return f"Sequence[{_format_type(item)}]"
        case Table(value):
            return f"Mapping[str, {_format_type(value)}]"
        case _:
            return type_.name
