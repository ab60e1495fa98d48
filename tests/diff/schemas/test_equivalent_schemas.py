"""Proofs that two schemas accept the same values: correctness, and coverage of simple cases."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from tests.diff.schemas.oracle import find_rejected_value
from tests.diff.schemas.random_schemas import build_changed_pair, build_independent_pair
from toolcast.diff.schemas.inclusion import (
    StepBudget,
    StepLimitError,
    accept_same_values,
)
from toolcast.diff.schemas.schema_version import SchemaVersion

OLD = {"$schema": "http://json-schema.org/draft-07/schema#"}
TEXT, NULL, OBJECT, INTEGER = (
    {"type": name} for name in ("string", "null", "object", "integer")
)
TWO_TEXTS = {"contains": TEXT, "maxContains": 2}
HAS_A = {"properties": {"a": {}}}
UNEVALUATED = {"unevaluatedProperties": False}
LOOP = {"properties": {"v": TEXT, "next": {"$ref": "#/$defs/one"}}}
DRAFT_04 = {"$schema": "http://json-schema.org/draft-04/schema#"}
NUMBER, ARRAY, BOOLEAN = ({"type": name} for name in ("number", "array", "boolean"))
OPEN = {"patternProperties": {"x": NULL}, "additionalProperties": TEXT}
EQUIVALENT = [
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
    (
        {"allOf": [{"anyOf": [TEXT, NULL]}, {"minLength": 1}, {"maxLength": 3}]},
        {"type": ["string", "null"], "minLength": 1, "maxLength": 3},
    ),
    ({**OPEN, "properties": {"a": TEXT, "x": NULL}}, OPEN),
    ({"const": "a"}, {**TEXT, "enum": ["a"]}),
    ({"type": "number"}, {"type": ["integer", "number"]}),
    ({"type": ["string"]}, TEXT),
    ({}, {"additionalProperties": True, "required": []}),
    ({"properties": {"a": {}}}, {"properties": {"a": True}}),
    (INTEGER, {**INTEGER, "minimum": -(2**53) + 1, "maximum": 2**53 - 1}),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
    # Senders are assumed not to send integers that some programs do not read exactly.
    ({"type": "integer"}, {"type": "integer", "maximum": 2**63 - 1}),
    ({"type": "number"}, {"type": "number", "maximum": 2**53 - 1}),
    ({"items": [TEXT], **OLD}, {"items": [TEXT], "additionalItems": {}, **OLD}),
    (TWO_TEXTS, {**TWO_TEXTS, "minContains": 1}),
    # An alternative that accepts no value has no effect.
    (NULL, {"anyOf": [NULL, False]}),
    (NULL, {"anyOf": [NULL, {"allOf": [TEXT, INTEGER]}]}),
    (NULL, {"anyOf": [NULL, {**TEXT, "minLength": 2, "maxLength": 1}]}),
    (NULL, {"anyOf": [NULL, {**ARRAY, "minItems": 2, "maxItems": 1}]}),
    (NULL, {"anyOf": [NULL, {**OBJECT, "minProperties": 2, "maxProperties": 1}]}),
    (NULL, {"anyOf": [NULL, {**NUMBER, "minimum": 2, "maximum": 1}]}),
    (NULL, {"anyOf": [NULL, {**NUMBER, "minimum": 1, "exclusiveMaximum": 1}]}),
    (NULL, {"anyOf": [NULL, {**NUMBER, "exclusiveMinimum": 1, "maximum": 1}]}),
    ({"enum": [1, 2, 3], "allOf": [{"enum": [2, 3, 4]}]}, {"enum": [3, 2]}),
    ({**TEXT, "enum": ["a", 1]}, {"const": "a"}),
    (NULL, {"enum": [None]}),
    (BOOLEAN, {"enum": [True, False]}),
    ({"type": ["null", "boolean"]}, {"enum": [True, None, False]}),
    ({**NUMBER, "multipleOf": 2}, {**INTEGER, "multipleOf": 2}),
    ({**INTEGER, "maximum": 9}, {**INTEGER, "exclusiveMaximum": 10}),
    ({**INTEGER, "minimum": 1}, {**INTEGER, "minimum": 0.5}),
    ({**INTEGER, "maximum": 1}, {**INTEGER, "maximum": 1.5}),
    ({"type": ["string", "null", "boolean"]}, {"oneOf": [TEXT, NULL, BOOLEAN]}),
    (TEXT, {**TEXT, "not": INTEGER}),
    (TEXT, {**TEXT, "if": INTEGER}),
    (TEXT, {**TEXT, "if": INTEGER, "then": False}),
    (TEXT, {**TEXT, "if": TEXT, "else": False}),
    # Of two equal bounds, the exclusive one is stricter.
    ({**INTEGER, "minimum": 5, "exclusiveMinimum": 5}, {**INTEGER, "minimum": 6}),
    ({**INTEGER, "maximum": 5, "exclusiveMaximum": 5}, {**INTEGER, "maximum": 4}),
    (
        {**DRAFT_04, **INTEGER, "minimum": 0, "exclusiveMinimum": True},
        {**DRAFT_04, **INTEGER, "minimum": 1},
    ),
]
DIFFERENT = [
    (TEXT, {**TEXT, "minLength": 1}),
    (NULL, {"anyOf": [NULL, {**TEXT, "minLength": 2, "maxLength": 2}]}),
    (NULL, {"anyOf": [NULL, {**ARRAY, "minItems": 2, "maxItems": 2}]}),
    (NULL, {"anyOf": [NULL, {**OBJECT, "minProperties": 2, "maxProperties": 2}]}),
    (NULL, {"anyOf": [NULL, {**NUMBER, "minimum": 1, "maximum": 1}]}),
    ({"enum": [1, 2, 3], "allOf": [{"enum": [2, 3, 4]}]}, {"enum": [2]}),
    ({}, {"anyOf": [TEXT, NULL]}),
    (TEXT, {**TEXT, "enum": ["a"]}),
    (ARRAY, {**ARRAY, "items": TEXT}),
    (TEXT, {**TEXT, "not": {"const": "a"}}),
    (TEXT, {**TEXT, "if": {"minLength": 1}, "then": {"maxLength": 3}}),
    (TEXT, {**TEXT, "if": {"minLength": 1}, "else": False}),
    (BOOLEAN, {"enum": [True]}),
    (BOOLEAN, {"enum": [False]}),
    (NUMBER, {**NUMBER, "minimum": -(2**53)}),
    (NUMBER, {**NUMBER, "maximum": 2**53}),
    ({**NUMBER, "multipleOf": 0.5}, {**INTEGER, "multipleOf": 0.5}),
    ({"pattern": "a"}, {"pattern": "^a"}),
    ({"pattern": "a"}, {"pattern": "a$"}),
    (HAS_A, {**HAS_A, "additionalProperties": False}),
    ({"oneOf": [TEXT, {"minLength": 1}]}, {"anyOf": [TEXT, {"minLength": 1}]}),
    (
        {"allOf": [HAS_A], "additionalProperties": False},
        {**HAS_A, "additionalProperties": False},
    ),
    ({"allOf": [HAS_A], **UNEVALUATED}, {"allOf": [HAS_A, UNEVALUATED]}),
    ({"not": {**HAS_A, "additionalProperties": False}}, {"not": HAS_A}),
]


def are_equivalent(*schemas: Any) -> bool:
    versions = SchemaVersion(schemas[0]), SchemaVersion(schemas[1])
    return accept_same_values(versions, schemas, StepBudget(450))


@pytest.mark.parametrize(
    ("first", "second", "is_equal"),
    [(*pair, pair in EQUIVALENT) for pair in EQUIVALENT + DIFFERENT],
)
def test_json_schemas_are_equivalent_only_if_they_have_the_same_valid_values(
    first: Any, second: Any, is_equal: bool
) -> None:
    assert are_equivalent(first, second) is are_equivalent(second, first) is is_equal


@pytest.mark.parametrize("build_pair", [build_changed_pair, build_independent_pair])
def test_equivalent_random_schemas_have_the_same_valid_values(build_pair: Any) -> None:
    equivalent_count = 0
    for seed in range(600):
        before, after = build_pair(Random(seed))
        if before != after and are_equivalent(before, after):
            equivalent_count += 1
            for sender, receiver in ((before, after), (after, before)):
                pair = (sender, receiver)
                found = find_rejected_value(
                    Random(seed), *pair, is_call=False, tries=60
                )
                assert not found, (seed, found)
    assert equivalent_count > 20 or build_pair is build_independent_pair


def test_proof_that_two_json_schemas_are_equivalent_stops_at_the_step_limit() -> None:
    references = [{"$ref": f"#/$defs/d{number}"} for number in range(41)]
    definitions = {f"d{i}": {"anyOf": [references[i + 1]] * 2} for i in range(40)}
    schema = {**references[0], "$defs": {**definitions, "d40": TEXT}}
    versions = SchemaVersion(schema), SchemaVersion(copy.deepcopy(schema))
    budget = StepBudget(450)
    accept_same_values(versions, (versions[0].root, versions[1].root), budget)
    assert budget.remaining > -450


@pytest.mark.parametrize(("count", "is_proved"), [(200, True), (201, False)])
def test_proof_validates_at_most_200_enum_values(count: int, is_proved: bool) -> None:
    values = [f"v{i}" for i in range(count)]
    assert are_equivalent({"enum": values}, {"enum": values[::-1]}) is is_proved


@pytest.mark.parametrize(("levels", "is_proved"), [(4, True), (5, False)])
def test_proof_distinguishes_at_most_4_nested_alternatives(
    levels: int, is_proved: bool
) -> None:
    first = second = TEXT
    for _ in range(levels):
        first = {"anyOf": [NULL, {"type": "array", "items": first}]}
        second = {"anyOf": [{"type": "array", "items": second}, NULL]}
    assert are_equivalent(first, second) is is_proved


def test_step_budget_raises_if_fewer_steps_than_the_minimum_remain() -> None:
    budget = StepBudget(5)
    budget.spend(3, minimum=2)
    budget.spend(2)
    assert budget.remaining == 0
    with pytest.raises(StepLimitError):
        budget.spend(1)
    with pytest.raises(StepLimitError):
        StepBudget(5).spend(4, minimum=2)


def test_are_equivalent_is_false_for_large_json_schemas_that_are_not_equal() -> None:
    names = range(2_000)
    schema = {"properties": {f"p{i}": {"minLength": i + 1} for i in names}}
    titled = {"properties": {f"p{i}": {"minLength": i + 1, "title": ""} for i in names}}
    assert are_equivalent(schema, copy.deepcopy(schema))
    assert not are_equivalent(schema, titled)
