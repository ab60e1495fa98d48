"""JSON values of literals in source code, and their schemas."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..json_schema.graph import JsonSchema
from ..json_schema.schema_errors import ValueChecker
from .modules import format_expression

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERAL_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    type(None): "null",
}


class UnknownTypeError(Exception):
    """Type or value without a known JSON Schema; the message has the reason."""


def read_literal_arguments(arguments: Sequence[ast.expr]) -> list[Any]:
    """Return the values of the arguments of a `Literal`.

    Raises:
        UnknownTypeError: an argument is not a valid value of a `Literal`.
    """
    values = [evaluate_literal(argument) for argument in arguments]
    for argument, value in zip(arguments, values, strict=True):
        if type(value) not in _LITERAL_TYPES:
            raise UnknownTypeError(
                f"`{format_expression(argument)}` is not a valid value of a `Literal`"
            )
    return values


def build_enum_schema(values: list[Any]) -> dict[str, Any]:
    """Return a schema with the values' types and an `enum` of the distinct values."""
    types = list(dict.fromkeys(_LITERAL_TYPES[type(value)] for value in values))
    # Compare the types, too: `True == 1` in Python, but they are different JSON values.
    distinct = [
        value for _, value in dict.fromkeys((type(value), value) for value in values)
    ]
    return {"type": types[0] if len(types) == 1 else types, "enum": distinct}


def evaluate_literal(node: ast.expr) -> Any:
    """Return the JSON value of a literal expression; a tuple becomes a list.

    Raises:
        UnknownTypeError: the expression is not a literal, or its value is not JSON,
            such as bytes, an infinite float or a string with a lone surrogate.
    """
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise UnknownTypeError(
            f"`{format_expression(node)}` is not a literal"
        ) from None
    if not _is_json(value):
        raise UnknownTypeError(f"`{format_expression(node)}` is not a JSON value")
    return list(value) if isinstance(value, tuple) else value


def is_valid_value(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether a value is valid under a schema."""
    return not ValueChecker(JsonSchema(dict(schema))).problem(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        keys_are_valid = all(isinstance(key, str) and _is_json(key) for key in value)
        return keys_are_valid and all(map(_is_json, value.values()))
    if isinstance(value, str):
        return _LONE_SURROGATE.search(value) is None
    return value is None or isinstance(value, int)
