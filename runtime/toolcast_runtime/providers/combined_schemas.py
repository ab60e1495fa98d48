"""Operations on schemas: their types, merging two of them, equality, and nullable types.

Nothing here depends on the keywords of a dialect, except for the spelling of nullable types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .dialect import ANNOTATIONS, Nullable, has_only_annotations

_TYPES = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (Mapping, "object"),
    ((list, tuple), "array"),
    (type(None), "null"),
)
_DEPENDENT_KEYWORDS = (
    frozenset("properties patternProperties additionalProperties".split()),
    frozenset("prefixItems items additionalItems".split()),
    frozenset("contains minContains maxContains".split()),
    frozenset("if then else".split()),
    frozenset(["unevaluatedProperties"]),
    frozenset(["unevaluatedItems"]),
)
"""Groups of keywords whose meaning depends on each other within one schema.

`merge_schemas` cannot merge the keywords of a group one by one.
"""

_LOWER_LIMITS = "minimum exclusiveMinimum minLength minItems minProperties".split()
_UPPER_LIMITS = "maximum exclusiveMaximum maxLength maxItems maxProperties".split()
_SELECT_STRICTER: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_LOWER_LIMITS, max),
    **dict.fromkeys(_UPPER_LIMITS, min),
}
_NUMBER_KEYWORDS = (
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
_KEYWORDS_BY_TYPE = {
    "string": "minLength maxLength pattern format".split(),
    "number": _NUMBER_KEYWORDS,
    "integer": _NUMBER_KEYWORDS,
    "array": "items prefixItems minItems maxItems uniqueItems contains".split(),
    "object": (
        "properties required additionalProperties patternProperties propertyNames"
        " minProperties maxProperties"
    ).split(),
}
_VALUE_KEYWORDS = frozenset(["enum", "const"])
_MAX_REFERENCES = 40
"""Maximum number of references that are followed one after another."""


class InexactError(Exception):
    """Failure to merge two schemas exactly; `str()` is the keyword that prevents it."""


def get_type_name(value: Any) -> str:
    """Return the JSON type of a value; `number` for every number that is not an int."""
    for python_type, name in _TYPES:
        if isinstance(value, python_type):
            return name
    return "number"


def get_types(schema: Mapping[str, Any]) -> list[str] | None:
    """Return the types in a schema's `type`; None without `type`."""
    types = schema.get("type")
    if isinstance(types, str):
        return [types]
    return list(types) if isinstance(types, (list, tuple)) else None


def matches_types(value: Any, types: Sequence[str] | None) -> bool:
    """Return whether a value has one of the JSON types; True if `types` is None.

    A float such as 1.0 also has the type integer, and every integer the type number.
    """
    if types is None:
        return True
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return True
    name = get_type_name(value)
    return name in types or (name == "integer" and "number" in types)


def widen_integers(types: Sequence[str]) -> set[str]:
    """Return types with `number` instead of `integer`."""
    return {"number" if type_ == "integer" else type_ for type_ in types}


def matches_pattern(pattern: str, name: str) -> bool | None:
    """Return whether a pattern matches a name; None if Python cannot compile it."""
    try:
        return bool(re.search(pattern, name))
    except re.error:
        return None


def add_value_types(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema with the type of its `enum` or `const` values.

    Values that do not match an existing `type` are removed. A schema without such values is
    returned unchanged.

    Returns:
        The schema; None if it allows none of its values.
    """
    keyword = next((key for key in ("enum", "const") if key in schema), None)
    values = schema.get("enum", [schema.get("const")])
    if keyword is None or not isinstance(values, (list, tuple)) or not values:
        return dict(schema)
    valid_values = [
        value for value in values if matches_types(value, get_types(schema))
    ]
    if not valid_values:
        return None
    types = list(dict.fromkeys(map(get_type_name, valid_values)))
    with_types = {"type": types[0] if len(types) == 1 else types, **schema}
    if get_types(with_types) == ["null"]:
        del with_types[keyword]
    elif keyword == "enum":
        with_types["enum"] = valid_values
    return with_types


def merge_schemas(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a schema of exactly the values that both schemas allow.

    The first schema's annotations take precedence.

    Raises:
        InexactError: there is no simple schema for these values.
    """
    if "$ref" in first or "$ref" in second:
        # A schema with only annotations allows every value, so the reference stays exact.
        if has_only_annotations(second) or has_only_annotations(first):
            return {**second, **first}
        raise InexactError("$ref")
    merged = dict(first)
    for group in _DEPENDENT_KEYWORDS:
        first_keywords, second_keywords = group & first.keys(), group & second.keys()
        keywords = first_keywords | second_keywords
        if (
            first_keywords
            and second_keywords
            and not _has_compatible_properties(first, second, keywords)
        ):
            raise InexactError(sorted(keywords)[0])
    for key, value in second.items():
        if key not in merged:
            merged[key] = value
        elif key not in ANNOTATIONS and not is_equal_json(merged[key], value):
            merged[key] = _merge_keyword(key, merged[key], value)
    return merged


def _has_compatible_properties(
    first: Mapping[str, Any], second: Mapping[str, Any], used: frozenset[str]
) -> bool:
    """Return whether dependent keywords that two schemas use can be merged one by one.

    For `properties` and `additionalProperties`: each object must allow the other's properties,
    or both declare the same ones. Other groups of keywords must be equal in both schemas.
    """
    if used == {"properties"}:
        return True
    if used != {"properties", "additionalProperties"}:
        return all(is_equal_json(first.get(key), second.get(key)) for key in used)
    first_names = set(first.get("properties", ()))
    second_names = set(second.get("properties", ()))
    first_additional = first.get("additionalProperties", True)
    second_additional = second.get("additionalProperties", True)
    if first_additional is False and second_names <= first_names:
        return second_additional is True or (
            second_additional is False and first_names == second_names
        )
    if first_additional is not True:
        return False
    return second_additional is True or (
        second_additional is False and first_names <= second_names
    )


def _merge_keyword(key: str, first: Any, second: Any) -> Any:
    """Return the value of a keyword that allows only values that both of its values allow.

    Raises:
        InexactError: no single value of the keyword has this effect.
    """
    if key in _SELECT_STRICTER:
        return _SELECT_STRICTER[key](first, second)
    if key == "type":
        return _find_common_types(first, second)
    if key == "required":
        return list(dict.fromkeys([*first, *second]))
    if key == "enum":
        common = [value for value in first if contains_json(second, value)]
        if common:
            return common
    if key == "properties":
        properties = dict(first)
        for name, schema in second.items():
            if name in first:
                schema = _merge_subschemas(first[name], schema)
            properties[name] = schema
        return properties
    if key == "additionalProperties":
        # Two different values reach this line only if one of them is false:
        # `_has_compatible_properties` rejects all other differences.
        return False
    raise InexactError(key)


def _merge_subschemas(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return merge_schemas(first, second)
    if True in (first, second):
        return second if first is True else first
    raise InexactError("properties")


def _find_common_types(first: Any, second: Any) -> Any:
    first_types = get_types({"type": first}) or []
    second_types = get_types({"type": second}) or []
    common = [
        type_
        for type_ in first_types
        if type_ in second_types or (type_ == "integer" and "number" in second_types)
    ]
    # `number` in one schema and `integer` in the other have `integer` in common.
    is_number_and_integer = "number" in first_types and "integer" in second_types
    if is_number_and_integer and "integer" not in common:
        common.append("integer")
    if not common:
        raise InexactError("type")
    return common[0] if len(common) == 1 else common


def is_equal_json(first: Any, second: Any) -> bool:
    """Return whether two JSON values are equal; true is not equal to 1."""
    # Python's `True == 1` holds, but JSON Schema distinguishes booleans from numbers.
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            is_equal_json(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(is_equal_json, first, second))
    return bool(first == second)


def contains_json(values: Sequence[Any], value: Any) -> bool:
    """Return whether a sequence of JSON values contains a value; true does not equal 1."""
    return any(is_equal_json(item, value) for item in values)


def list_distinct(values: Iterable[Any]) -> list[Any]:
    """Return JSON values in order, without later duplicates."""
    distinct: list[Any] = []
    for value in values:
        if not contains_json(distinct, value):
            distinct.append(value)
    return distinct


def allows_null(
    schema: Any,
    resolve: Callable[[str], Any],
    steps: int = _MAX_REFERENCES,
    results: dict[int, bool] | None = None,
) -> bool:
    """Return whether a schema allows null; False if that is not certain.

    Args:
        schema: the spec's schema.
        resolve: returns the target of a reference; raises LookupError if there is none.
        steps: the remaining number of nested references and alternatives to follow.
        results: the results of schemas checked before, by the `id` of the schema; updated.
    """
    if not isinstance(schema, Mapping) or not steps:
        return schema is True
    results = {} if results is None else results
    if id(schema) in results:
        return results[id(schema)]
    # Preset False: a schema that refers to itself then ends the recursion with this result.
    results[id(schema)] = False
    if schema.keys() & {"not", "if", "$dynamicRef", "$recursiveRef"}:
        return False
    is_allowed = []
    if "enum" in schema:
        is_allowed.append(None in schema["enum"])
    if "const" in schema:
        is_allowed.append(schema["const"] is None)
    if "type" in schema:
        is_allowed.append("null" in (get_types(schema) or ()))
    if "$ref" in schema:
        try:
            target = resolve(schema["$ref"])
        except LookupError:
            return False
        is_allowed.append(allows_null(target, resolve, steps - 1, results))
    for key, combine in (("anyOf", any), ("oneOf", any), ("allOf", all)):
        if key in schema:
            members = [
                allows_null(member, resolve, steps - 1, results)
                for member in schema[key]
            ]
            is_allowed.append(combine(members))
    results[id(schema)] = all(is_allowed)
    return results[id(schema)]


def make_nullable(rendered: dict[str, Any], spelling: Nullable) -> dict[str, Any]:
    """Return a rendered schema that also allows null, in the dialect's spelling.

    Null is added to `type` (and `enum`) if possible, otherwise as a member of `anyOf`.
    """
    types = get_types(rendered)
    has_only_type = rendered.keys().isdisjoint(["$ref", "anyOf", "oneOf", "const"])
    if types is not None and has_only_type and spelling is not Nullable.ANY_OF:
        return _add_null(rendered)
    annotations = {key: value for key, value in rendered.items() if key in ANNOTATIONS}
    rest = {key: value for key, value in rendered.items() if key not in annotations}
    members = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return {**annotations, "anyOf": [*members, {"type": "null"}]}


def spell_nullable(rendered: dict[str, Any], spelling: Nullable) -> dict[str, Any]:
    """Return a schema whose nullable types are spelled as the dialect requires.

    The schema is equivalent; with `Nullable.ANY` it is returned unchanged.
    """
    if spelling is Nullable.ANY:
        return rendered
    if spelling is Nullable.TYPE_LIST:
        return _merge_into_type_list(rendered)
    types = get_types(rendered)
    if types is None and None in rendered.get("enum", ()):
        types = [*dict.fromkeys(map(get_type_name, rendered["enum"]))]
        return _split_type_list(rendered, types)
    if isinstance(rendered.get("type"), (list, tuple)) and types:
        return _split_type_list(rendered, types)
    return rendered


def _add_null(rendered: Mapping[str, Any]) -> dict[str, Any]:
    """Add null to the types of a schema, and to its `enum`."""
    nullable = dict(rendered)
    types = get_types(nullable) or []
    nullable["type"] = [*types, *(["null"] if "null" not in types else [])]
    if "enum" in nullable and None not in nullable["enum"]:
        nullable["enum"] = [*nullable["enum"], None]
    return nullable


def _merge_into_type_list(rendered: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with `type: [T, "null"]` instead of an `anyOf` of T and null.

    Every other schema is returned unchanged.
    """
    members = rendered.get("anyOf")
    if not isinstance(members, list) or len(members) != 2:
        return rendered
    others = [member for member in members if get_types(member) != ["null"]]
    if len(others) != 1 or not get_types(others[0]):
        return rendered
    if others[0].keys() & {"anyOf", "oneOf", "const", "$ref"}:
        return rendered
    siblings = {key: value for key, value in rendered.items() if key != "anyOf"}
    if not has_only_annotations(siblings):
        return rendered
    return {**_add_null(others[0]), **siblings}


def _split_type_list(rendered: dict[str, Any], types: list[str]) -> dict[str, Any]:
    """Return a schema with one `anyOf` member per type instead of a list of types.

    Each keyword moves to the members whose type it applies to; `enum` values move to the
    member of their type. A type without `enum` values is omitted.
    """
    moved_keywords = {
        key for type_ in types for key in _KEYWORDS_BY_TYPE.get(type_, ())
    } | _VALUE_KEYWORDS
    const_values = [rendered["const"]] if "const" in rendered else None
    values = rendered.get("enum", const_values)
    members = []
    for type_ in types:
        member: dict[str, Any] = {"type": type_}
        for key in _KEYWORDS_BY_TYPE.get(type_, ()):
            if key in rendered:
                member[key] = rendered[key]
        if values is not None:
            values_of_type = [
                value for value in values if matches_types(value, [type_])
            ]
            if not values_of_type:
                continue
            if type_ != "null":
                member["enum"] = values_of_type
        members.append(member)
    # No value of `enum` has one of the types, so the schema allows no value in any case.
    if not members:
        return {**rendered, "type": types[0]}
    rest = {
        key: value
        for key, value in rendered.items()
        if key != "type" and key not in moved_keywords
    }
    if len(members) == 1:
        return {**rest, **members[0]}
    if "anyOf" in rest:
        # The schema already has an `anyOf`: a value must match a member of both, so the
        # existing `anyOf` is repeated in each new member.
        alternatives = rest.pop("anyOf")
        members = [{**member, "anyOf": alternatives} for member in members]
    return {**rest, "anyOf": members}
