"""Values against one JSON Schema: in bounded time, and with words for what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any

from .bounds import Work
from .compiled import build, compiled
from .explanation import Explanation
from .limits import Size, measure, most_visits
from .references import References, mapping, reached

_MAX_PROBLEMS = 10
"""Problems of one value that are returned."""
_MAX_EXPLAINED_VALUES = 1_000
"""Values up to which all errors are collected; beyond, only the first one."""
_MAX_ERRORS = 10_000
"""Possible errors up to which all are collected."""
_MAX_COPIED_VALUES = 200_000
"""Values copied into errors, up to which all errors are collected."""
_MAX_COPIED_CHARACTERS = 32 * 1024 * 1024
"""Characters copied into errors, up to which all errors are collected."""
_MAX_VISITS = 500
"""Paths through references to one location."""
_MAX_SCHEMAS = 20_000
"""Subschemas that are searched."""
_UNEXPLAINED = "the value does not match the schema"


class Checker:
    """A schema, ready for values; its arguments and errors are those of `compiled`."""

    def __init__(self, schema: Any, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._validator = compiled(schema, asserts_formats=asserts_formats)
        self._work = Work(schema)
        self._explanation = Explanation(schema)

    def problems(self, value: Any) -> list[str]:
        """What is wrong with a value; empty when nothing is.

        A value that is too large to be checked in time is refused with the limit's name.
        """
        size = measure(value)
        problem = size.problem
        if problem is not None:
            return [f"the value cannot be taken: it has {problem}"]
        excess = self._work.excess(value, size)
        if excess is not None:
            return [f"the value cannot be taken: {excess}"]
        try:
            if self._validator.is_valid(value):
                return []
            return list(self._explained(value, size))
        except (ValueError, TypeError) as error:
            return [f"not a JSON value: {error}"]

    def matches(self, value: Any) -> bool | None:
        """Whether a value is valid; None when that cannot be found out in time."""
        size = measure(value)
        if size.problem is not None or self._work.excess(value, size) is not None:
            return None
        try:
            return bool(self._validator.is_valid(value))
        except (ValueError, TypeError):
            return None

    def _explained(self, value: Any, size: Size) -> Iterator[str]:
        """What is wrong with a value that is not valid, in bounded time.

        The library finds all errors before it gives the first, each with a copy of what the
        schema allows and of the value at its place: one for each name that is missing
        there. In a large value that takes long, and where a schema leads to one place in
        several ways it is exponential.
        """
        visits = most_visits(self._schema, size.levels, _MAX_VISITS)
        if visits is None:
            yield _UNEXPLAINED
            return
        ways = visits * self._work.most_missing
        errors = size.values * ways
        # What is in a value is copied with each of those that hold it.
        copies = errors * max(self._work.most_options, size.levels)
        characters = size.characters * size.levels * ways
        if (
            size.values > _MAX_EXPLAINED_VALUES
            or errors > _MAX_ERRORS
            or copies > _MAX_COPIED_VALUES
            or characters > _MAX_COPIED_CHARACTERS
        ):
            # The first error alone has all of those within its alternatives.
            if self._work.has_alternatives and copies > 10 * _MAX_COPIED_VALUES:
                yield _UNEXPLAINED
            else:
                yield from self._first(value)
            return
        count = 0
        for error in self._validator.iter_errors(value):
            for problem in self._explanation.of(error):
                yield problem
                count += 1
            if count >= _MAX_PROBLEMS:
                return

    def _first(self, value: Any) -> list[str]:
        import jsonschema_rs

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            return list(self._explanation.of(first))[:_MAX_PROBLEMS]
        return [_UNEXPLAINED]


class DeclaredNames:
    """The names of the parameters that a schema declares.

    By `properties` and `patternProperties`, of the schema itself and of every one that it
    refers to, has as an alternative (`allOf`, `anyOf`, `oneOf`) or under a condition (`if`,
    `then`, `else`, `dependentSchemas`). What `additionalProperties` lets in is not declared.

    Args:
        schema: the JSON Schema of the arguments, in any dialect.

    Attributes:
        names: the names that `properties` has.
        patterns: the keys of `patternProperties`, each once.
    """

    def __init__(self, schema: Any) -> None:
        names, patterns = set[str](), dict[str, None]()
        references = References(schema)

        def same(part: Mapping[str, Any]) -> Iterator[Any]:
            # No call passes a schema with a reference that leads nowhere.
            with suppress(LookupError):
                yield from references.same_value(part)

        for part in islice(reached([schema], same), _MAX_SCHEMAS):
            names.update(mapping(part.get("properties")))
            patterns.update(dict.fromkeys(mapping(part.get("patternProperties"))))
        self.names = frozenset(names)
        self.patterns = tuple(patterns)
        self._dialect = mapping(schema).get("$schema")

    def lacks(self, names: Collection[str]) -> list[str]:
        """Those of the names that are not declared, in their order."""
        if self.names.issuperset(names):
            return []
        left = [name for name in names if name not in self.names]
        if left and self.patterns:
            left = [name for name in left if not self._is_matched(name)]
        return left

    def _is_matched(self, name: str) -> bool:
        try:
            return bool(self._matcher.is_valid({name: None}))
        except ValueError:
            return False  # A pattern that gives up on a name declares it not.

    @cached_property
    def _matcher(self) -> Any:
        """A validator that takes objects whose names all match a pattern."""
        closed: dict[str, Any] = {
            "patternProperties": {key: {} for key in self.patterns},
            "additionalProperties": False,
        }
        if isinstance(self._dialect, str):
            closed["$schema"] = self._dialect
        return build(closed)
