"""Limits of explained schema problems: all, only the first, or a fixed sentence."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.checker import Checker, DeclaredNames

NAMES = [f"n{number}" for number in range(10)]
MANY = {"enum": [*range(999)]}
UNEXPLAINED = "the value does not match the schema"


@pytest.mark.parametrize(
    ("schema", "small_value", "large_value"),
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
def test_json_schema_checker_reports_only_a_large_values_first_problem(
    schema: Any, small_value: Any, large_value: Any
) -> None:
    checker = Checker(schema)
    found = checker.problems(small_value)
    assert len(found) == min(len(small_value), 10)
    assert checker.problems(large_value) == found[:1]


def test_json_schema_checker_reports_at_most_10_problems() -> None:
    checker = Checker({"items": {"type": "null"}})
    for count, reported in ((9, 9), (10, 10), (11, 10)):
        assert len(checker.problems([1] * count)) == reported


def test_anyof_problem_is_explained_for_499_alternatives_and_not_for_500() -> None:
    alternatives = [{"const": number} for number in range(500)]
    assert Checker({"anyOf": alternatives[1:]}).problems("x") != [UNEXPLAINED]
    assert Checker({"anyOf": alternatives}).problems("x") == [UNEXPLAINED]


def test_anyof_problems_are_explained_for_498_items_and_not_for_499() -> None:
    either = {"anyOf": [{"enum": [*range(1_000)]}, {"type": "null"}]}
    checker = Checker({"items": either})
    (problem,) = checker.problems(["x"] * 498)
    assert problem != UNEXPLAINED
    assert checker.problems(["x"] * 499) == [UNEXPLAINED]


def test_checker_matches_returns_none_for_a_value_that_cannot_be_checked() -> None:
    checker = Checker({"type": "integer"})
    assert (checker.matches(1), checker.matches("x")) == (True, False)
    assert checker.matches(float("inf")) is None
    assert Checker({"pattern": r"(a)\1"}).matches("a" * 100_000) is None
    (problem,) = checker.problems({1: 2})
    assert problem == "the value is not accepted: it has a key that is not a string"


def test_property_names_declared_in_subschemas_for_the_object_are_collected() -> None:
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


def test_declared_property_names_are_collected_from_up_to_20000_subschemas() -> None:
    parts = [{"properties": {f"p{number}": {}}} for number in range(20_000)]
    assert len(DeclaredNames({"allOf": parts[1:]}).names) == 19_999
    assert len(DeclaredNames({"allOf": parts}).names) == 19_999
