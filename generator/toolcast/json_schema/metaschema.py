"""Checks a JSON Schema against the schema of its dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from ..model.spec_schema import KINDS, constraint, did_you_mean, kind_of, quoted_list
from ..reading.tree import Path
from .graph import JsonSchema

__all__ = ["SchemaProblem", "problems_with_schema", "validator_class"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

SchemaProblem = tuple[Path, str, str]
"""The path of a value in the schema, what is wrong with it, and what to do."""

_CLASSES = {
    "2020-12": "Draft202012Validator",
    "2019-09": "Draft201909Validator",
    "draft-07": "Draft7Validator",
    "draft-06": "Draft6Validator",
    "draft-04": "Draft4Validator",
}


@cache
def validator_class(dialect: str) -> Any:
    """jsonschema's validator class of a dialect, with `uniqueItems` in linear time."""
    import jsonschema

    extend: Any = jsonschema.validators.extend  # typeshed leaves it untyped
    kind = getattr(jsonschema, _CLASSES[dialect])
    return extend(kind, {"uniqueItems": _unique_items})


def _unique_items(validator: Any, asked: Any, value: Any, schema: Any) -> Iterator[Any]:
    """Compares items by their JSON text; jsonschema compares each one with each."""
    from jsonschema import ValidationError

    if asked and isinstance(value, list):
        texts = {json.dumps(item, sort_keys=True) for item in value}
        if len(texts) < len(value):
            yield ValidationError("has items that are the same")


def problems_with_schema(schema: JsonSchema) -> Iterator[SchemaProblem]:
    """What its dialect's own schema says against a schema; none for an unknown dialect."""
    if schema.dialect is None:
        return
    if schema.dialect != "draft-04" and _is_plainly_valid(schema):
        return
    seen: set[Path] = set()
    try:
        for error in _metaschema(schema.dialect).iter_errors(schema.value):
            error = _nearest(error)
            path: Path = tuple(error.absolute_path)
            if path not in seen:
                seen.add(path)
                yield (path, *_worded(path, error))
    except RecursionError:
        yield (), "the schema is nested too deep to be checked", "flatten it with `$defs`"


@cache
def _metaschema(dialect: str) -> Any:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

    kind = validator_class(dialect)
    return kind(kind.META_SCHEMA, registry=REGISTRY)


def _nearest(error: Any) -> Any:
    """The error inside of an `anyOf` that lies deepest, where that says more."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        deepest = max(error.context, key=lambda inner: len(inner.absolute_path))
        if len(deepest.absolute_path) == len(error.absolute_path):
            break
        error = deepest
    return error


def _worded(path: Path, error: Any) -> tuple[str, str]:
    value, keyword = error.instance, error.validator
    name = f"`{path[-1]}`" if path else "the schema"
    if path and isinstance(path[-1], int) and len(path) > 1:
        name = f"an entry of `{path[-2]}`"
    if path and (path[-1] == "type" or path[-2:-1] == ("type",)):
        if isinstance(value, str):
            meant = did_you_mean(value, TYPES) or f"the types are {quoted_list(TYPES)}"
            return f"`{value[:40]}` is no type of JSON Schema", meant
        return f"{name} must be a type or a list of different types", ""
    if keyword == "type":
        expected = error.validator_value
        kinds = [expected] if isinstance(expected, str) else list(expected)
        wanted = " or ".join(KINDS[kind] for kind in kinds)
        return f"{name} must be {wanted}, not {kind_of(value)}", _old_limit(path, value)
    if keyword in ("anyOf", "oneOf"):
        return f"{name} cannot be {kind_of(value)}", ""
    if keyword == "uniqueItems":
        return f"{name} names something twice", "remove one of the two"
    return f"{name} {constraint(keyword, error.validator_value, error.message)}", ""


def _old_limit(path: Path, value: Any) -> str:
    if path[-1:] in (("exclusiveMinimum",), ("exclusiveMaximum",)) and value is True:
        limit = str(path[-1]).removeprefix("exclusive").lower()
        return f"give `{path[-1]}` the number itself, and remove `{limit}`"
    if path[-1:] == ("required",) and isinstance(value, bool):
        return "list the names in `required` of the object that has the properties"
    return ""


def _is_plainly_valid(schema: JsonSchema) -> bool:
    """Whether a schema has only common keywords, each with the value it must have.

    True is proof; False only means that the metaschema decides. Nearly every tool's schema
    is plain, and the metaschema costs a hundred times as much.
    """
    return isinstance(schema.value, (dict, bool)) and all(
        _is_plain(subschema) for subschema in schema.subschemas.values()
    )


def _is_plain(schema: Mapping[str, Any]) -> bool:
    return all(
        _PLAIN[keyword](value) if keyword in _PLAIN else keyword not in _OTHER
        for keyword, value in schema.items()
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _are_named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(map(_is_text, value))
        and len(set(value)) == len(value)
    )


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _are_names(value) and all(map(_is_type, value))
    return value in TYPES if isinstance(value, str) else False


def _is_enum(value: Any) -> bool:
    return _are_names(value) and bool(value)


def _is_anything(value: Any) -> bool:
    return True


_PLAIN: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "required": _are_names,
    "enum": _is_enum,
    "default": _is_anything,
    "const": _is_anything,
    **dict.fromkeys(("$comment", "title", "description", "format"), _is_text),
    **dict.fromkeys(("pattern", "$ref", "$schema"), _is_text),
    **dict.fromkeys(
        ("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_boolean
    ),
    **dict.fromkeys(("minimum", "maximum"), _is_number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("items", "additionalProperties", "not"), _is_schema),
    **dict.fromkeys(("if", "then", "else", "propertyNames"), _is_schema),
    **dict.fromkeys(("anyOf", "allOf", "oneOf"), _are_schemas),
    **dict.fromkeys(("properties", "patternProperties"), _are_named_schemas),
    **dict.fromkeys(("$defs", "definitions"), _are_named_schemas),
}
# Keywords of some dialect that only its metaschema judges here.
_OTHER = frozenset(
    [
        *("$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"),
        *("$recursiveAnchor", "$vocabulary", "multipleOf", "contains", "minContains"),
        *("maxContains", "prefixItems", "additionalItems", "dependencies"),
        *("dependentSchemas", "dependentRequired", "unevaluatedItems"),
        *("unevaluatedProperties", "contentSchema", "contentEncoding"),
        *("contentMediaType", "examples"),
    ]
)
