"""What one subschema costs by itself, without those that it holds. Times in nanoseconds.

Each figure lies above what was measured with the worst inputs known; only their order of
magnitude matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .formats import format_cost
from .json_bounds import Size, measure
from .pattern_cost import SHORT, PatternCost, pattern_cost

_LIGHT = 300.0
_KEYWORD = 5.0
_NAME = 12.0
_OPTION = 5.0
_DEEP_OPTION = 150.0
_DEEP_VALUE = 60.0
_MATCH = 60.0
_LARGE_INTEGER = 1_300.0
_PAIR_OF_LARGE_INTEGERS = 700.0
_EXACT_DIVISION = 2_400.0
_EXTREME_DIVISION = 40_000.0
_UNIQUE = 60.0
MOST_UNIQUE = 10 * _UNIQUE
"""More than of so many levels is not added up."""

_CONTENT = 40.0
_LENGTHS = ("minLength", "maxLength")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_CONTENTS = ("contentEncoding", "contentMediaType")


class Bound(NamedTuple):
    """The most that values cost at one place.

    Attributes:
        value: each value.
        number: each number besides.
        unique: each value, by all the `uniqueItems` above it; at MOST_UNIQUE and more, for
            each level.
        short: each character of texts that are short.
        character: each character of others.
        squared: the same, for each character of the longest text.
        large: each large integer.
        extreme: each number of extreme size.
    """

    value: float = 0.0
    number: float = 0.0
    unique: float = 0.0
    short: float = 0.0
    character: float = 0.0
    squared: float = 0.0
    large: float = 0.0
    extreme: float = 0.0

    def of(self, size: Size) -> float:
        """The most that a value of a size costs."""
        rate = self.short
        if size.longest > SHORT:
            rate = max(rate, self.character + self.squared * size.longest)
        unique = self.unique * size.values
        if self.unique >= MOST_UNIQUE:
            unique *= size.levels
        return (
            self.value * size.values
            + self.number * size.numbers
            + unique
            + rate * size.characters
            + self.large * size.large_integers
            + self.extreme * size.extreme_numbers
        )

    @property
    def is_light(self) -> bool:
        """Whether it is hardly more than a look at each value."""
        return max(self[:6]) <= _LIGHT and not self.squared

    @classmethod
    def at_any(cls, here: Bound, below: Bound) -> Bound:
        """The bound at a place and all below it."""
        unique = min(here.unique + below.unique, MOST_UNIQUE)
        return cls.most((here, below))._replace(unique=unique)

    @classmethod
    def sum(cls, bounds: Iterable[Bound]) -> Bound:
        """The bound where all apply."""
        return cls(*map(sum, zip(*bounds, strict=True)))

    @classmethod
    def most(cls, bounds: Iterable[Bound]) -> Bound:
        """The bound where one of them applies."""
        return cls(*map(max, zip(cls(), *bounds, strict=True)))


class OwnWork(NamedTuple):
    """What a subschema costs at one value.

    Attributes:
        bound: the most, whatever the value is.
        plain: a look at a value, all keywords together.
        options: comparing a plain value with `enum` and `const`.
        deep_options: comparing an array or object with them.
        is_unique: whether the items of an array must differ.
        pattern: what `pattern` costs; None without.
        form: what `format` costs, where it is asserted; None without.
        names: what each of `patternProperties` costs.
        most_missing: how many names it can ask for in one object.
    """

    bound: Bound
    plain: float
    options: float
    deep_options: float
    is_unique: bool
    pattern: PatternCost | None
    form: PatternCost | None
    names: tuple[PatternCost, ...]
    most_missing: int

    def at(self, value: Any) -> Iterator[tuple[str, float]]:
        """What it costs at a value, by keyword."""
        yield "", self.plain
        if isinstance(value, str):
            yield "enum", self.options
            if self.pattern is not None:
                yield "pattern", self.pattern.of(len(value))
            if self.form is not None:
                yield "format", self.form.of(len(value))
            yield "", self.bound.character * len(value) if self.pattern is None else 0.0
        elif isinstance(value, dict):
            yield "enum", self.deep_options
            if self.names:
                longest = max(map(len, value), default=0)
                each = sum(cost.of(longest) for cost in self.names)
                yield "patternProperties", each * len(value)
        elif isinstance(value, (list, tuple)):
            yield "enum", self.deep_options
            if self.is_unique:
                size = measure(value)
                spent = _UNIQUE * size.values + size.characters + pairs(size)
                yield "uniqueItems", spent
        else:
            size = measure(value)
            yield "enum", self.options
            extreme = self.bound.extreme * size.extreme_numbers
            yield "multipleOf", self.bound.number * size.numbers + extreme
            yield "", self.bound.large * size.large_integers


def pairs(size: Size) -> float:
    """What it costs to find two large integers that are the same."""
    return _PAIR_OF_LARGE_INTEGERS * size.large_integers**2


def own_work(schema: Mapping[str, Any]) -> OwnWork:
    """What a subschema costs by itself."""
    asked_for = _names(schema)
    plain = _KEYWORD * len(schema) + _NAME * asked_for
    number = 0.0
    options, deep, large, extreme = _of_options(schema)
    divisor = schema.get("multipleOf")
    if divisor is not None:
        number = _EXACT_DIVISION if isinstance(divisor, float) else 10 * _NAME
        large += _EXTREME_DIVISION
        extreme += _EXTREME_DIVISION
    large += _LARGE_INTEGER * sum(keyword in schema for keyword in _NUMBERS)
    is_unique = schema.get("uniqueItems") is True
    text = schema.get("pattern")
    pattern = pattern_cost(text) if isinstance(text, str) else None
    keyed = schema.get("patternProperties")
    names = tuple(map(pattern_cost, keyed)) if isinstance(keyed, Mapping) else ()
    form = format_cost(schema.get("format"))
    costs = [cost for cost in (*names, pattern, form) if cost is not None]
    lengths = sum(keyword in schema for keyword in _LENGTHS) + is_unique
    reading = lengths + _CONTENT * any(keyword in schema for keyword in _CONTENTS)
    bound = Bound(
        value=plain + max(options, deep) + sum(cost.each for cost in costs),
        number=number,
        unique=_UNIQUE if is_unique else 0.0,
        short=reading + sum(cost.short for cost in costs),
        character=reading + sum(cost.per_character for cost in costs),
        squared=sum(cost.squared for cost in costs),
        large=large,
        extreme=extreme,
    )
    return OwnWork(
        bound, plain, options, deep, is_unique, pattern, form, names, asked_for
    )


def _names(schema: Mapping[str, Any]) -> int:
    """How many names are looked for in each object."""
    count = 0
    required = schema.get("required")
    if isinstance(required, (list, tuple)):
        count += len(required)
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name in (value := _mapping(schema.get(keyword))):
            needed = value[name]
            count += 1 + (len(needed) if isinstance(needed, (list, tuple)) else 0)
    return count


def _of_options(schema: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """What `enum` and `const` cost a plain value, a deep one, a large and an extreme number."""
    listed = schema.get("enum")
    options = list(listed) if isinstance(listed, (list, tuple)) else []
    if "const" in schema:
        options.append(schema["const"])
    if not options:
        return 0.0, 0.0, 0.0, 0.0
    if all(isinstance(option, str) for option in options):
        return _MATCH, 0.0, 0.0, 0.0  # they are looked up
    size = measure(options)
    if size.problem is not None:
        return 1e15, 1e15, 1e15, 1e15
    large = _LARGE_INTEGER * size.large_integers
    containers = [option for option in options if isinstance(option, (dict, list))]
    deep = _OPTION * len(options)
    if containers:
        deep += _DEEP_VALUE * measure(containers).values
        deep += _DEEP_OPTION * len(containers)
    return (
        _OPTION * len(options) + large,
        deep + large,
        _LARGE_INTEGER * len(options),
        0.0,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
