"""What schemas say of a value: types, limits, values."""

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
"""JSON Schema's types, numbers as whole ones and fractions, so that none holds another."""

EXACT = 2**53 - 1
"""The largest whole number that all programs read alike (RFC 8259, section 6).

Where a schema names no limit, nobody is taken to send larger ones: newer versions of the
libraries that make schemas write this limit down for each whole number.
"""

_NUMBERS = frozenset(("integer", "fraction"))
_TYPES = {name: frozenset((name,)) for name in ALL_TYPES} | {"number": _NUMBERS}
_FEW = 200


class Bound(NamedTuple):
    """A limit of numbers.

    Attributes:
        value: the limit; infinite for none.
        is_open: whether the limit itself is refused.
    """

    value: float
    is_open: bool = False


def type_of(value: Any) -> str:
    """The one of ALL_TYPES that a JSON value has."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that `type` allows; all without it."""
    named = schema.get("type")
    if named is None:
        return ALL_TYPES
    if isinstance(named, str):
        return _TYPES.get(named, frozenset())
    return frozenset().union(*(_TYPES.get(name, frozenset()) for name in named))


class ValueLimits:
    """What a conjunction says, as far as each of its schemas says it by itself."""

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
                types &= types_of(part)
        listed = self._listed
        if listed is not None:
            types &= {type_of(value) for value in listed}
        if types & _NUMBERS and self._no_number:
            types -= _NUMBERS
        return types

    @cached_property
    def _listed(self) -> list[Any] | None:
        """The values that every `enum` and `const` has; None without any."""
        lists = [[value] for value in self.all("const")]
        lists += [values for values in self.all("enum") if isinstance(values, list)]
        if not lists:
            return None
        keyed = [{build_json_key(value): value for value in values} for values in lists]
        shared = (key for key in keyed[0] if all(key in other for other in keyed))
        return [keyed[0][key] for key in shared]

    @cached_property
    def values(self) -> list[Any] | None:
        """All possible values, and perhaps some more; None when they are too many."""
        if self._listed is not None:
            return [value for value in self._listed if type_of(value) in self.types]
        if self.types <= {"null", "boolean"}:
            values: list[Any] = [None] if "null" in self.types else []
            return values + ([False, True] if "boolean" in self.types else [])
        return None

    @property
    def are_few(self) -> bool:
        """Whether all possible values are known, and not too many to be tried."""
        return self.values is not None and len(self.values) <= _FEW

    @property
    def is_impossible(self) -> bool:
        """Whether it is known that there is no such value."""
        if not self.types or self.values == []:
            return True
        kinds = self.types
        if kinds == {"string"}:
            return self.least("minLength") > self.most("maxLength")
        if kinds == {"array"}:
            return self.least("minItems") > self.most("maxItems")
        if kinds == {"object"}:
            return self.least("minProperties") > self.most("maxProperties")
        return False

    @property
    def _no_number(self) -> bool:
        low, high = self._low, self._high
        if low.value == high.value:
            return low.is_open or high.is_open
        return low.value > high.value

    @cached_property
    def _low(self) -> Bound:
        return max(self._bounds("minimum", "exclusiveMinimum", -math.inf))

    @cached_property
    def _high(self) -> Bound:
        found = self._bounds("maximum", "exclusiveMaximum", math.inf)
        return min(found, key=lambda bound: (bound.value, not bound.is_open))

    def _bounds(self, inclusive: str, exclusive: str, none: float) -> Iterator[Bound]:
        yield Bound(none)
        for part in self.parts:
            limit, other = part.get(inclusive), part.get(exclusive)
            if _is_number(limit):
                # In draft-04 the second keyword says whether the first itself is refused.
                yield Bound(limit, other is True)
            if _is_number(other):
                yield Bound(other, True)

    def limit(self, keyword: str, *, whole: bool) -> Bound:
        """The `minimum` or `maximum` of numbers, rounded where all of them are whole."""
        bound, step = (self._low, 1) if keyword == "minimum" else (self._high, -1)
        return _rounded(bound, step) if whole else bound

    @property
    def sent(self) -> tuple[Bound, Bound]:
        """The limits that whoever sends a number keeps to."""
        whole = self.is_whole
        low, high = (self.limit(end, whole=whole) for end in ("minimum", "maximum"))
        if whole and low.value == -math.inf:
            low = Bound(-EXACT)
        if whole and high.value == math.inf:
            high = Bound(EXACT)
        return low, high

    @property
    def is_whole(self) -> bool:
        """Whether no value is a fraction."""
        return "fraction" not in self.types or any(
            _is_number(divisor) and divisor == divisor // 1
            for divisor in self.all("multipleOf")
        )

    def least(self, keyword: str) -> float:
        """The highest of `minLength` and its like; 0 without one."""
        return max(filter(_is_number, self.all(keyword)), default=0)

    def most(self, keyword: str) -> float:
        """The lowest of `maxLength` and its like; infinite without one."""
        return min(filter(_is_number, self.all(keyword)), default=math.inf)

    def all(self, keyword: str) -> list[Any]:
        """What the schemas have under a keyword."""
        return [part[keyword] for part in self.parts if keyword in part]

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that an object must have."""
        return frozenset(
            name
            for names in self.all("required")
            if isinstance(names, list)
            for name in names
        )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _rounded(bound: Bound, step: int) -> Bound:
    """The first whole number that keeps a limit; `step` leads away from the limit."""
    if abs(bound.value) == math.inf:
        return bound
    value = math.ceil(bound.value) if step > 0 else math.floor(bound.value)
    return Bound(value + step * (bound.is_open and value == bound.value))
