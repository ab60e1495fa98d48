"""Validation of values against one JSON Schema, in bounded time and with error messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any

from .bounds import CostEstimate
from .compiled import build_validator, compile_schema
from .explanation import Explanation
from .limits import Size, count_max_visits, measure_value
from .references import References, as_mapping, walk_schemas

_MAX_PROBLEMS = 10
"""Maximum number of returned problems of one value."""
_MAX_EXPLAINED_VALUES = 1_000
"""Maximum number of values for which all errors are collected, not only the first."""
_MAX_ERRORS = 10_000
"""Maximum number of possible errors for which all are collected."""
_MAX_COPIED_VALUES = 200_000
"""Maximum number of values copied into errors for which all errors are collected."""
_MAX_COPIED_CHARACTERS = 32 * 1024 * 1024
"""Maximum number of characters copied into errors for which all errors are collected."""
_MAX_VISITS = 500
"""Maximum number of visits of one location for which errors are explained."""
_MAX_SCHEMAS = 20_000
"""Maximum number of subschemas that are searched for declared names."""
_UNEXPLAINED = "the value does not match the schema"


class Checker:
    """Validator of one schema, with explained errors.

    Args:
        schema: a schema in any dialect; 2020-12 unless `$schema` names another one.
        asserts_formats: whether strings must match their `format`.

    Raises:
        ValueError: the schema is invalid, or validating with it could take too long.
    """

    def __init__(self, schema: Any, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._validator = compile_schema(schema, asserts_formats=asserts_formats)
        self._cost_estimate = CostEstimate(schema)
        self._explanation = Explanation(schema)

    def problems(self, value: Any) -> list[str]:
        """Return the problems of a value; empty if it is valid.

        A value that is too large to validate in bounded time is rejected. The message names
        the limit that it exceeds.
        """
        size = measure_value(value)
        if size.problem is not None:
            return [f"the value is not accepted: it has {size.problem}"]
        excess = self._cost_estimate.find_excess(value, size)
        if excess is not None:
            return [f"the value is not accepted: {excess}"]
        try:
            if self._validator.is_valid(value):
                return []
            return list(self._explain(value, size))
        except (ValueError, TypeError) as error:
            return [f"not a JSON value: {error}"]

    def matches(self, value: Any) -> bool | None:
        """Return whether a value is valid; None if that cannot be decided in bounded time."""
        size = measure_value(value)
        if (
            size.problem is not None
            or self._cost_estimate.find_excess(value, size) is not None
        ):
            return None
        try:
            return bool(self._validator.is_valid(value))
        except (ValueError, TypeError):
            return None

    def _explain(self, value: Any, size: Size) -> Iterator[str]:
        """Yield the problems of an invalid value, in bounded time.

        The library collects all errors before it returns the first one. Each error has a
        copy of the invalid part of the value and of the schema's options, and each missing
        name has its own error. For a large value this takes long, and for a schema that visits
        a location several times the number of errors grows exponentially. Above the limits,
        only the first error is explained, or none.
        """
        visits = count_max_visits(self._schema, size.levels, _MAX_VISITS)
        if visits is None:
            yield _UNEXPLAINED
            return
        errors_per_value = visits * self._cost_estimate.max_missing
        errors = size.values * errors_per_value
        # Each error contains a copy of the invalid value, including all nested values.
        copies = errors * max(self._cost_estimate.max_options, size.levels)
        characters = size.characters * size.levels * errors_per_value
        if (
            size.values > _MAX_EXPLAINED_VALUES
            or errors > _MAX_ERRORS
            or copies > _MAX_COPIED_VALUES
            or characters > _MAX_COPIED_CHARACTERS
        ):
            # Even the first error is too large if it contains the errors of alternatives.
            if (
                self._cost_estimate.has_alternatives
                and copies > 10 * _MAX_COPIED_VALUES
            ):
                yield _UNEXPLAINED
            else:
                yield from self._explain_first(value)
            return
        count = 0
        for error in self._validator.iter_errors(value):
            for problem in self._explanation.explain(error):
                yield problem
                count += 1
            if count >= _MAX_PROBLEMS:
                return

    def _explain_first(self, value: Any) -> list[str]:
        """Return the problems of the first error."""
        import jsonschema_rs

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return list(self._explanation.explain(error))[:_MAX_PROBLEMS]
        return [_UNEXPLAINED]


class DeclaredNames:
    """Names of the parameters that a schema declares.

    They are declared by `properties` and `patternProperties` of the schema itself, and of each
    schema that it refers to, contains as an alternative (`allOf`, `anyOf`, `oneOf`), or
    applies under a condition (`if`, `then`, `else`, `dependentSchemas`). Names that only
    `additionalProperties` permits are not declared.

    Args:
        schema: the JSON Schema of the arguments, in any dialect.

    Attributes:
        names: the names in `properties`.
        patterns: the patterns in `patternProperties`, without duplicates.
    """

    def __init__(self, schema: Any) -> None:
        names, patterns = set[str](), dict[str, None]()
        references = References(schema)

        def list_next_schemas(part: Mapping[str, Any]) -> Iterator[Any]:
            # Ignore a reference without a target: such a schema is invalid, and the validation
            # of arguments rejects all calls.
            with suppress(LookupError):
                yield from references.list_same_value_schemas(part)

        for part in islice(walk_schemas([schema], list_next_schemas), _MAX_SCHEMAS):
            names.update(as_mapping(part.get("properties")))
            patterns.update(dict.fromkeys(as_mapping(part.get("patternProperties"))))
        self.names = frozenset(names)
        self.patterns = tuple(patterns)
        self._schema_uri = as_mapping(schema).get("$schema")

    def find_undeclared(self, names: Collection[str]) -> list[str]:
        """Return the names that are not declared, in their order."""
        if self.names.issuperset(names):
            return []
        undeclared = [name for name in names if name not in self.names]
        if self.patterns:
            undeclared = [name for name in undeclared if not self._has_pattern(name)]
        return undeclared

    def _has_pattern(self, name: str) -> bool:
        """Return whether a pattern matches a name."""
        try:
            return bool(self._pattern_validator.is_valid({name: None}))
        except ValueError:
            # The match exceeded the backtracking limit.
            return False

    @cached_property
    def _pattern_validator(self) -> Any:
        """Validator that accepts objects in which each name matches one of the patterns."""
        schema: dict[str, Any] = {
            "patternProperties": {pattern: {} for pattern in self.patterns},
            "additionalProperties": False,
        }
        if isinstance(self._schema_uri, str):
            schema["$schema"] = self._schema_uri
        return build_validator(schema)
