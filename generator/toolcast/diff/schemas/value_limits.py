"""Restrictions that a conjunction of schemas places on a value: types, bounds, enum values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

from ..change import build_json_key
from .schema_version import Conjunction

ALL_TYPES = frozenset(
    ("null", "boolean", "integer", "fraction", "string", "array", "object")
)
"""JSON Schema's types, made disjoint: `number` is split into `integer` and `fraction`."""

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that all JSON implementations read exactly (RFC 8259, section 6).

If a schema declares no bound, its senders are assumed to stay within this one: newer versions
of schema libraries write it out for each integer, which is not a change of meaning.
"""

_NUMBER_TYPES = frozenset(("integer", "fraction"))
_DISJOINT_TYPES = {name: frozenset((name,)) for name in ALL_TYPES}
_DISJOINT_TYPES["number"] = _NUMBER_TYPES
_MAX_FEW_VALUES = 200
"""Values that a proof validates one by one."""


class Bound(NamedTuple):
    """A lower or upper bound of numbers.

    Attributes:
        value: the bound; infinite if there is none.
        is_exclusive: whether the bound itself is invalid.
    """

    value: float
    is_exclusive: bool = False


def get_value_type(value: Any) -> str:
    """Return the type of a JSON value, a member of `ALL_TYPES`."""
    if value is None:
        return "null"
    # `bool` is a subclass of `int` in Python, so booleans are tested first.
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    # JSON Schema counts every number without a fractional part as an integer.
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def get_allowed_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the types that `type` allows; without the keyword, all types.

    `number` becomes `integer` and `fraction`. Unknown types are ignored.
    """
    types = schema.get("type")
    if types is None:
        return ALL_TYPES
    if isinstance(types, str):
        return _DISJOINT_TYPES.get(types, frozenset())
    return frozenset().union(
        *(_DISJOINT_TYPES.get(name, frozenset()) for name in types)
    )


class ValueLimits:
    """Restrictions that the keywords of a conjunction place on a value.

    Each schema is read by its own keywords. Its `anyOf`, `not` and other subschemas are
    ignored, so a value within these limits can still be invalid.

    Attributes:
        is_false: whether the schema `false` is in the conjunction.
        parts: the other schemas of the conjunction.
    """

    def __init__(self, parts: Conjunction) -> None:
        self.is_false = any(part is False for part in parts)
        self.parts: list[Mapping[str, Any]] = [p for p in parts if p is not False]

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that a value can have."""
        if self.is_false:
            return frozenset()
        types = ALL_TYPES
        for part in self.parts:
            if "type" in part:
                types &= get_allowed_types(part)
        if self._enum_values is not None:
            types &= {get_value_type(value) for value in self._enum_values}
        # Contradictory bounds, such as `minimum: 2` and `maximum: 1`, exclude all numbers.
        if types & _NUMBER_TYPES and self._excludes_all_numbers:
            types -= _NUMBER_TYPES
        # All multiples of an integer are integers.
        if any(
            _is_number(divisor) and divisor == divisor // 1
            for divisor in self.get_all("multipleOf")
        ):
            types -= {"fraction"}
        return types

    @cached_property
    def _enum_values(self) -> list[Any] | None:
        """The values that all `enum` and `const` keywords share; None without such keywords."""
        value_lists = [[value] for value in self.get_all("const")]
        value_lists += [enum for enum in self.get_all("enum") if isinstance(enum, list)]
        if not value_lists:
            return None
        first, *others = (
            {build_json_key(value): value for value in values} for values in value_lists
        )
        return [
            value for key, value in first.items() if all(key in keys for keys in others)
        ]

    @cached_property
    def values(self) -> list[Any] | None:
        """The possible values, or None if neither keywords nor types enumerate them.

        Values that another keyword excludes can be included.
        """
        if self._enum_values is not None:
            return [
                value
                for value in self._enum_values
                if get_value_type(value) in self.types
            ]
        if self.types <= {"null", "boolean"}:
            values: list[Any] = [None] if "null" in self.types else []
            return values + ([False, True] if "boolean" in self.types else [])
        return None

    @property
    def has_few_values(self) -> bool:
        """Whether the possible values are enumerated, and few enough to validate each."""
        return self.values is not None and len(self.values) <= _MAX_FEW_VALUES

    @property
    def is_impossible(self) -> bool:
        """Whether the limits exclude every value.

        False does not mean that a value exists: only types, enum values and the length
        of a single type are examined.
        """
        if not self.types:
            return True
        if self.types == {"string"}:
            return self.get_minimum("minLength") > self.get_maximum("maxLength")
        if self.types == {"array"}:
            return self.get_minimum("minItems") > self.get_maximum("maxItems")
        if self.types == {"object"}:
            return self.get_minimum("minProperties") > self.get_maximum("maxProperties")
        return False

    @property
    def _excludes_all_numbers(self) -> bool:
        lower, upper = self._lower_bound, self._upper_bound
        if lower.value == upper.value:
            return lower.is_exclusive or upper.is_exclusive
        return lower.value > upper.value

    @cached_property
    def _lower_bound(self) -> Bound:
        return max(self._list_bounds("minimum", "exclusiveMinimum", -math.inf))

    @cached_property
    def _upper_bound(self) -> Bound:
        # Of two equal bounds, the exclusive one is stricter and must sort first.
        bounds = self._list_bounds("maximum", "exclusiveMaximum", math.inf)
        return min(bounds, key=lambda bound: (bound.value, not bound.is_exclusive))

    def _list_bounds(
        self, inclusive: str, exclusive: str, default: float
    ) -> Iterator[Bound]:
        yield Bound(default)
        for part in self.parts:
            limit, exclusive_limit = part.get(inclusive), part.get(exclusive)
            if _is_number(limit):
                # In draft-04 the exclusive keyword is a boolean that applies to the limit.
                yield Bound(limit, exclusive_limit is True)
            if _is_number(exclusive_limit):
                yield Bound(exclusive_limit, True)

    def get_bound(self, keyword: str, *, as_integer: bool) -> Bound:
        """Return the bound that `minimum` or `maximum` and its exclusive form declare.

        Args:
            keyword: `minimum` or `maximum`.
            as_integer: round the bound to the first integer that is valid.
        """
        bound, step = (
            (self._lower_bound, 1) if keyword == "minimum" else (self._upper_bound, -1)
        )
        return _round_bound(bound, step) if as_integer else bound

    @property
    def sent_bounds(self) -> tuple[Bound, Bound]:
        """The lower and upper bound of numbers that a sender is assumed to send.

        A sender of integers without a bound is assumed to send only safe integers.
        """
        lower, upper = (
            self.get_bound(keyword, as_integer=self.has_only_integers)
            for keyword in ("minimum", "maximum")
        )
        if self.has_only_integers and lower.value == -math.inf:
            lower = Bound(-MAX_SAFE_INTEGER)
        if self.has_only_integers and upper.value == math.inf:
            upper = Bound(MAX_SAFE_INTEGER)
        return lower, upper

    @property
    def has_only_integers(self) -> bool:
        """Whether every number within the limits is an integer."""
        return "fraction" not in self.types

    def get_minimum(self, keyword: str) -> float:
        """Return the highest value of `minLength` or another minimum; 0 without one."""
        return max(filter(_is_number, self.get_all(keyword)), default=0)

    def get_maximum(self, keyword: str) -> float:
        """Return the lowest value of `maxLength` or another maximum; infinity without one."""
        return min(filter(_is_number, self.get_all(keyword)), default=math.inf)

    def get_all(self, keyword: str) -> list[Any]:
        """Return the values of a keyword in all schemas that have it."""
        return [part[keyword] for part in self.parts if keyword in part]

    @cached_property
    def required_names(self) -> frozenset[str]:
        """The names that any `required` lists."""
        return frozenset(
            name
            for names in self.get_all("required")
            if isinstance(names, list)
            for name in names
        )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _round_bound(bound: Bound, step: int) -> Bound:
    """Return the inclusive bound at the first integer that satisfies a bound.

    Args:
        bound: a lower or upper bound; infinite ones are returned unchanged.
        step: 1 for a lower bound, -1 for an upper bound.
    """
    if abs(bound.value) == math.inf:
        return bound
    value = math.ceil(bound.value) if step > 0 else math.floor(bound.value)
    if bound.is_exclusive and value == bound.value:
        value += step
    return Bound(value)
