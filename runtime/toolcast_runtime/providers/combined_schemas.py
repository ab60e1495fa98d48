"""What schemas say: of which types, two of them as one, either of several, or null.

Nothing here knows a dialect's words, but for the ways to spell null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from .dialect import ANNOTATIONS, Nullable, only_annotated

_TYPES = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (Mapping, "object"),
    ((list, tuple), "array"),
    (type(None), "null"),
)
_TOGETHER = (
    frozenset("properties patternProperties additionalProperties".split()),
    frozenset("prefixItems items additionalItems".split()),
    frozenset("contains minContains maxContains".split()),
    frozenset("if then else".split()),
    frozenset(["unevaluatedProperties"]),
    frozenset(["unevaluatedItems"]),
)
"""Keywords that depend on each other within their own schema."""

_LOWEST = "minimum exclusiveMinimum minLength minItems minProperties".split()
_HIGHEST = "maximum exclusiveMaximum maxLength maxItems maxProperties".split()
_TIGHTER: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_LOWEST, max),
    **dict.fromkeys(_HIGHEST, min),
}
_OF_NUMBERS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
_OF_TYPE = {
    "string": "minLength maxLength pattern format".split(),
    "number": _OF_NUMBERS,
    "integer": _OF_NUMBERS,
    "array": "items prefixItems minItems maxItems uniqueItems contains".split(),
    "object": (
        "properties required additionalProperties patternProperties propertyNames"
        " minProperties maxProperties"
    ).split(),
}
_OF_ANY_TYPE = frozenset(["enum", "const"])
_MAX_REFERENCES = 40
"""References that are followed one after another."""


class InexactError(Exception):
    """Two schemas without a simple equivalent; the argument is the keyword that prevents it."""


def type_name(value: Any) -> str:
    """The type of a JSON value; of a number that is not a Python int, `number`."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "number")


def types_of(schema: Mapping[str, Any]) -> list[str] | None:
    """The types that a schema names; None when it names none."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    return list(named) if isinstance(named, (list, tuple)) else None


def is_of_type(value: Any, types: Sequence[str] | None) -> bool:
    """Whether a value may be of one of some types; of None it may be."""
    return types is None or _wide([type_name(value)]) <= _wide(types)


def _wide(types: Sequence[str]) -> set[str]:
    """Types, of which a whole number is no other than any."""
    return {"number" if one == "integer" else one for one in types}


def typed_values(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """A schema that names the types of the values that it lists, and lists no others.

    Returns:
        None when it allows none of them.
    """
    keyword = next((key for key in ("enum", "const") if key in schema), None)
    values = schema.get("enum", [schema.get("const")])
    if keyword is None or not isinstance(values, (list, tuple)) or not values:
        return dict(schema)
    own = [value for value in values if is_of_type(value, types_of(schema))]
    if not own:
        return None
    types = list(dict.fromkeys(map(type_name, own)))
    typed = {"type": types[0] if len(types) == 1 else types, **schema}
    if types_of(typed) == ["null"]:
        del typed[keyword]
    elif keyword == "enum":
        typed["enum"] = own
    return typed


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of exactly the values that both allow; words of the first win.

    Raises:
        InexactError: there is none that is as simple.
    """
    if "$ref" in first or "$ref" in second:
        if only_annotated(second) or only_annotated(first):
            return {**second, **first}
        raise InexactError("$ref")
    both = dict(first)
    for group in _TOGETHER:
        mine, its = group & first.keys(), group & second.keys()
        if mine and its and not _only_properties(first, second, mine | its):
            raise InexactError(sorted(mine | its)[0])
    for key, value in second.items():
        if key not in both:
            both[key] = value
        elif key not in ANNOTATIONS and not _equal(both[key], value):
            both[key] = _both(key, both[key], value)
    return both


def _only_properties(
    first: Mapping[str, Any], second: Mapping[str, Any], used: frozenset[str]
) -> bool:
    """Whether two objects are open to each other's properties, or declare the same ones."""
    if used == {"properties"}:
        return True
    if used != {"properties", "additionalProperties"}:
        return all(_equal(first.get(key), second.get(key)) for key in used)
    names = [set(one.get("properties", ())) for one in (first, second)]
    further = [one.get("additionalProperties", True) for one in (first, second)]
    if further[0] is False and names[1] <= names[0]:
        return further[1] is True or (further[1] is False and names[0] == names[1])
    if further[0] is not True:
        return False
    return further[1] is True or (further[1] is False and names[0] <= names[1])


def _both(key: str, first: Any, second: Any) -> Any:
    if key in _TIGHTER:
        return _TIGHTER[key](first, second)
    if key == "type":
        return _common_types(first, second)
    if key == "required":
        return list(dict.fromkeys([*first, *second]))
    if key == "enum":
        common = [one for one in first if any(_equal(one, other) for other in second)]
        if common:
            return common
    if key == "properties":
        shared = {
            name: _merged_values(schema, second[name]) if name in second else schema
            for name, schema in first.items()
        }
        return {**shared, **{n: s for n, s in second.items() if n not in first}}
    if key == "additionalProperties":  # One is false; all else was refused before.
        return False
    raise InexactError(key)


def _merged_values(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return merged(first, second)
    if True in (first, second):
        return second if first is True else first
    raise InexactError("properties")


def _common_types(first: Any, second: Any) -> Any:
    mine, its = types_of({"type": first}) or [], types_of({"type": second}) or []
    common = [
        one for one in mine if one in its or (one == "integer" and "number" in its)
    ]
    if "number" in mine and "integer" in its and "integer" not in common:
        common.append("integer")
    if not common:
        raise InexactError("type")
    return common[0] if len(common) == 1 else common


def _equal(first: Any, second: Any) -> bool:
    """Whether two JSON values are one; true is not 1."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            _equal(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_equal, first, second))
    return bool(first == second)


def exclude_each_other(members: Sequence[Any]) -> bool:
    """Whether no value can be of two alternatives, so that `anyOf` says what `oneOf` says."""
    return all(_are_disjoint(*pair) for pair in combinations(members, 2))


def one_object(
    base: Mapping[str, Any], members: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """An object that takes whatever one of the alternatives takes, and more.

    Args:
        base: what holds for all of them.
        members: the alternatives.

    Returns:
        None when one of them is no object.
    """
    if any((types_of(one) or ["object"]) != ["object"] for one in members):
        return None
    if not all(isinstance(one.get("properties", {}), Mapping) for one in members):
        return None
    ways: dict[str, list[Any]] = {}
    for member in members:
        for name, schema in member.get("properties", {}).items():
            known = ways.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    own = dict(base.get("properties", {}))
    if base.get("additionalProperties") is False:  # It refuses what they add.
        ways = {name: known for name, known in ways.items() if name in own}
    properties = {name: own.get(name, _any_of(known)) for name, known in ways.items()}
    required = [set(one.get("required", ())) for one in members]
    common = set.intersection(*required) if required else set()
    needed = dict.fromkeys(base.get("required", ()))
    first = members[0].get("required", ()) if members else ()
    needed.update(dict.fromkeys(name for name in first if name in common))
    whole = {**base, "type": "object", "properties": {**own, **properties}}
    if needed:
        whole["required"] = list(needed)
    if members and all(one.get("additionalProperties") is False for one in members):
        whole["additionalProperties"] = False
    return whole


def _any_of(schemas: list[Any]) -> Any:
    if len(schemas) == 1:
        return schemas[0]
    values = [_values(schema) for schema in schemas]
    if all(values):
        of_each: list[Any] = []
        for known in values:
            of_each += [one for one in known or () if one not in of_each]
        types = {t for schema in schemas for t in types_of(schema) or ()}
        one_type = {"type": types.pop()} if len(types) == 1 else {}
        words = {k: v for k, v in schemas[0].items() if k == "description"}
        return {**one_type, **words, "enum": of_each}
    return {"anyOf": schemas}


def _values(schema: Any) -> list[Any] | None:
    """All values of a schema that lists them."""
    if isinstance(schema, Mapping):
        if "const" in schema:
            return [schema["const"]]
        if isinstance(schema.get("enum"), (list, tuple)):
            return list(schema["enum"])
    return None


def _are_disjoint(first: Any, second: Any) -> bool:
    if first is False or second is False:
        return True
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return False
    mine, its = _values(first), _values(second)
    if mine is not None and its is not None:
        return not any(one in its for one in mine)
    types = types_of(first), types_of(second)
    if types[0] is not None and types[1] is not None:
        if not _wide(types[0]) & _wide(types[1]):
            return True
        if types[0] != ["object"] or types[1] != ["object"]:
            return False
        needed = set(first.get("required", ())) & set(second.get("required", ()))
        mine, its = first.get("properties", {}), second.get("properties", {})
        return any(
            _are_disjoint(mine[name], its[name])
            for name in needed
            if name in mine and name in its
        )
    return False


def takes_null(
    schema: Any,
    target: Callable[[str], Any],
    steps: int = _MAX_REFERENCES,
    known: dict[int, bool] | None = None,
) -> bool:
    """Whether a schema surely allows null.

    Args:
        schema: of the spec.
        target: gives what a reference names; LookupError when that is nothing.
        steps: how far references and alternatives are followed.
        known: the answers that are found already, by the schemas' `id`.
    """
    if not isinstance(schema, Mapping) or not steps:
        return schema is True
    known = {} if known is None else known
    if id(schema) in known:
        return known[id(schema)]
    known[id(schema)] = False  # While it is looked at, it leads back to itself.
    if schema.keys() & {"not", "if", "$dynamicRef", "$recursiveRef"}:
        return False
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
        allowed.append(takes_null(named, target, steps - 1, known))
    for key, combine in (("anyOf", any), ("oneOf", any), ("allOf", all)):
        if key in schema:
            members = [takes_null(one, target, steps - 1, known) for one in schema[key]]
            allowed.append(combine(members))
    known[id(schema)] = all(allowed)
    return known[id(schema)]


def nullable_schema(rendered: dict[str, Any], spelling: Nullable) -> dict[str, Any]:
    """A rendered schema that allows null besides."""
    types = types_of(rendered)
    is_plain = rendered.keys().isdisjoint(["$ref", "anyOf", "oneOf", "const"])
    if types is not None and is_plain and spelling is not Nullable.ANY_OF:
        return _with_null(rendered)
    words = {key: value for key, value in rendered.items() if key in ANNOTATIONS}
    rest = {key: value for key, value in rendered.items() if key not in words}
    members = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return {**words, "anyOf": [*members, {"type": "null"}]}


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
    if not only_annotated(rest):
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
