"""What a tool's calls give, and what its handler is given and gives instead of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...facts.types.python_type import (
    ANY,
    Array,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
)
from ...facts.types.schema_types import SchemaTypes
from ...model.model import Toolset, ToolSpec

__all__ = ["Handled", "Results", "handled_types", "results_of"]


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


class Handled(NamedTuple):
    """What a handler is given and gives.

    Attributes:
        arguments: their class, that of calls where it is no other.
        results: what it gives, the same.
        given: the classes that its arguments alone need.
        gives: those that its results alone need.
    """

    arguments: ObjectType
    results: Results
    given: Sequence[ObjectType] = ()
    gives: Sequence[ObjectType] = ()


def handled_types(
    toolset: Toolset,
    tool: ToolSpec,
    own: Sequence[str],
    taken: Sequence[str],
    arguments: ObjectType,
    results: Results,
    objects: Sequence[ObjectType],
) -> Handled:
    """What is Python's values, or a class of the team's own, and not what was sent.

    Args:
        toolset: of the tool.
        tool: the tool.
        own: the names of the tool's five types; the last two are the handler's.
        taken: names that no class may have.
        arguments: the class of a call's arguments.
        results: what a call gives.
        objects: the classes of both.
    """
    found = Handled(arguments, results)
    taken = [*taken, *own, *(one.name for one in objects)]
    if toolset.has_python_values(tool):
        allowed = [name for name in taken if name != own[3]]
        types = SchemaTypes(tool.parameters, own[3], allowed, has_values=True)
        given = types.arguments(own[3])
        if types.has_found_values and tool.arguments_type is None:
            found = found._replace(arguments=given, given=types.objects)
        allowed = [name for name in taken if name != own[4]]
        allowed += [one.name for one in found.given]
        gives = results_of(tool.returns, own[4], allowed, has_values=True)
        if gives.has_values:
            found = found._replace(results=gives, gives=gives.objects)
    if tool.result_type is not None:
        class_ = Results(tool.result_type.function, None, (), "HandlerResult", ())
        found = found._replace(results=class_, gives=())
    return found


def results_of(
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
