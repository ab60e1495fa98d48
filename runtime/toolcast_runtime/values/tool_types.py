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

TAKEN = """
    Any Callable Coroutine DependencyHandlerForm HandlerForm HandlerResult ListResult Literal
    Mapping NotRequired ObjectResult Protocol ReadOnly Sequence TypeAlias TypedDict Unpack
""".split()
"""Names that a generated module imports or defines, which its classes must not have."""


class Results(NamedTuple):
    """Types of a tool's result.

    Attributes:
        name: the name of the class or alias; empty if the tool has no schema
            of results or the schema allows any value.
        type: the type of the alias; None if the result is a class.
        wider: the parts of the schema that the alias cannot express.
        handlers: the alias in `handler_types` for the values that the handler may return.
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
        own: the names that are reserved for the tool: those of its arguments, result and
            handler, and of the handler's arguments and result.
        arguments: the class of the caller's arguments.
        results: the types of a call's result.
        given: the class of the handler's arguments; `arguments` if they do not differ.
        gives: the types of the handler's result; `results` if they do not differ.
        objects: all classes, in the order of the generated module.
        read_only: the classes of results.
    """

    own: Sequence[str]
    arguments: ObjectType
    results: Results
    given: ObjectType
    gives: Results
    objects: Sequence[ObjectType]
    read_only: Sequence[ObjectType]


def types_of_tool(
    tool: str,
    parameters: Any,
    returns: Any,
    *,
    has_values: bool,
    takes_class: bool,
    result_class: str | None,
    of_handler: tuple[Any, Any] | None = None,
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
        of_handler: the schemas of the handler's arguments and result if callers can select
            properties of the result; None if they equal `parameters` and `returns`.
    """
    name = class_name(tool)
    own = [f"{name}{word}" for word in ("Arguments", "Result", "Handler")]
    own += [f"{name}{word}" for word in ("Given", "Gives")]
    types = SchemaTypes(parameters, name, [*TAKEN, *own[1:]])
    arguments = given = types.arguments(own[0])
    taken = [*TAKEN, *own, *(object_type.name for object_type in types.objects)]
    taken.remove(own[1])
    results = gives = _results(returns, own[1], taken)
    objects = [*types.objects, *results.objects]
    read_only = [*results.objects]
    if has_values or of_handler:
        # Add classes for the handler only where its types or schemas differ from the caller's.
        taken = [*TAKEN, *own, *(object_type.name for object_type in objects)]
        schemas = of_handler or (parameters, returns)
        others = [n for n in taken if n != own[3]]
        types = SchemaTypes(schemas[0], own[3], others, has_values=has_values)
        of_values = types.arguments(own[3])
        if (types.has_found_values or of_handler) and not takes_class:
            given = of_values
            objects += types.objects
            taken += [object_type.name for object_type in types.objects]
        others = [n for n in taken if n != own[4]]
        found = _results(schemas[1], own[4], others, has_values=has_values)
        if found.has_values or of_handler:
            gives = found
    if result_class is not None:
        gives = Results(result_class, None, (), "HandlerResult", ())
    if gives is not results:
        objects += gives.objects
        read_only += gives.objects
    return ToolTypes(own, arguments, results, given, gives, objects, read_only)


def _results(
    schema: Any, name: str, taken: Sequence[str], *, has_values: bool = False
) -> Results:
    """Return the types of a result schema.

    Args:
        schema: the schema of the result; None if the tool has none.
        name: the name of the class or alias.
        taken: the names that classes must not have.
        has_values: whether strings with a format become Python values.
    """
    nothing = Results("", None, (), "", ())
    if not isinstance(schema, dict):
        return nothing
    types = SchemaTypes(schema, name, taken, has_values=has_values)
    type_, left = types.whole(name)
    if type_ == ANY:
        return nothing
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
    return Results(name, alias, left, handlers, types.objects, types.has_found_values)


def types_of(definition: Mapping[str, Any], has_clients: bool) -> dict[str, Any]:
    """Return the type annotations of a tool's generated module, by class or function name.

    Args:
        definition: the tool's definition.
        has_clients: whether the toolset has clients, so that `call` has a `client` parameter.
    """
    mcp = definition["mcp"]
    takes = definition.get("arguments_type", "").replace(":", ".")
    makes = definition.get("result_type", "").replace(":", ".")
    form = definition.get("result", {})
    fields, returns = form.get("fields"), form.get("returns", mcp.get("outputSchema"))
    of_handler = None
    if fields is not None:
        own = {**mcp["inputSchema"]["properties"]}
        del own[fields["parameter"]]
        of_handler = ({**mcp["inputSchema"], "properties": own}, returns)
        returns = optional.truncation.build_listed_returns(returns, fields)
    types = types_of_tool(
        mcp["name"],
        mcp["inputSchema"],
        returns,
        has_values=definition.get("values") == "python",
        takes_class=bool(takes),
        result_class=makes.rpartition(".")[2] or None,
        of_handler=of_handler,
    )
    made = f"{types.gives.handlers}[{makes or types.gives.name}]"
    results = (types.results, types.gives)
    client = ", client" if has_clients else ""
    handler = definition.get("handler")
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
            _format_handler_parameters(types, takes, definition.get("uses", ())),
            made if types.gives.name else "object",
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
    members = types.given.members
    if class_ or not _has_keyword_arguments(types):
        whole = "arguments_" if "arguments" in uses else "arguments"
        parts = ["self", f"{whole}: {class_ or types.given.name}", "/"]
        return ", ".join([*parts, *(["*", *uses] if uses else [])])
    needed = [key for key, member in members.items() if member.is_required]
    left = [key for key in members if key not in needed]
    keys = [f"{key}: {_format_type(members[key].type)}" for key in needed]
    keys += [f"{key}: {_format_type(members[key].type)}=..." for key in left]
    return ", ".join(["self", "/", *(["*", *keys, *uses] if keys or uses else [])])


def _format_call_parameters(types: ToolTypes, has_clients: bool) -> str:
    """Return the parameter list of `call`."""
    client, name = ["client: str"] if has_clients else [], types.own[0]
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
