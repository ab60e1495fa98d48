"""Schemas that are expensive to compare are compared in bounded time, or not at all.

The code limits its work by counters. The time limit here is so high that only unlimited work
exceeds it, even on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.diff.schemas.comparison import compare_schemas
from toolcast.diff.change import Grade

MAX_SECONDS = 3.0
OLD = {"type": "integer", "maximum": 10}
NEW = {"type": "integer", "maximum": 9}
OTHER = {"type": "string"}


def build_nested_schema(leaf: Any) -> Any:
    """Return an object schema that is nested 150 levels deep."""
    for _ in range(150):
        leaf = {"type": "object", "properties": {"a": leaf}}
    return leaf


def build_nested_alternatives(leaf: Any) -> Any:
    """Return alternatives that are nested 60 levels deep."""
    for _ in range(60):
        leaf = {"anyOf": [leaf, {"type": "null"}]}
    return {"type": "object", "properties": {"a": leaf}}


def build_nested_negations(leaf: Any) -> Any:
    """Return `not` schemas that are nested 40 levels deep."""
    for _ in range(40):
        leaf = {"not": leaf}
    return {"type": "object", "properties": {"a": leaf}}


def build_double_references(leaf: Any) -> Any:
    """Return definitions that refer to the next one twice: 2 ** 14 paths to one schema."""
    return build_chain(14, lambda r: {"anyOf": [r, r]}, leaf)


def build_triple_references(leaf: Any) -> Any:
    """Return definitions with three properties of the next one: 3 ** 20 locations."""
    return build_chain(20, lambda r: {"properties": {"a": r, "b": r, "c": r}}, leaf)


def build_chain(count: int, build_definition: Callable[[Any], Any], leaf: Any) -> Any:
    """Return a schema with definitions of which each is built from a reference to the next."""
    first, *others = ({"$ref": f"#/$defs/d{i}"} for i in range(count + 1))
    definitions = {f"d{i}": build_definition(r) for i, r in enumerate(others)}
    definitions[f"d{count}"] = leaf
    start = {"a": first}
    return {"type": "object", "properties": start, "$defs": definitions}


def build_properties(leaf: Any) -> Any:
    """Return an object schema with two thousand properties."""
    return {"type": "object", "properties": {f"p{i}": dict(leaf) for i in range(2_000)}}


def build_discriminated_alternatives(leaf: Any) -> Any:
    """Return two hundred alternatives with a discriminating property."""
    properties = ({"k": {"const": i}, "v": leaf} for i in range(200))
    branches = [{"properties": fields, "required": ["k"]} for fields in properties]
    return {"type": "object", "properties": {"a": {"oneOf": branches}}}


def build_overlapping_alternatives(leaf: Any) -> Any:
    """Return two hundred alternatives that accept the same values."""
    branches = [{"properties": {f"k{i}": leaf}} for i in range(200)]
    return {"type": "object", "properties": {"a": {"anyOf": branches}}}


def build_patterns(leaf: Any) -> Any:
    """Return an object schema with three hundred patterns of property names."""
    properties = {f"^a{i}(b|c)*$": leaf for i in range(300)}
    return {"type": "object", "patternProperties": properties}


def build_conditions(leaf: Any) -> Any:
    """Return a schema with two hundred conditions."""
    branches = [
        {"if": {"properties": {"a": {"const": i}}}, "then": {"properties": {"b": leaf}}}
        for i in range(200)
    ]
    properties = {"a": {"type": "integer"}}
    return {"type": "object", "properties": properties, "allOf": branches}


def build_recursive_schema(leaf: Any) -> Any:
    """Return a schema that refers to itself three times."""
    node = {"$ref": "#/$defs/node"}
    nodes = {"l": node, "r": node, "x": {"type": "array", "items": node}}
    definition = {"type": "object", "properties": {"v": leaf, **nodes}}
    properties = {"t": node}
    return {"type": "object", "properties": properties, "$defs": {"node": definition}}


SHAPES = [
    build_nested_schema,
    build_nested_alternatives,
    build_nested_negations,
    build_double_references,
    build_triple_references,
    build_properties,
    build_discriminated_alternatives,
    build_overlapping_alternatives,
    build_patterns,
    build_conditions,
    build_recursive_schema,
]


def assert_bounded(before: Any, after: Any, *fields: str) -> None:
    for field in fields or ("parameters", "returns"):
        start = time.process_time()
        changes = compare_schemas(before, after, field)
        assert time.process_time() - start < MAX_SECONDS
        assert changes
        for change in changes:
            if change.rule.id.endswith("not-compared"):
                assert change.grades.call is Grade.RISKY
                assert change.reason


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_diff_compares_large_json_schemas_in_bounded_time(shape: Any) -> None:
    assert_bounded(shape(OLD), shape(NEW))
    # Neither direction of a changed type has a proof, so one of them suffices.
    assert_bounded(shape(OLD), shape(OTHER), "parameters")


def build_schemas(keyword: str, *values: Any, **keywords: Any) -> list[Any]:
    """Return schemas of one parameter that differ in the value of a keyword."""
    types = {"maxLength": "string", "maxItems": "array", "minProperties": "object"}
    typed = {"type": types.get(keyword, "number")}
    return [
        {"type": "object", "properties": {"a": {**typed, **keywords, keyword: value}}}
        for value in values
    ]


WORDS = [f"v{i}" for i in range(3_005)]
OBJECTS = [{"x": i} for i in range(2_005)]


@pytest.mark.parametrize(
    "pair",
    [
        build_schemas("maxLength", 10**9, 10**8),
        build_schemas("maxItems", 10**9, 10**8),
        build_schemas("minProperties", 10**9, 10**9 + 1),
        build_schemas("maximum", 10**400, 10**399),
        build_schemas("maximum", 10**400, 10**399, type="integer"),
        build_schemas("multipleOf", 1e-300, 1e-299),
        build_schemas("pattern", "^(a+)+$", "^(a|a)*b{3,900}$"),
        build_schemas("enum", WORDS[5:], WORDS[:-5]),
        build_schemas("enum", OBJECTS[5:], OBJECTS[:-5]),
        build_schemas("description", "x" * 100_000, "y" * 100_000),
    ],
    ids=lambda pair: str(list(pair[0]["properties"]["a"])[-1]),
)
def test_diff_compares_large_schema_values_in_bounded_time(pair: list[Any]) -> None:
    assert_bounded(*pair)
    for change in compare_schemas(*pair, "parameters"):
        assert len(change.message) < 2_000


@pytest.mark.parametrize(
    ("count", "rule"), [(1_199, "minimum-set"), (1_200, "not-compared")]
)
def test_diff_compares_at_most_1200_schema_locations(count: int, rule: str) -> None:
    """Locations are the schema itself and each property."""
    properties = {f"p{i}": dict(OTHER) for i in range(count)}
    before, after = (
        {"type": "object", "properties": {**properties, "p0": leaf}}
        for leaf in ({"type": "integer"}, {"type": "integer", "minimum": 9})
    )
    (change,) = compare_schemas(before, after, "parameters")
    assert change.rule.id == f"parameter/{rule}"


def test_diff_grades_an_invalid_json_schema_as_risky_and_not_compared() -> None:
    valid = {"type": "object", "properties": {"a": OLD}}
    for invalid in (
        {"type": "objct"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#"},
        {"$schema": "https://example.com/draft", "type": "object"},
    ):
        for pair in ((valid, invalid), (invalid, valid)):
            (change,) = compare_schemas(*pair, "parameters")
            assert change.rule.id == "parameter/not-compared"
            assert change.grades.call is Grade.RISKY
            assert change.reason
