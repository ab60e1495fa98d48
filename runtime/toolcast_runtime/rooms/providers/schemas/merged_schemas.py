"""Two schemas of one value as one: what `allOf` says without `allOf`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .dialect import ANNOTATIONS
from .json_types import types_of

_TOGETHER = (
    frozenset("properties patternProperties additionalProperties".split()),
    frozenset("prefixItems items additionalItems".split()),
    frozenset("contains minContains maxContains".split()),
    frozenset("if then else".split()),
    frozenset(["unevaluatedProperties"]),
    frozenset(["unevaluatedItems"]),
)
"""Keywords that depend on each other within their own schema."""

_TIGHTER: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(
        "minimum exclusiveMinimum minLength minItems minProperties".split(), max
    ),
    **dict.fromkeys(
        "maximum exclusiveMaximum maxLength maxItems maxProperties".split(), min
    ),
}


class Inexact(Exception):
    """No one schema says what the two say; the argument is the keyword that hinders it."""


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of exactly the values that both allow; words of the first win.

    Raises:
        Inexact: there is none that is as simple.
    """
    if "$ref" in first or "$ref" in second:
        for one, other in ((first, second), (second, first)):
            if other.keys() <= ANNOTATIONS:
                return {**other, **one} if one is first else {**one, **other}
        raise Inexact("$ref")
    both = dict(first)
    for group in _TOGETHER:
        mine, its = group & first.keys(), group & second.keys()
        if mine and its and not _only_properties(first, second, mine | its):
            raise Inexact(sorted(mine | its)[0])
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
    if used == {"properties", "additionalProperties"}:
        open_ = [
            one.get("additionalProperties", True) is True for one in (first, second)
        ]
        if all(open_):
            return True
        names = [set(one.get("properties", ())) for one in (first, second)]
        further = [one.get("additionalProperties", True) for one in (first, second)]
        if further[0] is False and names[1] <= names[0]:
            return further[1] is True or (further[1] is False and names[0] == names[1])
        return further[1] is False and names[0] <= names[1] and open_[0]
    return all(_equal(first.get(key), second.get(key)) for key in used)


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
    if key == "additionalProperties" and False in (first, second):
        return False
    raise Inexact(key)


def _merged_values(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return merged(first, second)
    if True in (first, second):
        return second if first is True else first
    raise Inexact("properties")


def _common_types(first: Any, second: Any) -> Any:
    mine, its = types_of({"type": first}) or [], types_of({"type": second}) or []
    common = [
        one for one in mine if one in its or (one == "integer" and "number" in its)
    ]
    if "number" in mine and "integer" in its and "integer" not in common:
        common.append("integer")
    if not common:
        raise Inexact("type")
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
