"""Metadata of types: limits, descriptions, defaults and aliases, as pydantic reads them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from .literals import UnknownTypeError, evaluate_literal
from .modules import format_expression

# JSON Schema's keywords for arguments of pydantic's `Field` and classes of
# `annotated_types`.
_LIMIT_KEYWORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTH_PREFIXES = {"min_length": "min", "max_length": "max"}
_ANNOTATED_TYPES = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Le": ("le",),
    "Lt": ("lt",),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
    "Interval": ("gt", "ge", "lt", "le"),
}
"""The limits that the arguments of each class of `annotated_types` set, in order."""
_CONVERTING_METADATA = frozenset(
    f"pydantic.{name}"
    for name in "AfterValidator BeforeValidator WrapValidator Strict AllowInfNan".split()
)
"""Metadata that changes how pydantic converts a value, but not the schema."""
_IGNORED_ARGUMENTS = frozenset("""
    default default_factory alias validation_alias serialization_alias alias_priority repr strict
    frozen kw_only exclude validate_default init_var union_mode fail_fast allow_inf_nan
    coerce_numbers_to_str strip_whitespace to_lower to_upper ascii_only item_type max_digits
    decimal_places field_title_generator compare hash metadata
    """.split())
"""Arguments of `Field`, `constr` and the like that do not change the schema."""
CONSTRAINED_TYPES = {
    "pydantic.constr": "builtins.str",
    "pydantic.conint": "builtins.int",
    "pydantic.confloat": "builtins.float",
    "pydantic.conlist": "builtins.list",
    "pydantic.conset": "builtins.set",
    "pydantic.confrozenset": "builtins.frozenset",
    "pydantic.conbytes": "builtins.bytes",
    "pydantic.condecimal": "decimal.Decimal",
    "pydantic.condate": "datetime.date",
}
"""The type that each of these pydantic functions returns with additional limits."""


class FieldSettings(NamedTuple):
    """The settings of a parameter or field that are not part of its schema.

    Attributes:
        default: the default's expression.
        is_optional: whether there is a default, or a function that creates one.
        alias: the name that callers send; empty for the parameter's own name.
        is_described: whether the description is the field's own, and not that of its
            class.
        needs_pydantic: whether only pydantic can call a function with such a parameter.
    """

    default: ast.expr | None = None
    is_optional: bool = False
    alias: str = ""
    is_described: bool = False
    needs_pydantic: bool = False


def apply_metadata(
    called: object,
    metadata: ast.expr,
    schema: dict[str, Any],
    settings: FieldSettings,
) -> FieldSettings:
    """Add the metadata of a type to a schema in place; return the changed settings.

    Args:
        called: the dotted name of the function or class that the metadata calls.
        metadata: an argument of `Annotated`, or a default that calls pydantic's
            `Field`. A string is a description.
        schema: the schema of the type.
        settings: the settings of earlier metadata.

    Raises:
        UnknownTypeError: the metadata is unknown.
    """
    if isinstance(metadata, ast.Constant) and isinstance(metadata.value, str):
        schema["description"] = normalize_spaces(metadata.value)
        return settings._replace(is_described=True)
    call = metadata if isinstance(metadata, ast.Call) else ast.Call(metadata, [], [])
    name = called if isinstance(called, str) else ""
    package, _, class_name = name.rpartition(".")
    if name in ("typing.Doc", "annotated_doc.Doc") and call.args:
        text = evaluate_literal(call.args[0])
        schema["description"] = normalize_spaces(str(text))
        return settings._replace(is_described=True)
    if package == "annotated_types" and class_name in _ANNOTATED_TYPES:
        arguments = dict(zip(_ANNOTATED_TYPES[class_name], call.args, strict=False))
        arguments |= {k.arg: k.value for k in call.keywords if k.arg}
        for argument, node in arguments.items():
            if (value := evaluate_literal(node)) is not None:
                apply_argument(schema, argument, value)
        return settings
    if name in ("pydantic.Field", "pydantic.StringConstraints"):
        return _read_field(call, schema, settings)
    if name in _CONVERTING_METADATA:
        return settings._replace(needs_pydantic=True)
    raise UnknownTypeError(
        f"`{format_expression(metadata)}` is unknown metadata of a type"
    )


def _read_field(
    call: ast.Call, schema: dict[str, Any], settings: FieldSettings
) -> FieldSettings:
    arguments = {keyword.arg or "**": keyword.value for keyword in call.keywords}
    if call.args:
        arguments["default"] = call.args[0]
    apply_keywords(schema, arguments)
    if has_field_default(call):
        settings = settings._replace(
            default=arguments.get("default"),
            is_optional=True,
            # Called directly, the function would receive pydantic's `FieldInfo` object
            # instead of the default.
            needs_pydantic=True,
        )
    for argument in ("validation_alias", "alias"):
        if argument in arguments:
            node = arguments[argument]
            # pydantic's JSON Schema has the first name of `AliasChoices`.
            if isinstance(node, ast.Call) and node.args:
                node = node.args[0]
            alias = evaluate_literal(node)
            if not isinstance(alias, str):
                raise UnknownTypeError(f"`{argument}` is not a string")
            settings = settings._replace(alias=alias, needs_pydantic=True)
            break
    is_described = settings.is_described or "description" in arguments
    return settings._replace(is_described=is_described)


def has_field_default(call: ast.Call) -> bool:
    """Return whether a call of `Field` has a default, or a function that creates one.

    The default `...` means that there is none.
    """
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    default = call.args[0] if call.args else arguments.get("default")
    has_default = default is not None and not is_ellipsis(default)
    return has_default or "default_factory" in arguments


def apply_keywords(schema: dict[str, Any], arguments: Mapping[str, ast.expr]) -> None:
    """Add the arguments of `Field`, `constr` or a similar function to a schema.

    The schema is changed in place; arguments that set no keyword are skipped.

    Raises:
        UnknownTypeError: an argument is unknown or not a literal.
    """
    for argument, node in arguments.items():
        if argument not in _IGNORED_ARGUMENTS:
            value = evaluate_literal(node)
            # All these arguments have the default None, which sets no limit.
            if value is not None:
                apply_argument(schema, argument, value)


def apply_argument(schema: dict[str, Any], argument: str, value: Any) -> None:
    """Add one argument of `Field` to a schema.

    Raises:
        UnknownTypeError: the argument is unknown.
    """
    if argument in _LIMIT_KEYWORDS:
        schema[_LIMIT_KEYWORDS[argument]] = value
    elif argument in _LENGTH_PREFIXES:
        types = schema.get("type", "string")
        for type_ in [types] if isinstance(types, str) else types:
            suffix = {"array": "Items", "object": "Properties"}.get(type_, "Length")
            if type_ != "null":
                schema[f"{_LENGTH_PREFIXES[argument]}{suffix}"] = value
    elif argument == "description":
        schema["description"] = normalize_spaces(str(value))
    elif argument == "deprecated":
        if value is not False:
            schema["deprecated"] = True
    elif argument == "json_schema_extra" and isinstance(value, dict):
        schema.update(value)
    elif argument == "discriminator" and isinstance(value, str):
        if "anyOf" in schema:
            schema["oneOf"] = schema.pop("anyOf")
    elif argument in ("pattern", "title", "examples"):
        schema[argument] = value
    else:
        raise UnknownTypeError(f"`{argument}` is an unknown argument of `Field`")


def normalize_spaces(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())


def is_ellipsis(node: ast.expr) -> bool:
    """Return whether an expression is `...`."""
    return isinstance(node, ast.Constant) and node.value is ...
