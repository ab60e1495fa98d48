"""Upper bounds on the cost of validating a value, computed before the validation.

A validator holds the interpreter's lock, so no timeout can stop it. The cost is therefore bounded
from above first: by the schema and the size of the value if that is enough, and otherwise by
walking through the value. Costs are in nanoseconds. Each constant lies above the time that was
measured with the slowest known inputs; only its order of magnitude matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from .compiled import ASSERTED_FORMATS
from .limits import SHORT, PatternCost, Size, estimate_pattern_cost, measure_value
from .references import References, as_mapping, group_child_schemas

MAX_VALIDATION_MS = 35
"""The maximum cost of one validation of a value."""

_MAX_VALIDATION_NS = MAX_VALIDATION_MS * 1_000_000.0
"""`MAX_VALIDATION_MS` in nanoseconds."""
_MAX_LOCATIONS = 6_000
"""Maximum number of locations that the estimate for one value visits."""
_MAX_ROUNDS = 60
"""Maximum number of rounds in which the bounds of a schema are propagated."""
_UNBOUNDED_NS = 1e15
# Costs of the estimate itself, in nanoseconds: for each pair of schema and value, and for each
# measured value.
_ESTIMATE_NS = 1_500.0
_MEASURE_NS = 30.0
# Costs of the validator's checks, in nanoseconds.
_LIGHT_NS = 300.0
_KEYWORD_NS = 5.0
_NAME_NS = 12.0
_OPTION_NS = 5.0
_CONTAINER_OPTION_NS = 150.0
_CONTAINER_VALUE_NS = 60.0
_MATCH_NS = 60.0
_LARGE_INTEGER_NS = 1_300.0
_DIVISION_NS = 120.0
_EXACT_DIVISION_NS = 2_400.0
_EXTREME_DIVISION_NS = 40_000.0
_CONTENT_NS = 40.0
_UNEVALUATED_NS = 150.0
_UNIQUE_NS = 60.0
_LARGE_INTEGER_PAIR_NS = 700.0
# Maximum sum of the costs of nested `uniqueItems`. From this maximum on, the cost is multiplied
# by the value's levels of nesting instead.
_MAX_UNIQUE_COST = 10 * _UNIQUE_NS
_FORMAT_COST = PatternCost(2_000, 10.0)
# `format: regex` has a squared factor, because the validator compares the named groups of a
# regular expression with each other.
_REGEX_FORMAT_COST = PatternCost(2_000, 60.0, 0.03)
_LENGTH_KEYWORDS = frozenset("minLength maxLength".split())
_NUMBER_KEYWORDS = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum".split()
)
_CONTENT_KEYWORDS = frozenset("contentEncoding contentMediaType".split())
_DEPENDENCY_KEYWORDS = ("dependentRequired", "dependentSchemas", "dependencies")
_ALTERNATIVE_KEYWORDS = frozenset("anyOf oneOf".split())
_KEYWORD_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(["pattern", "format"], str),
    **dict.fromkeys(["patternProperties", "unevaluatedProperties"], dict),
    **dict.fromkeys(["uniqueItems", "unevaluatedItems"], (list, tuple)),
}
"""The Python types of the values that a keyword applies to; all types if it is missing."""

_Application = tuple[int, Any, str | int | None]
"""The id of a schema, a value that it applies to, and the key or index of the value.

The key or index is None if the schema applies to the same value as the one before.
"""


class Bound(NamedTuple):
    """An upper bound on the cost of values, as a sum of rates.

    The bound is for one keyword or several, at one location in a value or at all locations
    below it.

    Attributes:
        value: the cost of each value.
        child: the additional cost of each item and member of an array or object.
        number: the additional cost of each number.
        unique: the cost of each value for all `uniqueItems` above it. At the maximum it is
            counted for each level of nesting.
        short: the cost of each character of short strings and names.
        character: the cost of each character of other strings and names.
        squared: like `character`, multiplied by the length of the longest string.
        large: the additional cost of each large integer.
        extreme: the additional cost of each extremely large or small number.
    """

    value: float = 0.0
    child: float = 0.0
    number: float = 0.0
    unique: float = 0.0
    short: float = 0.0
    character: float = 0.0
    squared: float = 0.0
    large: float = 0.0
    extreme: float = 0.0

    def cost_for(self, size: Size, children: int) -> float:
        """Return the maximum cost of a value.

        Args:
            size: the size of the value.
            children: the number of items or members to count.
        """
        rate = self.short
        if size.longest > SHORT:
            rate = self.character + self.squared * size.longest
            # Not all characters are in the longest string; the other strings may be short.
            if size.longest < size.characters:
                rate = max(rate, self.short)
        cost = self.value * size.values + self.child * children + rate * size.characters
        cost += self.number * size.numbers
        cost += self.large * size.large_integers + self.extreme * size.extreme_numbers
        if self.unique:
            pairs = _LARGE_INTEGER_PAIR_NS * size.large_integers**2
            unique = self.unique * (size.values + pairs / _UNIQUE_NS)
            cost += unique * (size.levels if self.unique >= _MAX_UNIQUE_COST else 1)
        return cost

    def is_light(self, with_large: bool) -> bool:
        """Return whether the cost is so low that the whole value can be counted at once.

        Args:
            with_large: whether the value has large integers, which make `uniqueItems` slow.
        """
        if self.squared or (with_large and self.unique):
            return False
        return max(self[:6]) <= _LIGHT_NS

    @classmethod
    def combine_levels(cls, current: Bound, below: Bound) -> Bound:
        """Return the bound for any value at a location or below it."""
        unique = min(current.unique + below.unique, _MAX_UNIQUE_COST)
        return cls.max((current, below))._replace(unique=unique)

    @classmethod
    def sum(cls, bounds: Iterable[Bound]) -> Bound:
        """Return the bound for a value to which all bounds apply."""
        return cls(*map(sum, zip(*bounds, strict=True)))

    @classmethod
    def max(cls, bounds: Iterable[Bound]) -> Bound:
        """Return the bound for a value to which exactly one, unknown bound applies."""
        return cls(*map(max, zip(cls(), *bounds, strict=True)))


class _Part(NamedTuple):
    """A subschema with its costs; other subschemas are referenced by `id`.

    Attributes:
        schema: the subschema.
        costs: its cost at one value by keyword, without its own subschemas. The key "" has
            the cost that belongs to no single keyword.
        same: the schemas that apply to the same value.
        disjoint: groups of schemas of which at most one applies to one child of the value.
        overlapping: further schemas that apply to children of the value.
    """

    schema: Mapping[str, Any]
    costs: Mapping[str, Bound]
    same: tuple[int, ...]
    disjoint: tuple[tuple[int, ...], ...]
    overlapping: tuple[int, ...]

    @property
    def has_subschemas(self) -> bool:
        """Whether further schemas apply to the value or to its children."""
        return bool(self.same or self.overlapping or any(self.disjoint))


class CostEstimate:
    """Estimate of the cost of validating values against one schema.

    Args:
        schema: any value; it does not have to be a valid schema.
        parts: the subschemas that values are validated against; by default the whole schema.
    """

    def __init__(self, schema: Any, parts: Sequence[Any] | None = None) -> None:
        self._schema = schema
        self._parts = self._collect_parts([schema] if parts is None else [*parts])
        self._bounds = self._compute_bounds()

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether an error may contain the errors of alternatives."""
        parts = self._parts.values()
        return any(not _ALTERNATIVE_KEYWORDS.isdisjoint(part.schema) for part in parts)

    @cached_property
    def max_options(self) -> int:
        """The number of values in the largest `enum` or `const`, which errors copy."""
        options = (_get_options(part.schema) for part in self._parts.values())
        return max((measure_value(values).values for values in options), default=1)

    @cached_property
    def max_missing(self) -> int:
        """The maximum number of errors about missing names at one location."""
        counts = (_count_names(part.schema) for part in self._parts.values())
        return max(counts, default=0) or 1

    def find_excess(self, value: Any, size: Size, part: Any = None) -> str | None:
        """Return the reason why a value takes too long to validate; None if it does not.

        Args:
            value: a JSON value.
            size: the size of the value.
            part: the subschema that it is validated against; by default the whole schema.
        """
        key = id(self._schema if part is None else part)
        # Schemas `true` and `false` have no bound and cost nothing.
        if key not in self._bounds:
            return None
        cost = self._bounds[key].cost_for(size, size.values)
        return (
            None if cost <= _MAX_VALIDATION_NS else self._walk_value(key, value, size)
        )

    def _walk_value(self, key: int, value: Any, size: Size) -> str | None:
        """Add up the cost of each location of a value; return like `find_excess`.

        This is exact enough to accept values for which the bound of the whole is too high.
        """
        total = _Total()
        # IDs of the visited locations, by the ID of the parent and the key or index.
        locations: dict[tuple[int, str | int], int] = {}
        visited: set[tuple[int, int]] = set()
        measured_item, measured_size = value, size
        start: Iterator[_Application] = iter([(key, value, None)])
        stack = [(0, start)]
        while stack and not total.is_too_much:
            location, applications = stack[-1]
            key, item, step = next(applications, (0, None, None))
            if not key:
                stack.pop()
                continue
            bound = self._bounds[key]
            if bound.is_light(with_large=bool(size.large_integers)):
                # Several alternatives in a row may apply to the same item: measure it once.
                if item is not measured_item:
                    measured_item, measured_size = item, measure_value(item)
                    total.add("", _MEASURE_NS * measured_size.values)
                cost = bound.cost_for(measured_size, measured_size.values)
                total.add("", _ESTIMATE_NS + cost)
                continue
            if step is not None:
                location = locations.setdefault((location, step), len(locations) + 1)
            # Skip a schema that was already counted at this location, as with recursive
            # references.
            if (key, location) not in visited:
                visited.add((key, location))
                total.add_location(self._parts[key], item)
                stack.append(
                    (location, self._list_applications(self._parts[key], item))
                )
        return total.excess

    def _list_applications(self, part: _Part, item: Any) -> Iterator[_Application]:
        """Yield the subschemas that apply to a value or its children, with that value."""
        yield from ((key, item, None) for key in part.same)
        schema = part.schema
        if isinstance(item, dict):
            by_step: Mapping[Any, Any] = as_mapping(schema.get("properties"))
            others = schema.get("additionalProperties")
            patterns = as_mapping(schema.get("patternProperties")).values()
            for_all = _get_ids([*patterns, schema.get("unevaluatedProperties")])
            for key in _get_ids([schema.get("propertyNames")]):
                yield from ((key, name, name) for name in item)
            steps: Iterable[Any] = item
        elif isinstance(item, (list, tuple)):
            first, others = schema.get("prefixItems"), schema.get("items")
            if isinstance(others, (list, tuple)):
                first, others = others, schema.get("additionalItems")
            by_step = dict(enumerate(first if isinstance(first, (list, tuple)) else ()))
            for_all = _get_ids([schema.get("contains"), schema.get("unevaluatedItems")])
            steps = range(len(item))
        else:
            return
        if not for_all and not isinstance(others, Mapping):
            steps = [step for step in by_step if step in steps]
        for step in steps:
            for key in (*_get_ids([by_step.get(step, others)]), *for_all):
                yield key, item[step], step

    def _collect_parts(self, waiting: list[Any]) -> dict[int, _Part]:
        """Return all subschemas by `id`, each before the subschemas that it contains."""
        references = References(self._schema)
        parts: dict[int, _Part] = {}
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in parts:
                continue
            same = list(references.list_tried_schemas(schema))
            disjoint, overlapping = group_child_schemas(schema)
            parts[id(schema)] = _Part(
                schema,
                dict(_compute_costs(schema, len(same))),
                _get_ids(same),
                tuple(map(_get_ids, disjoint)),
                _get_ids(overlapping),
            )
            waiting += same
            for group in disjoint:
                waiting += group
            waiting += overlapping
        return parts

    def _compute_bounds(self) -> dict[int, Bound]:
        """Return, by schema, the maximum rates at any location of a value below it.

        With recursive references the bounds grow round by round. A bound that still changes
        after the last round becomes infinite.
        """
        own = {key: Bound.sum(part.costs.values()) for key, part in self._parts.items()}
        current, below, worst = dict(own), dict.fromkeys(own, Bound()), dict(own)
        parents = [(key, p) for key, p in self._parts.items() if p.has_subschemas]
        worst.update((key, Bound()) for key, _ in parents)
        changed: set[int] = set()
        for _ in range(_MAX_ROUNDS):
            changed.clear()
            for key, part in reversed(parents):
                current[key] = Bound.sum((own[key], *(current[s] for s in part.same)))
                one_of = Bound.max(worst[s] for group in part.disjoint for s in group)
                others = (worst[s] for s in part.overlapping)
                below[key] = Bound.sum(
                    (one_of, *others, *(below[s] for s in part.same))
                )
                bound = Bound.combine_levels(current[key], below[key])
                if bound != worst[key]:
                    worst[key] = bound
                    changed.add(key)
            if not changed:
                break
        worst.update((key, Bound(_UNBOUNDED_NS)) for key in changed)
        return worst


class _Total:
    """Cost of a validation so far, in total and by keyword."""

    def __init__(self) -> None:
        self._locations = 0
        self._total = 0.0
        self._by_keyword: dict[str, float] = {}

    def add_location(self, part: _Part, item: Any) -> None:
        """Add the cost of a subschema's keywords at one location, without its children."""
        self._locations += 1
        own_size = Size()
        own_size.add_level([item])
        children = len(item) if isinstance(item, (dict, list, tuple)) else 0
        for keyword, cost in part.costs.items():
            if isinstance(item, _KEYWORD_TYPES.get(keyword, object)):
                # `uniqueItems` compares items with all their content, so measure it too.
                size = measure_value(item) if cost.unique else own_size
                self.add(keyword, cost.cost_for(size, children))

    def add(self, keyword: str, cost: float) -> None:
        """Add a cost in nanoseconds to a keyword's total; "" is for no single keyword."""
        self._total += cost
        self._by_keyword[keyword] = self._by_keyword.get(keyword, 0.0) + cost

    @property
    def is_too_much(self) -> bool:
        """Whether the cost exceeds the maximum for one value."""
        return self._total > _MAX_VALIDATION_NS or self._locations > _MAX_LOCATIONS

    @property
    def excess(self) -> str | None:
        """The message for the caller; None if the cost is within the maximum."""
        if not self.is_too_much:
            return None
        keyword = max(
            self._by_keyword, key=lambda name: self._by_keyword[name] * bool(name)
        )
        if self._by_keyword[keyword] < self._total / 10:
            keyword = ""
        cause = f"its `{keyword}`" if keyword else "so many values"
        return (
            f"it takes more than {MAX_VALIDATION_MS} ms to check {cause}:"
            " send fewer values or shorter strings"
        )


def _compute_costs(schema: Mapping[str, Any], same: int) -> Iterator[tuple[str, Bound]]:
    """Yield the cost of a subschema by keyword.

    Args:
        schema: the subschema.
        same: the number of further schemas that apply to the same value.
    """
    reading = len(_LENGTH_KEYWORDS & schema.keys())
    content = 0.0 if _CONTENT_KEYWORDS.isdisjoint(schema) else _CONTENT_NS
    yield "", Bound(
        value=_KEYWORD_NS * len(schema) + _NAME_NS * _count_names(schema),
        short=reading + content,
        character=reading + content,
        large=_LARGE_INTEGER_NS * len(_NUMBER_KEYWORDS & schema.keys()),
    )
    if "enum" in schema or "const" in schema:
        yield "enum", _options_bound(_get_options(schema))
    if (divisor := schema.get("multipleOf")) is not None:
        number = _EXACT_DIVISION_NS if isinstance(divisor, float) else _DIVISION_NS
        yield "multipleOf", Bound(
            number=number, large=_EXTREME_DIVISION_NS, extreme=_EXTREME_DIVISION_NS
        )
    if schema.get("uniqueItems") is True:
        yield "uniqueItems", Bound(unique=_UNIQUE_NS, short=1.0, character=1.0)
    if isinstance(pattern := schema.get("pattern"), str):
        yield "pattern", _match_bound(estimate_pattern_cost(pattern))
    name = schema.get("format")
    if isinstance(name, str) and name in ASSERTED_FORMATS:
        cost = _REGEX_FORMAT_COST if name == "regex" else _FORMAT_COST
        yield "format", _match_bound(cost)
    if patterns := as_mapping(schema.get("patternProperties")):
        # The validator matches the name of each member against every pattern.
        total = Bound.sum(_match_bound(estimate_pattern_cost(p)) for p in patterns)
        yield "patternProperties", total._replace(value=0.0, child=total.value)
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword in schema:
            yield keyword, Bound(child=_UNEVALUATED_NS * (1 + same))


def _match_bound(cost: PatternCost) -> Bound:
    return Bound(
        value=cost.per_match,
        short=cost.short,
        character=cost.per_character,
        squared=cost.squared,
    )


def _count_names(schema: Mapping[str, Any]) -> int:
    """Return how many names a subschema looks up in each object."""
    count = 0
    required = schema.get("required")
    if isinstance(required, (list, tuple)):
        count += len(required)
    for keyword in _DEPENDENCY_KEYWORDS:
        for needed in as_mapping(schema.get(keyword)).values():
            count += 1 + (len(needed) if isinstance(needed, (list, tuple)) else 0)
    return count


def _get_options(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values of `enum` and `const`."""
    values = schema.get("enum")
    options = list(values) if isinstance(values, (list, tuple)) else []
    return [*options, schema["const"]] if "const" in schema else options


def _options_bound(options: list[Any]) -> Bound:
    """Return the bound for comparing a value with each option."""
    if all(isinstance(option, str) for option in options):
        # The validator finds strings in a set, so their number does not matter.
        return Bound(value=_MATCH_NS if options else 0.0)
    size = measure_value(options)
    if size.problem is not None:
        return Bound(value=_UNBOUNDED_NS)
    cost = _OPTION_NS * len(options) + _LARGE_INTEGER_NS * size.large_integers
    containers = [option for option in options if isinstance(option, (dict, list))]
    if containers:
        cost += _CONTAINER_VALUE_NS * measure_value(containers).values
        cost += _CONTAINER_OPTION_NS * len(containers)
    return Bound(value=cost, large=_LARGE_INTEGER_NS * len(options))


def _get_ids(schemas: Sequence[Any]) -> tuple[int, ...]:
    return tuple(id(schema) for schema in schemas if isinstance(schema, Mapping))
