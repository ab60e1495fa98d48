"""What is proved to take the same values does, and what is plainly the same is proved to be."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from tests.diff.schemas.oracle import difference
from tests.diff.schemas.schema_pairs import changed, independent
from toolcast.diff.schemas.inclusion import StepBudget, accept_same_values
from toolcast.diff.schemas.schema_version import SchemaVersion

OLD = {"$schema": "http://json-schema.org/draft-07/schema#"}
TEXT, NULL = {"type": "string"}, {"type": "null"}
LOOP = {"properties": {"v": TEXT, "next": {"$ref": "#/$defs/one"}}}
SAME = [
    (TEXT, {**TEXT, "title": "A text", "minLength": 0}),
    (TEXT, {"$ref": "#/$defs/a", "$defs": {"a": TEXT}}),
    ({"$ref": "#/$defs/one", "$defs": {"one": LOOP}}, {**LOOP, "$defs": {"one": LOOP}}),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
        {"$ref": "#/$defs/b", "$defs": {"b": {"items": {"$ref": "#/$defs/b"}}}},
    ),
    ({"anyOf": [TEXT, NULL]}, {"anyOf": [NULL, TEXT]}),
    ({"anyOf": [TEXT, NULL]}, {"type": ["null", "string"]}),
    ({"anyOf": [{"const": "a"}, {"const": 1}]}, {"enum": [1, "a"]}),
    ({"allOf": [TEXT, {"maxLength": 3}]}, {**TEXT, "maxLength": 3}),
    ({"const": "a"}, {**TEXT, "enum": ["a"]}),
    ({"type": "number"}, {"type": ["integer", "number"]}),
    ({"type": ["string"]}, TEXT),
    (
        {"type": "object"},
        {"type": "object", "additionalProperties": True, "required": []},
    ),
    (
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": True}},
    ),
    (
        {"type": "integer"},
        {"type": "integer", "minimum": -(2**53) + 1, "maximum": 2**53 - 1},
    ),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
    # Nobody is taken to send numbers that not all programs read alike.
    ({"type": "integer"}, {"type": "integer", "maximum": 2**63 - 1}),
    ({"type": "number"}, {"type": "number", "maximum": 2**53 - 1}),
    ({"items": [TEXT], **OLD}, {"items": [TEXT], "additionalItems": {}, **OLD}),
]
OTHER = [
    (TEXT, {**TEXT, "minLength": 1}),
    ({"oneOf": [TEXT, {"minLength": 1}]}, {"anyOf": [TEXT, {"minLength": 1}]}),
    (
        {"allOf": [{"properties": {"a": {}}}], "additionalProperties": False},
        {"properties": {"a": {}}, "additionalProperties": False},
    ),
    (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": False}]},
    ),
]


def are_one(*schemas: Any) -> bool:
    versions = SchemaVersion(schemas[0]), SchemaVersion(schemas[1])
    return accept_same_values(versions, schemas, StepBudget(450))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_is_found_to(one: Any, other: Any) -> None:
    assert are_one(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_says_something_else_is_not(one: Any, other: Any) -> None:
    assert not are_one(one, other)


@pytest.mark.parametrize("pair", [changed, independent])
def test_what_is_found_to_say_the_same_accepts_the_same_values(pair: Any) -> None:
    equal = 0
    for seed in range(600):
        before, after = pair(Random(seed))
        if before != after and are_one(before, after):
            equal += 1
            for one, other in ((before, after), (after, before)):
                found = difference(Random(seed), one, other, is_call=False, tries=60)
                assert not found, (seed, found)
    assert equal > 20 or pair is independent


def test_ways_that_multiply_are_not_all_gone() -> None:
    ways = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**ways, "d40": TEXT}}
    versions = SchemaVersion(schema), SchemaVersion(copy.deepcopy(schema))
    budget = StepBudget(450)

    accept_same_values(versions, (versions[0].root, versions[1].root), budget)

    assert budget.remaining > -450


def test_what_is_too_large_is_not_found_to_be_the_same() -> None:
    names = range(2_000)
    schema = {"properties": {f"p{i}": {"minLength": i + 1} for i in names}}
    titled = {"properties": {f"p{i}": {"minLength": i + 1, "title": ""} for i in names}}

    assert are_one(schema, copy.deepcopy(schema))
    assert not are_one(schema, titled)
