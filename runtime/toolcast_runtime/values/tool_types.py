"""The types of one tool: what a call is given and gives, and what its handler is and does.

The generator prints them, and generated tests hold to them what was printed: another type for a
schema is another runtime level.
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
    Any Callable Coroutine HandlerForm HandlerResult ListResult Literal Mapping NotRequired
    ObjectResult Protocol ReadOnly ResourceHandlerForm Sequence TypeAlias TypedDict Unpack
""".split()
"""What a generated module has of its own: no class is called so."""


class Results(NamedTuple):
    """What a tool gives.

    Attributes:
        name: its class or alias; empty without a schema that says something.
        type: of the alias; None when it is a class.
        wider: what the alias does not say.
        handlers: the alias of `handler_types` for what its handler may give.
        objects: the classes.
        has_values: whether Python's values are in it.
    """

    name: str
    type: PythonType | None
    wider: Sequence[str]
    handlers: str
    objects: Sequence[ObjectType]
    has_values: bool = False


class ToolTypes(NamedTuple):
    """The types of a tool.

    Attributes:
        own: the names that are its own: of its arguments, its result and its handler, and
            of what that is given and gives where these are values of Python.
        arguments: the class of a call's arguments.
        results: what a call gives.
        given: the class of the handler's arguments, that of calls where it is no other.
        gives: what it gives, the same.
        objects: the classes, in the order of the module.
        read_only: those of results.
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
    """The types of a tool.

    Args:
        tool: its name.
        parameters: the schema of its arguments.
        returns: that of its results; None without one.
        has_values: its handler is given texts of formats as Python's values.
        takes_class: its handler is given all arguments in a class of the team's own.
        result_class: the name of the class in which its handler gives the result; None for
            none.
        of_handler: the schemas of what its handler is given and gives where callers pick
            properties of results; None where they are the same.
    """
    name = class_name(tool)
    own = [f"{name}{word}" for word in ("Arguments", "Result", "Handler")]
    own += [f"{name}{word}" for word in ("Given", "Gives")]
    types = SchemaTypes(parameters, name, [*TAKEN, *own[1:]])
    arguments = given = types.arguments(own[0])
    taken = [*TAKEN, *own, *(one.name for one in types.objects)]
    taken.remove(own[1])
    results = gives = _results(returns, own[1], taken)
    objects = [*types.objects, *results.objects]
    read_only = [*results.objects]
    if has_values or of_handler:
        # As what calls are given and give, but for what is another type or schema there.
        taken = [*TAKEN, *own, *(one.name for one in objects)]
        schemas = of_handler or (parameters, returns)
        others = [n for n in taken if n != own[3]]
        types = SchemaTypes(schemas[0], own[3], others, has_values=has_values)
        of_values = types.arguments(own[3])
        if (types.has_found_values or of_handler) and not takes_class:
            given = of_values
            objects += types.objects
            taken += [one.name for one in types.objects]
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
    """What a schema says of results.

    Args:
        schema: of the results; None without one.
        name: of the class or alias.
        taken: names that no class may have.
        has_values: texts of formats are Python's values.
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
    if any(isinstance(one, (ObjectName, Table)) for one in members):
        handlers = "ObjectResult"
    elif any(
        isinstance(one, Array) and isinstance(one.item, (ObjectName, OneOf))
        for one in members
    ):
        handlers = "ListResult"
    alias = None if type_ == ObjectName(name) else type_
    return Results(name, alias, left, handlers, types.objects, types.has_found_values)


def types_of(definition: Mapping[str, Any], has_clients: bool) -> dict[str, Any]:
    """What the module of a tool has to say of its types, by the names of classes and functions.

    Args:
        definition: the tool's.
        has_clients: whether calls are made as a client.
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
        returns = optional.truncation.listed_returns(returns, fields)
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
        **{one.name: _fields(one, one in types.read_only) for one in types.objects},
        **{one.name: _text(one.type) for one in results if one.type is not None},
        "__call__": [
            _taken(types, takes, definition.get("uses", ())),
            made if types.gives.name else "object",
        ],
        "call": [
            _sent(types, has_clients),
            f"Coroutine[Any, Any, {types.results.name or 'Any'}]",
            "from ..registry import REGISTRY",
            f"response = REGISTRY.call_tool({mcp['name']!r}, arguments{client})",
            "return tool_result(response)",
        ],
        "_check": [] if handler is None else [handler],
    }


def _taken(types: ToolTypes, class_: str, uses: Collection[str]) -> str:
    """The parameters of the handler, without the types of what it uses."""
    members = types.given.members
    if class_ or not _are_keywords(types):
        whole = "arguments_" if "arguments" in uses else "arguments"
        parts = ["self", f"{whole}: {class_ or types.given.name}", "/"]
        return ", ".join([*parts, *(["*", *uses] if uses else [])])
    needed = [key for key, one in members.items() if one.is_required]
    left = [key for key in members if key not in needed]
    keys = [f"{key}: {_text(members[key].type)}" for key in needed]
    keys += [f"{key}: {_text(members[key].type)}=..." for key in left]
    return ", ".join(["self", "/", *(["*", *keys, *uses] if keys or uses else [])])


def _sent(types: ToolTypes, has_clients: bool) -> str:
    """The parameters of `call`."""
    client, name = ["client: str"] if has_clients else [], types.own[0]
    if not _are_keywords(types):
        return ", ".join([*client, f"arguments: {name}", "/"])
    return ", ".join([*client, *["/"][: len(client)], f"**arguments: Unpack[{name}]"])


def _are_keywords(types: ToolTypes) -> bool:
    return all(map(is_keyword_argument, types.arguments.members))


def _fields(made: ObjectType, is_read_only: bool) -> dict[str, str]:
    fields = {}
    for key, member in made.members.items():
        text = _text(member.type)
        text = f"ReadOnly[{text}]" if is_read_only else text
        fields[key] = text if member.is_required else f"NotRequired[{text}]"
    return fields


def _text(type_: PythonType) -> str:
    match type_:
        case OneOf(members):
            return " | ".join(map(_text, members))
        case Choice(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case Array(item):
            return f"Sequence[{_text(item)}]"
        case Table(value):
            return f"Mapping[str, {_text(value)}]"
        case _:
            return type_.name
