"""The types of JSON values, and those that a schema names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (Mapping, "object"),
    ((list, tuple), "array"),
    (type(None), "null"),
)


def type_name(value: Any) -> str:
    """The type of a JSON value; of a number that is not a Python int, `number`."""
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "number")


def types_of(schema: Mapping[str, Any]) -> list[str] | None:
    """The types that a schema names; None when it names none."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    return list(named) if isinstance(named, (list, tuple)) else None


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


def is_of_type(value: Any, types: list[str] | None) -> bool:
    """Whether a value may be of one of some types; of None it may be."""
    if types is None:
        return True
    own = type_name(value)
    if own in ("integer", "number"):
        return "number" in types or "integer" in types
    return own in types
