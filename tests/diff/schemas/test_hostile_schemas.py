"""Schemas that are made to hurt are compared in bounded time, or said not to be compared.

Seconds are no measure on a busy machine: what bounds the work is counted, and the limit here
is one that only work without bounds can miss.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.diff.schemas.comparing import compared
from toolcast.diff.change import Grade

SECONDS = 3.0
OLD = {"type": "integer", "maximum": 10}
NEW = {"type": "integer", "maximum": 9}
OTHER = {"type": "string"}


def nested(leaf: Any) -> Any:
    """An object in an object, 150 deep."""
    for _ in range(150):
        leaf = {"type": "object", "properties": {"a": leaf}}
    return leaf


def alternatives(leaf: Any) -> Any:
    """An alternative in an alternative, 60 deep."""
    for _ in range(60):
        leaf = {"anyOf": [leaf, {"type": "null"}]}
    return {"type": "object", "properties": {"a": leaf}}


def refusals(leaf: Any) -> Any:
    """`not` of `not`, 40 deep."""
    for _ in range(40):
        leaf = {"not": leaf}
    return {"type": "object", "properties": {"a": leaf}}


def fan(leaf: Any) -> Any:
    """Each definition leads to the next one twice: 2 ** 14 ways to one place."""
    ways = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(14)}
    start = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": start, "$defs": {**ways, "d14": leaf}}


def levels(leaf: Any) -> Any:
    """Each definition has three properties of the next one: 3 ** 20 places."""
    ways = {
        f"d{i}": {"properties": {name: {"$ref": f"#/$defs/d{i + 1}"} for name in "abc"}}
        for i in range(20)
    }
    start = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": start, "$defs": {**ways, "d20": leaf}}


def wide(leaf: Any) -> Any:
    """Two thousand properties."""
    return {"type": "object", "properties": {f"p{i}": dict(leaf) for i in range(2_000)}}


def kinds(leaf: Any) -> Any:
    """Two hundred alternatives, told apart by a property."""
    branches = [
        {"properties": {"k": {"const": i}, "v": leaf}, "required": ["k"]}
        for i in range(200)
    ]
    return {"type": "object", "properties": {"a": {"oneOf": branches}}}


def overlaps(leaf: Any) -> Any:
    """Two hundred alternatives that many values match."""
    branches = [{"properties": {f"k{i}": leaf}} for i in range(200)]
    return {"type": "object", "properties": {"a": {"anyOf": branches}}}


def patterns(leaf: Any) -> Any:
    """Three hundred patterns of names."""
    every = {f"^a{i}(b|c)*$": leaf for i in range(300)}
    return {"type": "object", "patternProperties": every}


def conditions(leaf: Any) -> Any:
    """Two hundred conditions."""
    every = [
        {"if": {"properties": {"a": {"const": i}}}, "then": {"properties": {"b": leaf}}}
        for i in range(200)
    ]
    return {"type": "object", "properties": {"a": {"type": "integer"}}, "allOf": every}


def tree(leaf: Any) -> Any:
    """A schema that holds itself in three ways."""
    node = {"$ref": "#/$defs/node"}
    inner = {"v": leaf, "l": node, "r": node, "x": {"type": "array", "items": node}}
    return {
        "type": "object",
        "properties": {"t": node},
        "$defs": {"node": {"type": "object", "properties": inner}},
    }


SHAPES = [
    nested,
    alternatives,
    refusals,
    fan,
    levels,
    wide,
    kinds,
    overlaps,
    patterns,
    conditions,
    tree,
]


def assert_bounded(before: Any, after: Any) -> None:
    for field in ("parameters", "returns"):
        start = time.process_time()
        changes = compared(before, after, field)
        assert time.process_time() - start < SECONDS
        assert changes
        for change in changes:
            if change.rule.id.endswith("not-compared"):
                assert change.grades.call is Grade.RISKY
                assert change.reason


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_is_compared_in_bounded_time(shape: Any) -> None:
    assert_bounded(shape(OLD), shape(NEW))
    assert_bounded(shape(OLD), shape(OTHER))


def values(word: str, *numbers: Any, **others: Any) -> list[Any]:
    """Schemas of one parameter, each with a keyword of another value."""
    kinds_of = {"maxLength": "string", "maxItems": "array", "minProperties": "object"}
    typed = {"type": kinds_of.get(word, "number")}
    return [
        {"type": "object", "properties": {"a": {**typed, **others, word: number}}}
        for number in numbers
    ]


@pytest.mark.parametrize(
    "pair",
    [
        values("maxLength", 10**9, 10**8),
        values("maxItems", 10**9, 10**8),
        values("minProperties", 10**9, 10**9 + 1),
        values("maximum", 10**400, 10**399),
        values("maximum", 10**400, 10**399, type="integer"),
        values("multipleOf", 1e-300, 1e-299),
        values("pattern", "^(a+)+$", "^(a|a)*b{3,900}$"),
        values("enum", *([f"v{i}" for i in range(k, 3_000 + k)] for k in (0, 5))),
        values("enum", *([{"x": i} for i in range(k, 2_000 + k)] for k in (0, 5))),
        values("description", "x" * 100_000, "y" * 100_000),
    ],
    ids=lambda pair: str(list(pair[0]["properties"]["a"])[-1]),
)
def test_a_large_value_is_compared_in_bounded_time(pair: list[Any]) -> None:
    assert_bounded(*pair)
    for change in compared(*pair, "parameters"):
        assert len(change.message) < 2_000


def test_a_schema_that_is_none_is_not_compared() -> None:
    sound = {"type": "object", "properties": {"a": OLD}}
    for broken in (
        {"type": "objct"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#"},
        {"$schema": "https://example.com/draft", "type": "object"},
    ):
        for pair in ((sound, broken), (broken, sound)):
            (change,) = compared(*pair, "parameters")
            assert change.rule.id == "parameter/not-compared"
            assert change.grades.call is Grade.RISKY
            assert change.reason
