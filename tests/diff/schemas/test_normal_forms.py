"""Schemas of one form accept the same values, and what is plainly the same has one form."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from tests.diff.schemas.oracle import difference
from tests.diff.schemas.schema_pairs import changed, independent
from toolcast.changes.schemas.normal_forms import normal_form
from toolcast.changes.schemas.schema_side import SchemaSide

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
    ({"items": [TEXT], **OLD}, {"items": [TEXT], "additionalItems": {}, **OLD}),
]
OTHER = [
    (TEXT, {**TEXT, "minLength": 1}),
    ({"type": "integer"}, {"type": "integer", "maximum": 2**63 - 1}),
    ({"type": "number"}, {"type": "number", "maximum": 2**53 - 1}),
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


def of(schema: Any) -> Any:
    return normal_form(SchemaSide(schema), schema)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_has_one_form(one: Any, other: Any) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_says_something_else_has_another_form(one: Any, other: Any) -> None:
    assert of(one) != of(other)


@pytest.mark.parametrize("pair", [changed, independent])
def test_schemas_of_one_form_accept_the_same_values(pair: Any) -> None:
    equal = 0
    for seed in range(600):
        before, after = pair(Random(seed))
        sides = SchemaSide(before), SchemaSide(after)
        if before == after or not sides[0].is_read_like(sides[1]):
            continue
        if of(before) == of(after):
            equal += 1
            for one, other in ((before, after), (after, before)):
                found = difference(Random(seed), one, other, is_call=False, tries=60)
                assert not found, (seed, found)
    assert equal > 20 or pair is independent


def test_ways_that_multiply_are_gone_once() -> None:
    ways = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**ways, "d40": TEXT}}

    assert of(schema) == of(copy.deepcopy(schema)) == of({"anyOf": [{"anyOf": [TEXT]}]})


def test_what_is_too_large_has_a_form_of_its_own() -> None:
    schema = {"properties": {f"p{i}": {"minLength": i + 1} for i in range(2_000)}}

    assert of(schema) != of(copy.deepcopy(schema))
