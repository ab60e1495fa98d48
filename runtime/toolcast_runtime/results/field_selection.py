"""Let callers select the properties of a result with a parameter of the tool.

The runtime handles this parameter; handlers do not get it. A path names a property:
`items.title` is the property `title` of each object in the array `items`. Only properties that
a schema declares directly in `properties` and `items` have paths. Properties without a path in
`allowed` are always sent.

A tool's `fields` settings have the keys `parameter` (its name), `allowed` (the selectable
paths) and optionally `default` (the paths that are sent if a call selects none; all by default).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_FIELDS_DESCRIPTION = (
    "The properties to include in the result. Properties that are not in this list of"
    " choices are always included."
)


def build_listed_parameters(
    parameters: Mapping[str, Any], fields: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the input schema for `tools/list`, with the parameter that selects fields.

    Without `fields` settings the schema is returned unchanged.
    """
    if fields is None:
        return parameters
    properties = parameters.get("properties")
    selection: dict[str, Any] = {
        "type": "array",
        "items": {"type": "string", "enum": [*fields["allowed"]]},
        "description": _FIELDS_DESCRIPTION,
    }
    if "default" in fields:
        selection["default"] = [*fields["default"]]
    own = properties if isinstance(properties, Mapping) else {}
    return {**parameters, "properties": {**own, fields["parameter"]: selection}}


def build_listed_returns(returns: Any, fields: Mapping[str, Any] | None) -> Any:
    """Return the output schema for `tools/list`, in which selectable fields are optional.

    Without `fields` settings the schema is returned unchanged.
    """
    return (
        _make_optional(returns, _split_paths(fields["allowed"])) if fields else returns
    )


def list_omitted_paths(
    fields: Mapping[str, Any], selected: Iterable[str] | None = None
) -> list[str]:
    """Return the allowed paths that a call did not select.

    A selected property is sent with the properties that contain it and all that it contains.

    Args:
        fields: the tool's `fields` settings.
        selected: the paths that the call selects; None for the default ones.
    """
    allowed = fields["allowed"]
    if selected is None:
        selected = fields.get("default", allowed)
    sent = {*selected}
    return [
        path
        for path in allowed
        if not any(_is_same_branch(path, other) for other in sent)
    ]


def remove_paths(value: Any, paths: Sequence[str]) -> Any:
    """Return a result without the properties at some paths; unchanged if there are none."""
    return _remove_split_paths(value, _split_paths(paths)) if paths else value


def list_schemas_on_path(returns: Any, path: str) -> Sequence[Mapping[str, Any]]:
    """Return the schemas on a path, from the result's schema to the property's schema.

    Raises:
        LookupError: the schemas do not declare the property directly.
    """
    return [*_walk_path(returns, path.split("."))]


def _walk_path(schema: Any, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for name in names:
        # A path has no name for an array: `items.title` is the title of each item.
        while _is_array_schema(schema):
            yield schema
            schema = schema["items"]
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(properties, Mapping) or name not in properties:
            raise LookupError(name)
        yield schema
        schema = properties[name]
    yield schema if isinstance(schema, Mapping) else {}


def _is_same_branch(path: str, other: str) -> bool:
    """Return whether two paths are equal or one contains the other."""
    return f"{path}.".startswith(f"{other}.") or other.startswith(f"{path}.")


def _is_array_schema(schema: Any) -> bool:
    """Return whether a schema declares the items of an array, and no properties."""
    if not isinstance(schema, Mapping):
        return False
    return "items" in schema and "properties" not in schema


def _split_paths(paths: Iterable[str]) -> list[list[str]]:
    return [path.split(".") for path in paths]


def _group_by_first_key(paths: Sequence[list[str]]) -> Mapping[str, list[list[str]]]:
    """Group paths by their first key; the values are the remaining keys of each path."""
    groups: defaultdict[str, list[list[str]]] = defaultdict(list)
    for path in paths:
        if path:
            groups[path[0]].append(path[1:])
    return groups


def _make_optional(schema: Any, paths: Sequence[list[str]]) -> Any:
    """Return a schema in which the properties at the paths are not required."""
    if _is_array_schema(schema):
        return {**schema, "items": _make_optional(schema["items"], paths)}
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return schema
    groups = _group_by_first_key(paths)
    optional_properties = {
        name: _make_optional(part, groups.get(name, ()))
        for name, part in properties.items()
    }
    required = schema.get("required")
    if not isinstance(required, list):
        return {**schema, "properties": optional_properties}
    # `_group_by_first_key` maps a path that ends at this property to an empty list.
    still_required = [name for name in required if [] not in groups.get(str(name), ())]
    return {**schema, "properties": optional_properties, "required": still_required}


def _remove_split_paths(value: Any, paths: Sequence[list[str]]) -> Any:
    if isinstance(value, list) and paths:
        return [_remove_split_paths(item, paths) for item in value]
    if not isinstance(value, Mapping) or not paths:
        return value
    groups = _group_by_first_key(paths)
    return {
        name: _remove_split_paths(part, groups.get(name, ()))
        for name, part in value.items()
        if [] not in groups.get(name, ())
    }
