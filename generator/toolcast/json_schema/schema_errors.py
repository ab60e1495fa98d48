"""Explain why a value does not match a schema, and why a schema is not valid.

jsonschema-rs decides whether a value is valid, in bounded time, as it does for the arguments of
calls. `jsonschema` then produces the error messages, because its errors contain the path, the
schema and the errors of each alternative. It is plain Python and can be slow, so it validates
only small values and schemas without expensive keywords, and jsonschema-rs matches all patterns
(Python's `re` has no time limit). If `jsonschema` is not used or finds no error, the messages
are those of jsonschema-rs. An invalid schema explains nothing: rules report it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from toolcast_runtime.core.validation.compiled import (
    PartValidators,
    build_validator,
    describe_format,
)
from toolcast_runtime.core.validation.explanation import shorten_path
from toolcast_runtime.core.validation.limits import count_max_visits, measure_value
from toolcast_runtime.core.validation.references import restore_names

from ..parsing.tree import Path
from ..suggestions import (
    describe_value,
    did_you_mean,
    format_path,
    format_quoted_list,
    format_types,
)
from .dialects import METASCHEMAS, build_metaschema_validator
from .graph import JsonSchema

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import ValidationError

_MAX_VALUES = 2_000
"""Values inside a document up to which all errors are collected."""
_MAX_CHARACTERS = 200_000
"""Characters of a document up to which all errors are collected."""


def list_errors(
    validator: Any, explainer: Any, value: Any, max_values: int = _MAX_VALUES
) -> Iterator[ValidationError]:
    """Yield the errors of an invalid value, one for each path and keyword.

    Args:
        validator: the jsonschema-rs validator that rejected the value.
        explainer: the result of `build_explainer` for the same schema, or None.
        value: the invalid value.
        max_values: number of values in `value` up to which jsonschema-rs returns all errors.
            It collects all errors before it returns the first, which is slow for large
            values; for those only the first error is requested.
    """
    from referencing.exceptions import Unresolvable

    size, found = measure_value(value), list[Any]()
    is_small = size.values <= _MAX_VALUES and size.characters <= _MAX_CHARACTERS
    if explainer is not None and is_small:
        with suppress(ArithmeticError, RecursionError, Unresolvable):
            found = list(explainer.iter_errors(value))
    seen: set[tuple[Path, Any]] = set()
    for error in found or _list_engine_errors(
        validator, value, every=size.values <= max_values
    ):
        key = tuple(error.path), error.validator
        if key not in seen:
            seen.add(key)
            yield error


def build_explainer(schema: Any, dialect: str, *, asserts_formats: bool = False) -> Any:
    """Build the `jsonschema` validator that explains the errors of a schema.

    Args:
        schema: an object without external references, `patternProperties`, or `$schema` below
            its root.
        dialect: a value of `DIALECTS`.
        asserts_formats: whether `format` is validated.
    """
    from jsonschema import validators
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it ships no types

    keywords = {
        "pattern": _delegate_keyword("pattern"),
        "propertyNames": _check_property_names,
    }
    if asserts_formats:
        keywords["format"] = _delegate_keyword("format")
    library: Any = validators
    kind = library.extend(getattr(library, METASCHEMAS[dialect][0]), keywords)
    # With `$schema`, `jsonschema` would use that dialect's unmodified validator, with `re`.
    schema = {key: value for key, value in schema.items() if key != "$schema"}
    # The default registry fetches unknown URIs; this one does not.
    return kind(schema, registry=REGISTRY)


def _delegate_keyword(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    """Return a `jsonschema` keyword function that validates with jsonschema-rs."""

    def check_keyword(
        _: Any, expected: Any, value: Any, __: Any
    ) -> Iterator[ValidationError]:
        if isinstance(value, str):
            validator = _build_keyword_validator(keyword, expected)
            yield from _list_engine_errors(validator, value, every=False)

    return check_keyword


def _check_property_names(
    validator: Any, names: Any, value: Any, _: Any
) -> Iterator[ValidationError]:
    """Validate `propertyNames` with the property's name in the path of each error."""
    for name in value if isinstance(value, dict) else ():
        yield from validator.descend(name, names, path=name)


@lru_cache(maxsize=100)
def _build_keyword_validator(keyword: str, expected: str) -> Any:
    return build_validator({keyword: expected}, asserts_formats=True)


def _list_engine_errors(
    validator: Any, value: Any, *, every: bool
) -> Iterator[ValidationError]:
    """Yield every error, or only the first, that jsonschema-rs finds in a value.

    A pattern that reaches the engine's match limit is not an error of the value; it is omitted.
    """
    import jsonschema_rs

    errors: Iterable[Any] = ()
    if every:
        errors = validator.iter_errors(value)
    else:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            errors = (error,)
    converted = (_convert_error(error, value) for error in errors)
    return (error for error in converted if error is not None)


def _convert_error(
    error: jsonschema_rs.ValidationError, value: Any
) -> ValidationError | None:
    """Convert an error of jsonschema-rs to an error of `jsonschema`.

    None if a pattern reached the match limit of the engine.
    """
    import jsonschema

    kind: Any = error.kind
    details = kind.as_dict()
    if kind.name == "propertyNames":
        name_error = _convert_error(details["error"], value)
        if name_error is not None and isinstance(name_error.instance, str):
            name_error.path.append(name_error.instance)
        return name_error
    if "error" in details:
        return None
    return jsonschema.ValidationError(
        error.message,
        validator=kind.name,
        path=restore_names(value, error.instance_path),
        instance=error.instance,
        validator_value=next(iter(details.values()), None),
        schema_path=error.schema_path,
    )


TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

SchemaProblem = tuple[Path, str, str]
"""Path of a value in the schema, message, and help (may be empty)."""


def find_schema_problems(schema: JsonSchema) -> Iterator[SchemaProblem]:
    """Yield the problems of a schema by its metaschema, one for each path.

    Nothing is yielded if the dialect is unknown. The problems of a valid schema are
    `$id` values that are not URI references.
    """
    if schema.dialect is None:
        return
    if schema.is_valid:
        for path in schema.invalid_ids:
            help_ = f"remove `{path[-1]}`: the schema of a tool does not need it"
            yield path, f"`{path[-1]}` is not a URI reference", help_
        return
    validator = build_metaschema_validator(schema.dialect)
    explainer = _build_metaschema_explainer(schema.dialect)
    reported: set[Path] = set()
    for start in ((), *schema.named):
        part = schema.get_value(start)
        if validator.is_valid(part):
            continue
        label = "the target of a `$ref`" if start else "the schema"
        for error in map(_find_deepest_error, list_errors(validator, explainer, part)):
            path = (*start, *error.absolute_path)
            if path not in reported:
                reported.add(path)
                yield (path, *_format_schema_error(error, label))


@cache
def _build_metaschema_explainer(dialect: str) -> Any:
    import jsonschema

    # The metaschemas' parts have a `$schema`, so `jsonschema` matches their patterns with `re`.
    # Those patterns are simple enough for that.
    kind: Any = getattr(jsonschema, METASCHEMAS[dialect][0])
    return build_explainer(kind.META_SCHEMA, dialect)


def _find_deepest_error(error: ValidationError) -> ValidationError:
    """Return the error with the longest path below an `anyOf`, as the most precise one."""
    while error.context:
        deepest = max(error.context, key=lambda nested: len(nested.path))
        if not deepest.path:
            break
        error = deepest
    return error


def _format_schema_error(error: ValidationError, label: str) -> tuple[str, str]:
    """Return the message and help for an error; `label` names the schema as a whole."""
    path, value = tuple(error.absolute_path), error.instance
    name = f"`{path[-1]}`" if path else label
    if path and isinstance(path[-1], int):
        name = f"an entry of `{path[-2]}`"
    if error.validator == "type":
        expected = format_types(get_expected_types(error))
        message = f"{name} must be {expected}, not {describe_value(value)}"
        return message, _suggest_newer_keyword(path, value)
    # A property can be named `type`, so `path` does not show which keyword is invalid.
    if ("properties", "type") in pairwise(error.absolute_schema_path):
        if isinstance(value, str):
            help_ = (
                did_you_mean(value, TYPES)
                or f"the types are {format_quoted_list(TYPES)}"
            )
            return f"`{value[:40]}` is not a JSON Schema type", help_
        return f"{name} must be a type or an array of different types", ""
    return f"{name}: {shorten_path(error.message)}", ""


def get_expected_types(error: ValidationError) -> list[str]:
    """Return the expected types of an error of the keyword `type`."""
    types: Any = error.validator_value
    return [types] if isinstance(types, str) else list(types)


def _suggest_newer_keyword(path: Path, value: Any) -> str:
    """Return help for draft-04 keywords whose values later drafts changed, or ""."""
    if path[-1:] in (("exclusiveMinimum",), ("exclusiveMaximum",)) and value is True:
        limit = str(path[-1]).removeprefix("exclusive").lower()
        return f"set `{path[-1]}` to the number, and remove `{limit}`"
    if path[-1:] == ("required",) and isinstance(value, bool):
        return "list the names in `required` of the object that defines the properties"
    return ""


_MAX_VISITS = 500
_MAX_STEPS = 100_000
_EXPENSIVE_KEYWORDS = frozenset(
    "patternProperties unevaluatedItems unevaluatedProperties".split()
)
"""Keywords for which `jsonschema` is not used: it matches `patternProperties` with `re`, and
evaluates subschemas again at each level for the `unevaluated...` keywords."""


class ValueChecker:
    """Validator of values against one schema and its parts.

    Args:
        schema: a schema, valid or not.
        asserts_formats: whether `format` is validated.
    """

    def __init__(self, schema: JsonSchema, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._asserts_formats = asserts_formats
        self._validators = PartValidators(schema.value, asserts_formats=asserts_formats)

    def problem(self, value: Any, path: Path = ()) -> str:
        """Return why a value does not match the schema, or "" if it matches.

        Also returns "" if the schema itself is not sound.

        Args:
            value: a JSON value.
            path: path of the subschema to validate against; it must have a `default`. Empty
                for the whole schema.
        """
        if not self._schema.is_sound:
            return ""
        size = measure_value(value)
        excess = size.problem or self._schema.work.find_excess(
            value, size, self._schema.get_value(path)
        )
        if excess:
            return f"it cannot be validated: {excess}"
        try:
            validator = self._validators.get_validator(tuple(path))
        except ValueError:
            return ""  # The schema contains an invalid regular expression.
        if validator.is_valid(value):
            return ""
        # Recursive alternatives can produce exponentially many errors.
        visits = count_max_visits(self._schema.value, size.levels, _MAX_VISITS)
        if visits is None:
            return "it does not match the schema"
        from jsonschema.exceptions import best_match

        steps = size.values * max(visits * self._schema.work.max_options, size.values)
        explainer = self._explainer if steps <= _MAX_STEPS else None
        if explainer is not None and path:
            explainer = explainer.evolve(schema=self._schema.get_value(path))
        error = best_match(list_errors(validator, explainer, value, max_values=0))
        return "" if error is None else _format_value_error(error)

    @cached_property
    def _explainer(self) -> Any:
        """The `jsonschema` validator of the schema, or None if it has expensive keywords."""
        schema = self._schema
        for path, part in schema.subschemas.items():
            if not _EXPENSIVE_KEYWORDS.isdisjoint(part) or (path and "$schema" in part):
                return None
        if schema.dialect is None or not isinstance(schema.value, dict):
            return None
        return build_explainer(
            schema.value, schema.dialect, asserts_formats=self._asserts_formats
        )


def _format_value_error(error: ValidationError) -> str:
    """Format an error as a clause about the value (`it`) or about a path in it."""
    path = format_path(tuple(error.absolute_path))
    subject = f"`{path}`" if path else "it"
    if error.validator == "type":
        return f"{subject} must be {format_types(get_expected_types(error))}"
    if error.validator == "format":
        return f"{subject} must be {describe_format(str(error.validator_value))}"
    message = shorten_path(error.message)
    return f"{subject}: {message}" if path else message
