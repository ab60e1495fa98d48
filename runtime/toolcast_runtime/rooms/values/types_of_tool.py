"""The types of one tool: what a call is given and gives, and what its handler is and does.

The generator prints them, and generated tests hold to them what was printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .annotated_types import (
    ANY,
    Array,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
    class_name,
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
    has_values: bool = False,
    takes_class: bool = False,
    result_class: str | None = None,
) -> ToolTypes:
    """The types of a tool.

    Args:
        tool: its name.
        parameters: the schema of its arguments.
        returns: that of its results; None without one.
        has_values: its handler is given texts of formats as Python's values.
        takes_class: its handler is given all arguments in a class of the team's own.
        result_class: the name of the class in which its handler gives the result.
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
    if has_values:
        # As what calls are given and give, but for what is another type there.
        taken = [*TAKEN, *own, *(one.name for one in objects)]
        types = SchemaTypes(
            parameters, own[3], [n for n in taken if n != own[3]], has_values=True
        )
        of_values = types.arguments(own[3])
        if types.has_found_values and not takes_class:
            given = of_values
            objects += types.objects
            taken += [one.name for one in types.objects]
        others = [n for n in taken if n != own[4]]
        found = _results(returns, own[4], others, has_values=True)
        if found.has_values:
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
    types = SchemaTypes(schema, name, taken, has_values=has_values)
    type_, left = types.whole(name)
    if not isinstance(schema, dict) or type_ == ANY:
        return Results("", None, (), "", ())
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
