"""What checking a value against a schema can cost, found before it is done.

A validator holds the interpreter's lock, so that no deadline ends what it has begun. Its
work is bounded here from above: by the schema and the size of the value alone where that
suffices, place by place where it does not. Times are in nanoseconds. Each figure lies above
what was measured with the worst inputs known; only their order of magnitude matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from .compiled import ASSERTED
from .limits import SHORT, PatternCost, Size, measure, pattern_cost
from .references import References, mapping, schemas_below

MAX_VALIDATION_MS = 35
"""Estimated time of one pass over a value."""

_MAX_VALIDATION_NS = MAX_VALIDATION_MS * 1_000_000.0
"""`MAX_VALIDATION_MS` in nanoseconds."""
_MAX_LOCATIONS = 6_000
"""Locations that the estimate for one value visits."""
_MAX_ROUNDS = 60
"""Rounds in which the bounds of a schema are propagated."""
_BEYOND = 1e15
# What it takes to find out.
_GLANCE = 1_500.0
_MEASURED = 30.0
# What the validator takes.
_LIGHT = 300.0
_KEYWORD = 5.0
_NAME = 12.0
_OPTION = 5.0
_DEEP_OPTION = 150.0
_DEEP_VALUE = 60.0
_MATCH = 60.0
_LARGE_INTEGER = 1_300.0
_DIVISION = 120.0
_EXACT_DIVISION = 2_400.0
_EXTREME_DIVISION = 40_000.0
_CONTENT = 40.0
_UNEVALUATED = 150.0
_UNIQUE = 60.0
_PAIR_OF_LARGE_INTEGERS = 700.0
# More than of so many levels is not added up.
_MAX_UNIQUE_COST = 10 * _UNIQUE
_FORMAT = PatternCost(2_000, 10.0)
# Named groups are compared with each other.
_FORMAT_REGEX = PatternCost(2_000, 60.0, 0.03)
_LENGTHS = frozenset("minLength maxLength".split())
_NUMBERS = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum".split())
_CONTENTS = frozenset("contentEncoding contentMediaType".split())
_NEEDED = ("dependentRequired", "dependentSchemas", "dependencies")
_CHOICES = frozenset("anyOf oneOf".split())
_OF_TYPE: Mapping[str, Any] = {
    **dict.fromkeys(["pattern", "format"], str),
    **dict.fromkeys(["patternProperties", "unevaluatedProperties"], dict),
    **dict.fromkeys(["uniqueItems", "unevaluatedItems"], (list, tuple)),
}
"""The values that a keyword costs something at, where these are not all."""

_Applied = tuple[int, Any, str | int | None]
"""A schema, a value that it applies to, and the step to it from the value that holds it."""


class Bound(NamedTuple):
    """The most that values cost by a keyword, at a place, or at a place and all below it.

    Attributes:
        value: each value.
        inner: each item and member of an array or object besides.
        number: each number besides.
        unique: each value, by all the `uniqueItems` above it; at the most, for each level.
        short: each character of texts and names that are short.
        character: each character of others.
        squared: the same, for each character of the longest.
        large: each large integer.
        extreme: each number of extreme size.
    """

    value: float = 0.0
    inner: float = 0.0
    number: float = 0.0
    unique: float = 0.0
    short: float = 0.0
    character: float = 0.0
    squared: float = 0.0
    large: float = 0.0
    extreme: float = 0.0

    def of(self, size: Size, inner: int) -> float:
        """The most that a value of a size costs, which holds so many items or members."""
        rate = self.short
        if size.longest > SHORT:
            rate = self.character + self.squared * size.longest
            if size.longest < size.characters:
                rate = max(rate, self.short)
        cost = self.value * size.values + self.inner * inner + rate * size.characters
        cost += self.number * size.numbers
        cost += self.large * size.large_integers + self.extreme * size.extreme_numbers
        if self.unique:
            pairs = _PAIR_OF_LARGE_INTEGERS * size.large_integers**2
            unique = self.unique * (size.values + pairs / _UNIQUE)
            cost += unique * (size.levels if self.unique >= _MAX_UNIQUE_COST else 1)
        return cost

    def is_light(self, with_large: bool) -> bool:
        """Whether it is hardly more than a look at each value."""
        if self.squared or (with_large and self.unique):
            return False
        return max(self[:6]) <= _LIGHT

    @classmethod
    def at_any(cls, here: Bound, below: Bound) -> Bound:
        """The bound at a place and all below it."""
        unique = min(here.unique + below.unique, _MAX_UNIQUE_COST)
        return cls.most((here, below))._replace(unique=unique)

    @classmethod
    def sum(cls, bounds: Iterable[Bound]) -> Bound:
        """The bound where all apply."""
        return cls(*map(sum, zip(*bounds, strict=True)))

    @classmethod
    def most(cls, bounds: Iterable[Bound]) -> Bound:
        """The bound where one of them applies."""
        return cls(*map(max, zip(cls(), *bounds, strict=True)))


class _Part(NamedTuple):
    """A subschema.

    Attributes:
        schema: itself.
        costs: what it costs at one value without those that it holds, by keyword; under the
            empty one what no keyword is named for.
        same: the schemas that apply to the same value.
        disjoint: groups of schemas of which one at most applies to one inner value.
        overlapping: the schemas that apply to inner values besides.
    """

    schema: Mapping[str, Any]
    costs: Mapping[str, Bound]
    same: tuple[int, ...]
    disjoint: tuple[tuple[int, ...], ...]
    overlapping: tuple[int, ...]

    @property
    def leads_on(self) -> bool:
        """Whether other schemas apply to the value as well, or to what it holds."""
        return bool(self.same or self.overlapping or any(self.disjoint))


class Work:
    """What checking values against one schema can cost.

    Args:
        schema: any, valid or not.
        parts: the subschemas that values are checked by; by default the whole schema.
    """

    def __init__(self, schema: Any, parts: Sequence[Any] | None = None) -> None:
        self._schema = schema
        self._parts = self._read([schema] if parts is None else [*parts])
        self._bounds = self._bound()

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether an error can hold those of alternatives."""
        parts = self._parts.values()
        return any(not _CHOICES.isdisjoint(part.schema) for part in parts)

    @cached_property
    def most_options(self) -> int:
        """Values in the largest `enum` or constant, which errors copy."""
        options = (_options(part.schema) for part in self._parts.values())
        return max((measure(one).values for one in options), default=1)

    @cached_property
    def most_missing(self) -> int:
        """Errors that there can be at one place for names that are missing."""
        names = (_names(part.schema) for part in self._parts.values())
        return max(names, default=0) or 1

    def excess(self, value: Any, size: Size, part: Any = None) -> str | None:
        """Why a value takes too long to check, in words; None when it does not.

        Args:
            value: a JSON value.
            size: its size.
            part: the subschema that it is checked by; by default the whole schema.
        """
        key = id(self._schema if part is None else part)
        if key not in self._bounds:
            return None  # no more than `true` and `false`
        bound = self._bounds[key].of(size, size.values)
        return None if bound <= _MAX_VALIDATION_NS else self._walked(key, value, size)

    def _walked(self, key: int, value: Any, size: Size) -> str | None:
        """The same, place by place."""
        spent = _Spent()
        places: dict[tuple[int, str | int], int] = {}
        seen: set[tuple[int, int]] = set()
        measured, inner = value, size
        start: Iterator[_Applied] = iter([(key, value, None)])
        waiting = [(0, start)]
        while waiting and not spent.is_too_much:
            place, applied = waiting[-1]
            key, item, step = next(applied, (0, None, None))
            if not key:
                waiting.pop()
                continue
            bound = self._bounds[key]
            if bound.is_light(with_large=bool(size.large_integers)):
                # It may stand below many alternatives, and is the same for each.
                if item is not measured:
                    measured, inner = item, measure(item)
                    spent.add("", _MEASURED * inner.values)
                spent.add("", _GLANCE + bound.of(inner, inner.values))
                continue
            if step is not None:
                place = places.setdefault((place, step), len(places) + 1)
            # What references lead to again at one place is known by then.
            if (key, place) not in seen:
                seen.add((key, place))
                spent.look(self._parts[key], item)
                waiting.append((place, self._inner(self._parts[key], item)))
        return spent.excess

    def _inner(self, part: _Part, item: Any) -> Iterator[_Applied]:
        """The schemas that apply to a value as well, or to what it holds."""
        yield from ((same, item, None) for same in part.same)
        schema = part.schema
        if isinstance(item, dict):
            own: Mapping[Any, Any] = mapping(schema.get("properties"))
            others = schema.get("additionalProperties")
            patterns = mapping(schema.get("patternProperties")).values()
            every = _ids([*patterns, schema.get("unevaluatedProperties")])
            for key in _ids([schema.get("propertyNames")]):
                yield from ((key, name, name) for name in item)
            steps: Iterable[Any] = item
        elif isinstance(item, (list, tuple)):
            first, others = schema.get("prefixItems"), schema.get("items")
            if isinstance(others, (list, tuple)):
                first, others = others, schema.get("additionalItems")
            own = dict(enumerate(first if isinstance(first, (list, tuple)) else ()))
            every = _ids([schema.get("contains"), schema.get("unevaluatedItems")])
            steps = range(len(item))
        else:
            return
        if not every and not isinstance(others, Mapping):
            steps = [step for step in own if step in steps]
        for step in steps:
            for key in (*_ids([own.get(step, others)]), *every):
                yield key, item[step], step

    def _read(self, waiting: list[Any]) -> dict[int, _Part]:
        """Every subschema that some lead to, those that contain others before them."""
        references = References(self._schema)
        parts: dict[int, _Part] = {}
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in parts:
                continue
            same = list(references.tried(schema))
            disjoint, overlapping = schemas_below(schema)
            parts[id(schema)] = _Part(
                schema,
                dict(_costs(schema, len(same))),
                _ids(same),
                tuple(map(_ids, disjoint)),
                _ids(overlapping),
            )
            waiting += [*same, *(p for group in disjoint for p in group), *overlapping]
        return parts

    def _bound(self) -> dict[int, Bound]:
        """The most that one value, character or number costs at any place below a schema.

        Where references lead around, this grows round by round; what does not come to rest
        has no bound.
        """
        own = {key: Bound.sum(part.costs.values()) for key, part in self._parts.items()}
        here, below, worst = dict(own), dict.fromkeys(own, Bound()), dict(own)
        leading = [(key, part) for key, part in self._parts.items() if part.leads_on]
        worst.update((key, Bound()) for key, _ in leading)
        changed: set[int] = set()
        for _ in range(_MAX_ROUNDS):
            changed.clear()
            for key, part in reversed(leading):
                here[key] = Bound.sum((own[key], *(here[s] for s in part.same)))
                one_of = Bound.most(worst[s] for group in part.disjoint for s in group)
                others = (worst[s] for s in part.overlapping)
                below[key] = Bound.sum(
                    (one_of, *others, *(below[s] for s in part.same))
                )
                found = Bound.at_any(here[key], below[key])
                if found != worst[key]:
                    worst[key] = found
                    changed.add(key)
            if not changed:
                break
        worst.update((key, Bound(_BEYOND)) for key in changed)
        return worst


class _Spent:
    """What is spent so far, and on what."""

    def __init__(self) -> None:
        self._places = 0
        self._total = 0.0
        self._on: dict[str, float] = {}

    def look(self, part: _Part, item: Any) -> None:
        """Looks at one place, with the costs of its schema's keywords."""
        self._places += 1
        here = Size()
        here.take([item])
        inner = len(item) if isinstance(item, (dict, list, tuple)) else 0
        for keyword, cost in part.costs.items():
            if isinstance(item, _OF_TYPE.get(keyword, object)):
                # Items that differ may differ in anything that they hold.
                size = measure(item) if cost.unique else here
                self.add(keyword, cost.of(size, inner))

    def add(self, keyword: str, cost: float) -> None:
        """Spends some time; `keyword` is empty for the plain look at a value."""
        self._total += cost
        self._on[keyword] = self._on.get(keyword, 0.0) + cost

    @property
    def is_too_much(self) -> bool:
        """Whether it is more than one value may cost."""
        return self._total > _MAX_VALIDATION_NS or self._places > _MAX_LOCATIONS

    @property
    def excess(self) -> str | None:
        """What to tell the caller; None when it is not too much."""
        if not self.is_too_much:
            return None
        keyword = max(self._on, key=lambda name: self._on[name] * bool(name))
        if self._on[keyword] < self._total / 10:
            keyword = ""
        what = f"its `{keyword}`" if keyword else "so many values"
        return (
            f"it takes more than {MAX_VALIDATION_MS} ms to check {what}:"
            " send fewer values or shorter texts"
        )


def _costs(schema: Mapping[str, Any], same: int) -> Iterator[tuple[str, Bound]]:
    """What a subschema costs, by keyword, beside so many others for the same value."""
    reading = len(_LENGTHS & schema.keys())
    content = reading + (0.0 if _CONTENTS.isdisjoint(schema) else _CONTENT)
    yield "", Bound(
        value=_KEYWORD * len(schema) + _NAME * _names(schema),
        short=content,
        character=content,
        large=_LARGE_INTEGER * len(_NUMBERS & schema.keys()),
    )
    if "enum" in schema or "const" in schema:
        yield "enum", _of_options(_options(schema))
    if (divisor := schema.get("multipleOf")) is not None:
        number = _EXACT_DIVISION if isinstance(divisor, float) else _DIVISION
        yield "multipleOf", Bound(
            number=number, large=_EXTREME_DIVISION, extreme=_EXTREME_DIVISION
        )
    if schema.get("uniqueItems") is True:
        yield "uniqueItems", Bound(unique=_UNIQUE, short=1.0, character=1.0)
    if isinstance(text := schema.get("pattern"), str):
        yield "pattern", _of_match(pattern_cost(text))
    name = schema.get("format")
    if isinstance(name, str) and name in ASSERTED:
        yield "format", _of_match(_FORMAT_REGEX if name == "regex" else _FORMAT)
    if patterns := mapping(schema.get("patternProperties")):
        every = Bound.sum(_of_match(pattern_cost(text)) for text in patterns)
        yield "patternProperties", every._replace(value=0.0, inner=every.value)
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword in schema:
            yield keyword, Bound(inner=_UNEVALUATED * (1 + same))


def _of_match(cost: PatternCost) -> Bound:
    return Bound(
        value=cost.each,
        short=cost.short,
        character=cost.per_character,
        squared=cost.squared,
    )


def _names(schema: Mapping[str, Any]) -> int:
    """How many names are looked for in each object."""
    count = 0
    required = schema.get("required")
    if isinstance(required, (list, tuple)):
        count += len(required)
    for keyword in _NEEDED:
        for needed in mapping(schema.get(keyword)).values():
            count += 1 + (len(needed) if isinstance(needed, (list, tuple)) else 0)
    return count


def _options(schema: Mapping[str, Any]) -> list[Any]:
    """The values of `enum` and `const`."""
    listed = schema.get("enum")
    options = list(listed) if isinstance(listed, (list, tuple)) else []
    return [*options, schema["const"]] if "const" in schema else options


def _of_options(options: list[Any]) -> Bound:
    """What it costs to compare a value with each of some."""
    if all(isinstance(option, str) for option in options):
        return Bound(value=_MATCH if options else 0.0)  # they are looked up
    size = measure(options)
    if size.problem is not None:
        return Bound(value=_BEYOND)
    each = _OPTION * len(options) + _LARGE_INTEGER * size.large_integers
    containers = [option for option in options if isinstance(option, (dict, list))]
    if containers:
        each += _DEEP_VALUE * measure(containers).values
        each += _DEEP_OPTION * len(containers)
    return Bound(value=each, large=_LARGE_INTEGER * len(options))


def _ids(schemas: Sequence[Any]) -> tuple[int, ...]:
    return tuple(id(schema) for schema in schemas if isinstance(schema, Mapping))
