"""Values against one JSON Schema: in bounded time, and with words for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .compiled import compiled
from .explanation import Explanation
from .json_bounds import Size, measure
from .schema_visits import most_visits
from .work import Work

_MOST_PROBLEMS = 10
_MOST_EXPLAINED_VALUES = 1_000
_MOST_ERRORS = 10_000
_MOST_COPIES = 200_000
_MOST_COPIED_CHARACTERS = 32 * 1024 * 1024
_MOST_VISITS = 500
_UNEXPLAINED = "the value does not match the schema"


class Checker:
    """A schema, ready for values.

    Args:
        schema: in any dialect; 2020-12 when it does not say.
        asserts_formats: whether a text has to be of its `format`.

    Raises:
        ValueError: it cannot be applied.
    """

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
        visits = most_visits(self._schema, size.levels, _MOST_VISITS)
        if visits is None:
            yield _UNEXPLAINED
            return
        ways = visits * self._work.most_missing
        errors = size.values * ways
        # What is in a value is copied with each of those that hold it.
        copies = errors * max(self._work.most_options, size.levels)
        characters = size.characters * size.levels * ways
        if (
            size.values > _MOST_EXPLAINED_VALUES
            or errors > _MOST_ERRORS
            or copies > _MOST_COPIES
            or characters > _MOST_COPIED_CHARACTERS
        ):
            # The first error alone has all of those within its alternatives.
            if self._work.has_alternatives and copies > 10 * _MOST_COPIES:
                yield _UNEXPLAINED
            else:
                yield from self._first(value)
            return
        count = 0
        for error in self._validator.iter_errors(value):
            for problem in self._explanation.of(error):
                yield problem
                count += 1
            if count >= _MOST_PROBLEMS:
                return

    def _first(self, value: Any) -> list[str]:
        import jsonschema_rs

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            return list(self._explanation.of(first))[:_MOST_PROBLEMS]
        return [_UNEXPLAINED]
