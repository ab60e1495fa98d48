"""Comparison of the JSON Schema of a handler's class with the schema in the spec.

A class for arguments must accept all values that the spec's schema allows; a class for results must
return no other values. A mismatch is reported only if both schemas state it without doubt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..core.validation.references import References
from .python_values import get_conversion, get_encoding

_ACCEPTED_FORMATS = {
    "date": ("date", "date-time"),
    "datetime": ("date-time",),
    "time": ("time",),
    "timedelta": ("duration",),
    "UUID": ("uuid",),
    # A Decimal field also accepts numbers, so its schema has no format to compare.
    "Decimal": (),
    "bytes": ("binary",),
}
"""Formats of the class fields that accept a Python value, by the value's type."""

_VALIDATED_FORMATS = frozenset(("date", "date-time", "time", "duration", "uuid"))
"""Formats that a class field with a Python type such as `date` validates."""

_LOWER_LIMITS = (
    "minLength",
    "minItems",
    "minProperties",
    "minimum",
    "exclusiveMinimum",
)
_UPPER_LIMITS = (
    "maxLength",
    "maxItems",
    "maxProperties",
    "maximum",
    "exclusiveMaximum",
)
_EXACT_LIMITS = ("pattern", "multipleOf")
_COMBINED = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_MAX_LEVELS = 20
"""Maximum nesting of models that are compared with the spec."""
_MAX_PARTS = 50
"""Maximum number of alternatives and references that are followed for one value."""
_MAX_VALUE_CHARACTERS = 60
"""Maximum length of a value in a message."""

Schema = Mapping[str, Any]


def find_mismatches(
    class_schema: Schema, schema: Schema, *, is_result: bool, has_values: bool
) -> list[str]:
    """Return a message for each mismatch of a class with a spec; empty if they match.

    Args:
        class_schema: the JSON Schema of the class, from Pydantic.
        schema: the JSON Schema in the spec.
        is_result: whether the handler returns the class; otherwise it receives it.
        has_values: whether strings with a format are Python values.
    """
    comparison = _ModelComparison(class_schema, schema, is_result, has_values)
    return list(dict.fromkeys(comparison.compare(class_schema, schema, "", 0)))


class _ModelComparison:
    """Comparison of a class's JSON Schema with the schema in the spec."""

    def __init__(
        self, class_schema: Schema, schema: Schema, is_result: bool, has_values: bool
    ) -> None:
        self._class_references = References(class_schema)
        self._references = References(schema)
        self._is_result = is_result
        self._has_values = has_values
        self._compared: set[tuple[int, int]] = set()

    def compare(
        self, class_schema: Any, schema: Any, path: str, level: int
    ) -> Iterator[str]:
        """Yield the mismatches of two schemas for the value at a path."""
        class_parts, allows_none = _list_alternatives(
            class_schema, self._class_references
        )
        parts, allows_null = _list_alternatives(schema, self._references)
        if not class_parts or not parts or level > _MAX_LEVELS:
            return
        subject = f"`{path}`" if path else "it"
        if self._is_result and allows_none and not allows_null:
            yield f"{subject} may be None, but `returns` does not allow null"
        if not self._is_result and allows_null and not allows_none:
            yield f"{subject} may be null, which the class does not accept"
        class_types = [_get_type(part) for part in class_parts]
        types = [_get_type(part) for part in parts]
        if None in class_types or None in types:
            return
        # Every source type must fit a target type: the class's values must fit the schema of
        # a result, and callers' arguments must fit the class.
        sources, targets = class_types, types
        if not self._is_result:
            sources, targets = types, class_types
        if not any(
            source == target or (source, target) == ("integer", "number")
            for source in sources
            for target in targets
        ):
            class_text = " or ".join(map(str, class_types))
            text = " or ".join(map(str, types))
            yield f"{subject} is of type {class_text}, but {text} in the spec"
        elif len(class_parts) == len(parts) == 1 and class_types == types:
            pair = (id(class_parts[0]), id(parts[0]))
            # Compare each pair of schemas only once, because a class may contain itself.
            if pair not in self._compared:
                self._compared.add(pair)
                yield from self._compare_type(class_parts[0], parts[0], path, level)

    def _compare_type(
        self, class_schema: Schema, schema: Schema, path: str, level: int
    ) -> Iterator[str]:
        """Yield the mismatches of two schemas with the same type."""
        subject = f"`{path}`" if path else "it"
        class_values, values = _get_values(class_schema), _get_values(schema)
        if self._is_result:
            for value in class_values or ():
                if values is not None and value not in values:
                    text = _format_value(value)
                    yield f"{subject} may be {text}, which `returns` does not allow"
        elif values is not None:
            for value in values:
                if class_values is not None and value not in class_values:
                    text = _format_value(value)
                    yield f"{subject} does not accept {text}, which callers may send"
        elif class_values is not None:
            yield f"{subject} accepts only some values, but the spec has no `enum`"
        else:
            yield from _compare_limits(class_schema, schema, subject)
        if _get_type(schema) == "string" and values is None:
            yield from self._compare_formats(class_schema, schema, subject)
        elif _get_type(schema) == "object":
            yield from self._compare_members(class_schema, schema, path, level)
        elif _get_type(schema) == "array":
            items = class_schema.get("items"), schema.get("items")
            yield from self.compare(*items, f"{path}[]", level + 1)

    def _compare_formats(
        self, class_schema: Schema, schema: Schema, subject: str
    ) -> Iterator[str]:
        class_format, format_ = class_schema.get("format"), schema.get("format")
        conversion = get_conversion(schema)
        if self._has_values and conversion is not None and not self._is_result:
            if class_format not in _ACCEPTED_FORMATS[conversion.type]:
                value = f"a Python {conversion.type}"
                yield f"{subject} gets {value}, which it does not accept"
        elif class_format == "binary":
            if get_encoding(schema) and not self._has_values:
                yield f"{subject} is bytes, which requires `values: python`"
        elif (
            class_format in _VALIDATED_FORMATS
            and class_format != format_
            and "pattern" not in schema
            and (format_ in _VALIDATED_FORMATS or not self._is_result)
        ):
            spec_format = format_ or "none"
            yield f"{subject} is of format {class_format}, but {spec_format} in the spec"

    def _compare_members(
        self, class_schema: Schema, schema: Schema, path: str, level: int
    ) -> Iterator[str]:
        fields, properties = class_schema.get("properties"), schema.get("properties")
        if not isinstance(fields, Mapping) or not isinstance(properties, Mapping):
            return
        prefix = f"{path}." if path else ""
        subject = f"`{path}`" if path else "it"
        class_required = class_schema.get("required", ())
        required = schema.get("required", ())
        if self._is_result:
            for name in required:
                if name not in fields:
                    yield f"{subject} has no `{prefix}{name}`, which is required"
            if schema.get("additionalProperties", True) is False:
                for name in fields:
                    if name not in properties:
                        yield f"`{prefix}{name}` is not in `returns`"
        else:
            if not is_open(class_schema):
                for name in properties:
                    if name not in fields:
                        yield f"{subject} has no `{prefix}{name}`, which callers may send"
            # With `allOf` or a similar keyword the spec may require further properties, so
            # compare `required` only without such keywords.
            if not any(keyword in schema for keyword in _COMBINED):
                for name in class_required:
                    if name not in required:
                        yield f"{subject} requires `{prefix}{name}`, which callers may omit"
        for name in fields:
            if name in properties:
                yield from self.compare(
                    fields[name], properties[name], f"{prefix}{name}", level + 1
                )


def is_open(class_schema: Schema) -> bool:
    """Return whether a class accepts properties that it has no field for."""
    return bool(class_schema.get("additionalProperties", False))


def _list_alternatives(
    schema: Any, references: References
) -> tuple[list[Schema], bool]:
    """Return the schemas of a value's alternatives, and whether null is valid.

    Follows references, `anyOf`, `oneOf` and lists of types. The alternative null is not in the
    list. If a part cannot be resolved, the result is ([], False), which means unknown.
    """
    alternatives: list[Schema] = []
    queue, part_count, allows_null = [schema], 0, False
    while queue:
        part = queue.pop(0)
        part_count += 1
        if not isinstance(part, Mapping) or part_count > _MAX_PARTS:
            return [], False
        reference = part.get("$ref")
        if isinstance(reference, str):
            try:
                queue.append(references.resolve(reference))
            except LookupError:
                return [], False
            continue
        branches = part.get("anyOf", part.get("oneOf"))
        if isinstance(branches, list) and "properties" not in part:
            queue += branches
            continue
        types = part.get("type")
        if isinstance(types, list):
            queue += [{**part, "type": type_} for type_ in types]
        elif types == "null":
            allows_null = True
        else:
            if types is None and None in part.get("enum", ()):
                allows_null = True
            alternatives.append(part)
    return alternatives, allows_null


def _get_type(schema: Schema) -> str | None:
    """Return the JSON type of a schema; None if it has none or several."""
    type_ = schema.get("type")
    if isinstance(type_, str):
        return type_
    python_types = {
        type(value) for value in _get_values(schema) or () if value is not None
    }
    return "string" if python_types == {str} else None


def _get_values(schema: Schema) -> Sequence[Any] | None:
    """Return the values that `const` or `enum` allow, without null; None for any value."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    return [value for value in values if value is not None]


def _compare_limits(
    class_schema: Schema, schema: Schema, subject: str
) -> Iterator[str]:
    """Yield a message for each limit of a class that the spec's limits do not imply."""
    for keyword in (*_LOWER_LIMITS, *_UPPER_LIMITS, *_EXACT_LIMITS):
        class_limit, limit = class_schema.get(keyword), schema.get(keyword)
        if class_limit is None:
            continue
        # Skip, for example, `minimum` if the spec has `exclusiveMinimum`: limits of different
        # kinds are not compared.
        if keyword.endswith("imum") and _get_counterpart(keyword) in schema:
            continue
        is_implied = limit is not None and (
            limit == class_limit
            or (keyword in _LOWER_LIMITS and limit > class_limit)
            or (keyword in _UPPER_LIMITS and limit < class_limit)
        )
        if not is_implied:
            text = _format_value(class_limit)
            yield f"{subject} has `{keyword}: {text}`, which the spec lacks"


def _get_counterpart(keyword: str) -> str:
    """Return `minimum` for `exclusiveMinimum`, and the reverse."""
    if keyword.startswith("exclusive"):
        return keyword.removeprefix("exclusive").lower()
    return f"exclusive{keyword.capitalize()}"


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    if len(text) <= _MAX_VALUE_CHARACTERS:
        return text
    return f"{text[: _MAX_VALUE_CHARACTERS - 3]}..."
