"""Generation of candidate values for counterexamples, from the contents of two schemas.

Candidates are defaults, examples, enum values, limits and their neighbors. In objects and
arrays, one property or item is varied at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS, build_validator

from ..change import ABSENT
from .patterns import list_examples
from .schema_version import (
    Conjunction,
    ItemSchemas,
    SchemaVersion,
    list_property_schemas,
)
from .value_limits import MAX_SAFE_INTEGER, ValueLimits, get_value_type

_MAX_LOCATIONS = 5_000
"""Locations for which the candidates of one comparison are built."""
_MAX_DEPTH = 5
"""Levels of an example."""
_MAX_VALUES = 40
"""Values that are tried for one location."""
_MAX_NAMES = 60
"""Properties of an object, and leading items of an array, that are varied."""
_MAX_LENGTH = 1_000
"""Items of an example array, and characters of an example string."""
_BOUND_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_ITEM_COUNT_KEYWORDS = (
    "minItems",
    "maxItems",
    "minContains",
    "maxContains",
    "uniqueItems",
)
_NUMBER_TYPES = ("integer", "fraction")
_SIMPLE_VALUES: dict[str, list[Any]] = {
    "string": ["a", "", "A 1"],
    "integer": [1, 0, -1, 2, 10],
    "fraction": [0.5, 1.5, -0.5],
    "boolean": [True, False],
    "null": [None],
}


class CandidateGenerator:
    """Generates values that the sender may allow and the receiver may reject."""

    def __init__(self, sender: SchemaVersion, receiver: SchemaVersion) -> None:
        self._sender, self._receiver = sender, receiver
        self._remaining_calls = _MAX_LOCATIONS

    def list_values(self) -> Iterator[Any]:
        """Yield values of the root schemas, without duplicates."""
        sent = self._sender.get_conjunction(self._sender.root)
        # A case of `anyOf`, `oneOf` or `if` lacks the names that only other cases declare.
        names = dict.fromkeys(sorted(self._sender.declared_names.names), True)
        accepted = [self._receiver.root, {"properties": names}]
        seen: set[str] = set()
        for value in self._list_candidates(sent, accepted, 0):
            text = repr(value)
            if text not in seen:
                seen.add(text)
                yield value

    def _list_candidates(
        self, sent: Conjunction, accepted: list[Any], depth: int
    ) -> Iterator[Any]:
        """Yield candidates for one location.

        Args:
            sent: the sender's schemas of the location.
            accepted: the receiver's schemas of the location.
            depth: the number of levels above the location.
        """
        self._remaining_calls -= 1
        if depth > _MAX_DEPTH or self._remaining_calls < 0:
            return
        cases = self._sender.split_cases(sent)[:_MAX_VALUES]
        if cases:
            yield from _interleave(
                self._list_candidates(case, accepted, depth + 1) for case in cases
            )
            return
        limits = ValueLimits(sent)
        parts = [*limits.parts, *self._receiver.collect_applicable(*accepted)]
        groups = [_list_declared_values(limits, parts)]
        for type_name in _SIMPLE_VALUES:
            if type_name in limits.types:
                groups.append(iter(_list_boundary_values(type_name, parts)))
        if "array" in limits.types:
            groups.append(self._list_arrays(limits, parts, depth))
        if "object" in limits.types:
            groups.append(self._list_objects(limits, parts, depth))
        yield from _interleave(groups)

    def _get_first_valid(self, sent: Conjunction, values: list[Any]) -> Any:
        """Return the first value that the sender's schemas accept.

        If none is accepted, or no validator can be built, the first value is returned.
        """
        keywords = ("$schema", "$defs", "definitions")
        root = self._sender.root if isinstance(self._sender.root, dict) else {}
        context = {keyword: root[keyword] for keyword in keywords if keyword in root}
        try:
            is_valid = build_validator({**context, "allOf": list(sent)}).is_valid
            return next(filter(is_valid, values), values[0])
        except ValueError:
            # The validator contains only the definitions of the schema, so a reference to
            # another part of the schema has no target.
            return values[0]

    def _list_objects(
        self, limits: ValueLimits, parts: list[Mapping[str, Any]], depth: int
    ) -> Iterator[Any]:
        """Yield the smallest object, and objects that differ from it in one property.

        Last are an object with all properties, and objects that lack one of the properties.

        Args:
            limits: the limits of the sender's conjunction.
            parts: the schemas of both versions that apply to the object.
            depth: the number of levels above the object.
        """
        values_by_name: dict[str, list[Any]] = {}
        schemas: dict[str, Conjunction] = {}
        for name in islice(self._list_names(limits, parts), _MAX_NAMES):
            sent = [
                schema
                for part in limits.parts
                for schema in list_property_schemas(part, name)
            ]
            accepted = [
                schema for part in parts for schema in list_property_schemas(part, name)
            ]
            schemas[name] = tuple(
                part for schema in sent for part in self._sender.get_conjunction(schema)
            )
            candidates = self._list_candidates(schemas[name], accepted, depth + 1)
            values_by_name[name] = list(islice(candidates, _MAX_VALUES)) or ["a"]
        smallest = {
            name: self._get_first_valid(schemas[name], values)
            for name, values in values_by_name.items()
            if name in limits.required_names
        }
        full = {
            name: smallest.get(name, values[0])
            for name, values in values_by_name.items()
        }
        min_properties = min(limits.get_minimum("minProperties"), len(full))
        while len(smallest) < min_properties:
            name = next(name for name in full if name not in smallest)
            smallest[name] = full[name]
        yield smallest
        for name, values in values_by_name.items():
            yield {**smallest, name: values[0]}
        yield full
        for rank in range(1, _MAX_VALUES):
            for name, values in values_by_name.items():
                if rank < len(values):
                    yield {**smallest, name: values[rank]}
        for omitted_name in full:
            yield {n: value for n, value in full.items() if n != omitted_name}

    def _list_names(
        self, limits: ValueLimits, parts: list[Mapping[str, Any]]
    ) -> list[str]:
        """Return the property names to try: required, declared, and an undeclared one."""
        names = dict.fromkeys(sorted(limits.required_names))
        for part in (*self._sender.collect_applicable(*limits.parts), *parts):
            names |= dict.fromkeys(part.get("properties", {}))
        names["other"] = None
        return list(names)

    def _list_arrays(
        self, limits: ValueLimits, parts: list[Mapping[str, Any]], depth: int
    ) -> Iterator[Any]:
        """Yield arrays that differ in one item, and arrays of other lengths.

        Args:
            limits: the limits of the sender's conjunction.
            parts: the schemas of both versions that apply to the array.
            depth: the number of levels above the array.
        """
        sent_items = [self._sender.get_item_schemas(part) for part in limits.parts]
        accepted_items = [self._receiver.get_item_schemas(part) for part in parts]
        leading_count = max(
            (len(items.leading) for items in (*sent_items, *accepted_items)), default=0
        )
        values_by_index = [
            self._list_item_values(sent_items, accepted_items, index, depth)
            for index in range(min(leading_count, _MAX_NAMES) + 1)
        ]
        last_index = len(values_by_index) - 1
        min_items = min(int(limits.get_minimum("minItems")), _MAX_LENGTH)
        smallest = [
            values_by_index[min(index, last_index)][0]
            for index in range(max(leading_count, min_items, 1))
        ]
        varied = (
            [*smallest[:index], value, *smallest[index + 1 :]]
            for index, values in enumerate(values_by_index[: len(smallest)])
            for value in values
        )
        lengths = {0, leading_count + 1}
        yield from _interleave(
            (_list_arrays_by_length(values_by_index, lengths, parts), varied)
        )

    def _list_item_values(
        self,
        sent_items: list[ItemSchemas],
        accepted_items: list[ItemSchemas],
        index: int,
        depth: int,
    ) -> list[Any]:
        """Return candidates for the item at an index."""
        sent = tuple(
            part
            for items in sent_items
            for part in self._sender.get_conjunction(items.get_schema(index))
        )
        accepted = [items.get_schema(index) for items in accepted_items]
        candidates = self._list_candidates(sent, accepted, depth + 1)
        return list(islice(candidates, _MAX_VALUES)) or ["a"]


def _list_arrays_by_length(
    values_by_index: list[list[Any]],
    lengths: set[int],
    parts: Iterable[Mapping[str, Any]],
) -> Iterator[Any]:
    """Yield two arrays of each length, the first without and the second with variation.

    The first uses the first candidate of each item, the second different candidates.

    Args:
        values_by_index: candidates for the items; the last ones are for all further items.
        lengths: lengths to try, in addition to those near the limits of the schemas.
        parts: the schemas.
    """
    for part in parts:
        for keyword in _ITEM_COUNT_KEYWORDS:
            if keyword in part:
                # `uniqueItems: true` counts as 1, so that arrays of two items are tried.
                limit = int(part[keyword])
                lengths |= {limit - 1, limit, limit + 1}
    last_index = len(values_by_index) - 1
    for length in sorted(lengths):
        if not 0 <= length <= _MAX_LENGTH:
            continue
        rows = [values_by_index[min(index, last_index)] for index in range(length)]
        yield [values[0] for values in rows]
        yield [values[index % len(values)] for index, values in enumerate(rows)]


def _list_declared_values(
    limits: ValueLimits, parts: Iterable[Mapping[str, Any]]
) -> Iterator[Any]:
    """Yield the values that schemas contain: enum values, defaults and examples."""
    yield from (limits.values or ())[:_MAX_VALUES]
    for part in parts:
        for keyword in ("default", "const"):
            if keyword in part:
                yield part[keyword]
        for keyword in ("examples", "enum"):
            if isinstance(part.get(keyword), list):
                yield from part[keyword][:_MAX_VALUES]


def _list_boundary_values(
    type_name: str, parts: Iterable[Mapping[str, Any]]
) -> list[Any]:
    """Return values of a type at and near the limits of schemas.

    A few simple values of the type are included.
    """
    simple_values = _SIMPLE_VALUES[type_name]
    values: list[Any] = [simple_values[0]]
    for part in parts:
        if type_name == "string":
            values += _list_boundary_strings(part)
        elif type_name in _NUMBER_TYPES:
            values += _list_boundary_numbers(type_name, part)
    values += simple_values
    return [value for value in values if get_value_type(value) == type_name]


def _list_boundary_strings(part: Mapping[str, Any]) -> Iterator[str]:
    for keyword in ("minLength", "maxLength"):
        if keyword in part:
            for offset in (0, 1, -1):
                length = int(part[keyword]) + offset
                if 0 <= length <= _MAX_LENGTH:
                    yield "a" * length
    if isinstance(part.get("pattern"), str):
        yield from list_examples(part["pattern"])
    if part.get("format") in ASSERTED_FORMATS:
        yield ASSERTED_FORMATS[part["format"]].example


def _list_boundary_numbers(type_name: str, part: Mapping[str, Any]) -> Iterator[float]:
    is_integer = type_name == "integer"
    offsets = (0, 1, -1) if is_integer else (0, 0.5, -0.5)
    divisor = part.get("multipleOf", 0)
    limits = [part[keyword] for keyword in _BOUND_KEYWORDS if keyword in part]
    limits.append(divisor)
    # In draft-04 `exclusiveMinimum` and `exclusiveMaximum` are booleans.
    numbers = [limit for limit in limits if get_value_type(limit) in _NUMBER_TYPES]
    if divisor:
        numbers += [2 * divisor, 3 * divisor]
    for number in numbers:
        if abs(number) < MAX_SAFE_INTEGER and math.isfinite(number):
            base = int(number // 1) if is_integer else number
            for offset in offsets:
                yield base + offset


def _interleave(groups: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the first value of each group, then the second of each, and so on."""
    for row in zip_longest(*groups, fillvalue=ABSENT):
        for value in row:
            if value is not ABSENT:
                yield value
