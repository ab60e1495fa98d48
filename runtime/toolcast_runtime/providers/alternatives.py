"""Alternatives of `anyOf` and `oneOf`: whether they exclude each other, and their merged object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from .combined_schemas import (
    InexactError,
    contains_json,
    get_types,
    list_distinct,
    matches_pattern,
    merge_schemas,
    widen_integers,
)
from .dialect import ANNOTATIONS

_MERGED_KEYWORDS = frozenset(
    "type properties required additionalProperties title $defs definitions".split()
)
"""Keywords of alternatives that `describe_relations` does not repeat.

The merged object contains their content, or (`title`) models do not need them.
"""


def exclude_each_other(members: Sequence[Any]) -> bool:
    """Return whether no value can match two of the alternatives.

    `oneOf` can then be replaced by `anyOf`. False also if the types and values do not show it.
    """
    return all(_are_disjoint(*pair) for pair in combinations(members, 2))


def merge_alternatives(
    base: Mapping[str, Any], members: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Merge alternatives into one object schema with the properties of all of them.

    A property with different schemas gets a union of them. A property is required if the base
    or every alternative requires it. The merged schema may allow more than the alternatives.

    Args:
        base: the schema that contains the alternatives.
        members: the alternatives.

    Returns:
        The schema; None if an alternative is not an object.
    """
    if any((get_types(member) or ["object"]) != ["object"] for member in members):
        return None
    if not all(isinstance(member.get("properties", {}), Mapping) for member in members):
        return None
    schemas_by_name: dict[str, list[Any]] = {}
    for member in members:
        for name, schema in member.get("properties", {}).items():
            schemas_by_name.setdefault(name, []).append(schema)
    base_properties = dict(base.get("properties", {}))
    additional = base.get("additionalProperties", True)
    properties = {}
    for name, schemas in schemas_by_name.items():
        # `additionalProperties` of the base applies to all alternatives, so it restricts a
        # property that only alternatives declare, unless a pattern of the base matches it.
        if name in base_properties or additional is False:
            continue
        schema = _build_union(list_distinct(schemas))
        patterns = base.get("patternProperties", ())
        if all(matches_pattern(pattern, name) is False for pattern in patterns):
            schema = _combine_schemas(schema, additional)
        properties[name] = schema
    required_sets = [set(member.get("required", ())) for member in members]
    always_required = set.intersection(*required_sets) if required_sets else set()
    required = dict.fromkeys(base.get("required", ()))
    first_required = members[0].get("required", ()) if members else ()
    required.update(
        dict.fromkeys(name for name in first_required if name in always_required)
    )
    merged = {
        **base,
        "type": "object",
        "properties": {**base_properties, **properties},
    }
    if required:
        merged["required"] = list(required)
    if members and all(
        member.get("additionalProperties") is False for member in members
    ):
        merged["additionalProperties"] = False
    return merged


def _combine_schemas(first: Any, second: Any) -> Any:
    """Return a schema of the values that both schemas allow; each may be a boolean."""
    if first is True:
        return second
    if second is True:
        return first
    if first is False or second is False:
        return False
    try:
        return merge_schemas(first, second)
    except InexactError:
        return {"allOf": [first, second]}


def _build_union(schemas: list[Any]) -> Any:
    """Return one schema for the values of any of the schemas.

    The result is an `enum` if all schemas only list values and have equal annotations,
    otherwise an `anyOf`. A single schema is returned unchanged.
    """
    if len(schemas) == 1:
        return schemas[0]
    value_lists = [_get_values(schema) for schema in schemas]
    if not all(value_lists):
        return {"anyOf": schemas}
    annotations = [
        {key: value for key, value in schema.items() if key in ANNOTATIONS}
        for schema in schemas
    ]
    has_only_values = all(
        schema.keys() <= {"type", "const", "enum", *ANNOTATIONS} for schema in schemas
    )
    if has_only_values and len(list_distinct(annotations)) == 1:
        all_values = list_distinct(chain.from_iterable(filter(None, value_lists)))
        types = {type_ for schema in schemas for type_ in get_types(schema) or ()}
        type_keyword = {"type": types.pop()} if len(types) == 1 else {}
        return {**type_keyword, **annotations[0], "enum": all_values}
    return {"anyOf": schemas}


def describe_relations(members: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the constraints of each alternative that are lost when they are merged.

    The list has one schema per alternative, with the properties that the alternatives declare
    differently, `required` if it differs, and the keywords that `merge_alternatives` ignores.
    The list is empty if no alternative has such a constraint.
    """
    schemas_by_name: dict[str, list[Any]] = {}
    for member in members:
        for name, schema in member.get("properties", {}).items():
            schemas_by_name.setdefault(name, []).append(schema)
    differing = {
        name
        for name, schemas in schemas_by_name.items()
        if len(list_distinct(schemas)) > 1
    }
    has_differing_names = any(
        member.get("additionalProperties") is False
        and member.get("properties", {}).keys() != schemas_by_name.keys()
        for member in members
    )
    required_sets = [frozenset(member.get("required", ())) for member in members]
    relations = []
    for member in members:
        # If a closed alternative lacks names of others, list the names of each alternative, with
        # `true` for schemas that do not differ.
        properties = {
            name: schema if name in differing else True
            for name, schema in member.get("properties", {}).items()
            if name in differing or has_differing_names
        }
        relation: dict[str, Any] = {"properties": properties} if properties else {}
        if len(set(required_sets)) > 1:
            relation["required"] = list(member.get("required", ()))
        relation |= {
            key: value
            for key, value in member.items()
            if key not in _MERGED_KEYWORDS
            or (key == "additionalProperties" and isinstance(value, Mapping))
        }
        relations.append(relation)
    return relations if any(relations) else []


def _get_values(schema: Any) -> list[Any] | None:
    """Return the values of `const` or `enum`; None if there is neither."""
    if isinstance(schema, Mapping):
        if "const" in schema:
            return [schema["const"]]
        if isinstance(schema.get("enum"), (list, tuple)):
            return list(schema["enum"])
    return None


def _are_disjoint(first: Any, second: Any) -> bool:
    """Return whether two schemas have no value in common; False if that is not certain."""
    if first is False or second is False:
        return True
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return False
    first_values, second_values = _get_values(first), _get_values(second)
    if first_values is not None and second_values is not None:
        return not any(contains_json(second_values, value) for value in first_values)
    first_types, second_types = get_types(first), get_types(second)
    if first_types is None or second_types is None:
        return False
    if not widen_integers(first_types) & widen_integers(second_types):
        return True
    if first_types != ["object"] or second_types != ["object"]:
        return False
    # Objects are disjoint if both require the same property with disjoint values, such as a
    # `type` property that tells the alternatives apart.
    required = set(first.get("required", ())) & set(second.get("required", ()))
    first_properties = first.get("properties", {})
    second_properties = second.get("properties", {})
    return any(
        _are_disjoint(first_properties[name], second_properties[name])
        for name in required
        if name in first_properties and name in second_properties
    )
