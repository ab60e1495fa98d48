"""Up to where all that is wrong is told, and from where on the first alone, or nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.checker import Checker, DeclaredNames

NAMES = [f"n{number}" for number in range(10)]
MANY = {"enum": [*range(999)]}
UNEXPLAINED = "the value does not match the schema"


@pytest.mark.parametrize(
    ("schema", "all_of_it", "more"),
    [
        ({"items": {"type": "integer"}}, ["x"] * 999, ["x"] * 1_000),
        ({"items": {"required": NAMES}}, [{}] * 499, [{}] * 500),
        ({"items": MANY}, ["x"] * 99, ["x"] * 100),
        (
            {"items": {"type": "integer"}},
            ["x" * 4_194_304] * 2,
            ["x" * 4_194_304, "x" * 4_194_305],
        ),
    ],
    ids=["values", "errors", "copies", "characters"],
)
def test_of_a_large_value_the_first_fault_is_told(
    schema: Any, all_of_it: Any, more: Any
) -> None:
    checker = Checker(schema)
    found = checker.problems(all_of_it)
    assert len(found) == min(len(all_of_it), 10)
    assert checker.problems(more) == found[:1]


@pytest.mark.parametrize(("count", "told"), [(9, 9), (10, 10), (11, 10)])
def test_ten_faults_are_told(count: int, told: int) -> None:
    assert len(Checker({"items": {"type": "null"}}).problems([1] * count)) == told


@pytest.mark.parametrize(("members", "is_told"), [(499, True), (500, False)])
def test_alternatives_without_number_are_not_told(members: int, is_told: bool) -> None:
    alternatives = [{"const": number} for number in range(members)]
    found = Checker({"anyOf": alternatives}).problems("x")
    assert (found != [UNEXPLAINED]) is is_told


@pytest.mark.parametrize(("values", "is_told"), [(498, True), (499, False)])
def test_the_first_of_very_many_alternatives_is_not_told(
    values: int, is_told: bool
) -> None:
    either = {"anyOf": [{"enum": [*range(1_000)]}, {"type": "null"}]}
    found = Checker({"items": either}).problems(["x"] * values)
    assert len(found) == 1
    assert (found != [UNEXPLAINED]) is is_told


def test_a_value_that_cannot_be_taken_matches_nothing() -> None:
    checker = Checker({"type": "integer"})
    assert (checker.matches(1), checker.matches("x")) == (True, False)
    assert checker.matches(float("inf")) is None
    assert Checker({"pattern": r"(a)\1"}).matches("a" * 100_000) is None
    (problem,) = checker.problems({1: 2})
    assert problem == "the value is not accepted: it has a key that is not a string"


def test_names_are_declared_by_parts_of_a_schema() -> None:
    schema: Any = {
        "$ref": "#/$defs/a",
        "allOf": [{"properties": {"b": {}}}],
        "patternProperties": {"^x": {}},
        "additionalProperties": {"properties": {"no": {}}},
        "$defs": {
            "a": {"properties": {"a": {}}, "patternProperties": {"^x": {}, "y$": {}}}
        },
    }
    declared = DeclaredNames(schema)
    assert declared.names == {"a", "b"}
    assert set(declared.patterns) == {"^x", "y$"} and len(declared.patterns) == 2
    assert declared.find_undeclared(["a", "xa", "no", "z", "ay"]) == ["no", "z"]
    assert declared.find_undeclared(["b"]) == []
    assert DeclaredNames({"$ref": "#/gone", "properties": {"a": {}}}).names == {"a"}
    assert DeclaredNames(True).find_undeclared(["a"]) == ["a"]


def test_twenty_thousand_parts_of_a_schema_are_read() -> None:
    parts = [{"properties": {f"p{number}": {}}} for number in range(20_000)]
    assert len(DeclaredNames({"allOf": parts[1:]}).names) == 19_999
    assert len(DeclaredNames({"allOf": parts}).names) == 19_999
