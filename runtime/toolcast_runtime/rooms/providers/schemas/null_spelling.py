"""The ways to say "or null" in a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .dialect import ANNOTATIONS, Nullable
from .json_types import is_of_type, type_name, types_of

_OF_TYPE = {
    "string": "minLength maxLength pattern format".split(),
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(),
    "array": "items prefixItems minItems maxItems uniqueItems contains".split(),
    "object": (
        "properties required additionalProperties patternProperties propertyNames"
        " minProperties maxProperties"
    ).split(),
}
_OF_TYPE["integer"] = _OF_TYPE["number"]
_OF_ANY_TYPE = frozenset(["enum", "const"])
_MOST_STEPS = 40


def takes_null(
    schema: Any, target: Callable[[str], Any], steps: int = _MOST_STEPS
) -> bool:
    """Whether a schema surely allows null.

    Args:
        schema: of the spec.
        target: gives what a reference names; LookupError when that is nothing.
        steps: how far references and alternatives are followed.
    """
    return _takes_null(schema, target, steps, {})


def _takes_null(
    schema: Any, target: Callable[[str], Any], steps: int, known: dict[int, bool]
) -> bool:
    if not isinstance(schema, Mapping) or not steps:
        return schema is True
    if id(schema) not in known:
        known[id(schema)] = False  # While it is looked at, it leads back to itself.
        known[id(schema)] = _looked_at(schema, target, steps, known)
    return known[id(schema)]


def _looked_at(
    schema: Mapping[str, Any],
    target: Callable[[str], Any],
    steps: int,
    known: dict[int, bool],
) -> bool:
    if not schema.keys() & {"not", "if", "$dynamicRef", "$recursiveRef"}:
        allowed = []
        if "enum" in schema:
            allowed.append(None in schema["enum"])
        if "const" in schema:
            allowed.append(schema["const"] is None)
        if "type" in schema:
            allowed.append("null" in (types_of(schema) or ()))
        if "$ref" in schema:
            try:
                named = target(schema["$ref"])
            except LookupError:
                return False
            allowed.append(_takes_null(named, target, steps - 1, known))
        for key, combine in (("anyOf", any), ("oneOf", any), ("allOf", all)):
            if key in schema:
                members = [
                    _takes_null(one, target, steps - 1, known) for one in schema[key]
                ]
                allowed.append(combine(members))
        return all(allowed)
    return False


def nullable_schema(rendered: dict[str, Any], spelling: Nullable) -> dict[str, Any]:
    """A rendered schema that allows null besides."""
    types = types_of(rendered)
    is_plain = types is not None and not rendered.keys() & {
        "$ref",
        "anyOf",
        "oneOf",
        "const",
    }
    if is_plain and spelling is not Nullable.ANY_OF:
        return _with_null(rendered)
    words = {key: rendered[key] for key in rendered if key in ANNOTATIONS}
    rest = {key: value for key, value in rendered.items() if key not in words}
    if rest.keys() == {"anyOf"}:
        return {**words, "anyOf": [*rest["anyOf"], {"type": "null"}]}
    return {**words, "anyOf": [rest, {"type": "null"}]}


def spelled(rendered: dict[str, Any], spelling: Nullable) -> dict[str, Any]:
    """A rendered schema, its alternative to null spelled the provider's way."""
    if spelling is Nullable.ANY:
        return rendered
    if spelling is Nullable.TYPE_LIST:
        return _as_type_list(rendered)
    types = types_of(rendered)
    if types is None and None in rendered.get("enum", ()):
        types = [*dict.fromkeys(map(type_name, rendered["enum"]))]
        return _without_type_list(rendered, types)
    if isinstance(rendered.get("type"), (list, tuple)) and types:
        return _without_type_list(rendered, types)
    return rendered


def _with_null(rendered: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a type, or some, that allows null besides."""
    both = dict(rendered)
    types = types_of(both) or []
    both["type"] = [*types, *(["null"] if "null" not in types else [])]
    if "enum" in both and None not in both["enum"]:
        both["enum"] = [*both["enum"], None]
    return both


def _as_type_list(rendered: dict[str, Any]) -> dict[str, Any]:
    members = rendered.get("anyOf")
    if not isinstance(members, list) or len(members) != 2:
        return rendered
    others = [one for one in members if types_of(one) != ["null"]]
    if len(others) != 1 or not types_of(others[0]):
        return rendered
    if others[0].keys() & {"anyOf", "const"}:
        return rendered
    rest = {key: value for key, value in rendered.items() if key != "anyOf"}
    if not rest.keys() <= ANNOTATIONS:
        return rendered
    return {**_with_null(others[0]), **rest}


def _without_type_list(rendered: dict[str, Any], types: list[str]) -> dict[str, Any]:
    """One alternative a type, each with the keywords that are about it."""
    used = {key for one in types for key in _OF_TYPE.get(one, ())} | _OF_ANY_TYPE
    members = []
    for name in types:
        member: dict[str, Any] = {"type": name}
        for key in _OF_TYPE.get(name, ()):
            if key in rendered:
                member[key] = rendered[key]
        values = rendered.get(
            "enum", [rendered["const"]] if "const" in rendered else None
        )
        if values is not None:
            own = [value for value in values if is_of_type(value, [name])]
            if not own:
                continue
            if name != "null":
                member["enum"] = own
        members.append(member)
    if not members:  # No value of `enum` is of one of the types.
        return {**rendered, "type": types[0]}
    rest = {k: v for k, v in rendered.items() if k != "type" and k not in used}
    if len(members) == 1:
        return {**rest, **members[0]}
    if "anyOf" in rest:  # Both have to hold.
        alternatives = rest.pop("anyOf")
        members = [{**one, "anyOf": alternatives} for one in members]
    return {**rest, "anyOf": members}
