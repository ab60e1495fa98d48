"""The properties of results that callers pick, by a parameter that is no handler's.

A path names one: `items.title` is the property `title` of each object in the list `items`. Lists
are gone through; what `properties` and `items` of a schema do not write out has no path. What no
path names is always sent.

Of a tool's `fields` the `parameter` picks, of what is `allowed`; `default` is what a call gets
that picks nothing, without it all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_PICKS = "Which of these properties the result has. Others of it are always there."


def listed_parameters(
    parameters: Mapping[str, Any], fields: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """The schema of a tool's arguments as callers are shown it, with the parameter that picks."""
    if fields is None:
        return parameters
    own = parameters.get("properties")
    picks: dict[str, Any] = {
        "type": "array",
        "items": {"type": "string", "enum": [*fields["allowed"]]},
        "description": _PICKS,
    }
    if "default" in fields:
        picks["default"] = [*fields["default"]]
    named = {**(own if isinstance(own, Mapping) else {}), fields["parameter"]: picks}
    return {**parameters, "properties": named}


def listed_returns(returns: Any, fields: Mapping[str, Any] | None) -> Any:
    """The schema of a tool's results as callers get them: what may be left out is optional."""
    return _optional(returns, _steps(fields["allowed"])) if fields else returns


def left_out(
    fields: Mapping[str, Any], chosen: Iterable[str] | None = None
) -> list[str]:
    """The paths whose properties a call does not get, which picks some or says nothing.

    With a property goes what it is in, and all that is in it.
    """
    allowed = fields["allowed"]
    wanted = {*(fields.get("default", allowed) if chosen is None else chosen)}
    return [path for path in allowed if not any(_is_with(path, one) for one in wanted)]


def picked(value: Any, paths: Sequence[str]) -> Any:
    """A result without the properties of some paths; it is not changed itself."""
    return _without(value, _steps(paths)) if paths else value


def way_to(returns: Any, path: str) -> Sequence[Mapping[str, Any]]:
    """The schemas from that of a result to that of a path's property, which is the last.

    Raises:
        LookupError: they do not write it out.
    """
    return [*_way(returns, path.split("."))]


def _way(schema: Any, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for name in names:
        while _is_list(schema):
            yield schema
            schema = schema["items"]
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(properties, Mapping) or name not in properties:
            raise LookupError(name)
        yield schema
        schema = properties[name]
    yield schema if isinstance(schema, Mapping) else {}


def _is_with(path: str, other: str) -> bool:
    """Whether a property is sent where another one is."""
    return f"{path}.".startswith(f"{other}.") or other.startswith(f"{path}.")


def _is_list(schema: Any) -> bool:
    """Whether paths go on in the items of what a schema is of."""
    is_mapping = isinstance(schema, Mapping)
    return is_mapping and "items" in schema and "properties" not in schema


def _steps(paths: Iterable[str]) -> list[list[str]]:
    return [path.split(".") for path in paths]


def _below(paths: Sequence[list[str]]) -> Mapping[str, list[list[str]]]:
    """How paths go on behind their first steps: with nothing where one ends."""
    below: defaultdict[str, list[list[str]]] = defaultdict(list)
    for path in paths:
        if path:
            below[path[0]].append(path[1:])
    return below


def _optional(schema: Any, paths: Sequence[list[str]]) -> Any:
    if _is_list(schema):
        return {**schema, "items": _optional(schema["items"], paths)}
    own = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(own, Mapping):
        return schema
    below = _below(paths)
    named = {n: _optional(part, below.get(n, ())) for n, part in own.items()}
    required = schema.get("required")
    if not isinstance(required, list):
        return {**schema, "properties": named}
    kept = [name for name in required if [] not in below.get(str(name), ())]
    return {**schema, "properties": named, "required": kept}


def _without(value: Any, paths: Sequence[list[str]]) -> Any:
    if isinstance(value, list) and paths:
        return [_without(item, paths) for item in value]
    if not isinstance(value, Mapping) or not paths:
        return value
    below = _below(paths)
    return {
        name: _without(part, below.get(name, ()))
        for name, part in value.items()
        if [] not in below.get(name, ())
    }
