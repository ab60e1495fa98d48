"""Explanations of validation problems, from which a model can correct its call."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.checker import Checker

CIRCLE = {
    "title": "Circle",
    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
    "required": ["kind", "radius"],
}
SQUARE = {
    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
    "required": ["kind", "side"],
    "additionalProperties": False,
}
SHAPES = {
    "properties": {
        "shape": {"oneOf": [CIRCLE, {"$ref": "#/$defs/square"}, {"type": "string"}]}
    },
    "$defs": {"square": SQUARE},
}
MODES = {"properties": {"mode": {"enum": [f"mode-{n}" for n in range(5_000)]}}}


def check(schema: Any, value: Any) -> list[str]:
    return Checker(schema).problems(value)


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_anyof_problem_names_nearest_alternative_and_its_problems(keyword: str) -> None:
    choice = {keyword: SHAPES["properties"]["shape"]["oneOf"]}
    schema = {**SHAPES, "properties": {"shape": choice}}
    assert check(schema, {"shape": {"kind": "circle"}}) == [
        f"`shape` matches none of the 3 alternatives of `{keyword}`; number 1 (Circle)"
        " comes nearest: `shape.radius` is required"
    ]
    assert check(schema, {"shape": {"kind": "square", "sde": 3}}) == [
        f"`shape` matches none of the 3 alternatives of `{keyword}`; number 2 (square)"
        " comes nearest: `shape.side` is required; `shape.sde` is not a parameter;"
        " did you mean `side`?"
    ]


def test_wrong_discriminator_oneof_problem_lists_the_valid_values() -> None:
    assert check(SHAPES, {"shape": {"kind": "hexagon", "radius": 1, "side": 1}}) == [
        '`shape.kind` must be one of "circle", "square"'
    ]


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        (
            {"not": {"required": ["x", "y"]}},
            {"x": 1, "y": 2},
            "the value must not have `x` and `y` together",
        ),
        (
            {"if": {"required": ["a"]}, "else": {"required": ["b"]}},
            {},
            "`b` is required (the schema's `if` does not match)",
        ),
        (
            {"unevaluatedProperties": False, "allOf": [{"properties": {"b": {}}}]},
            {"c": 1},
            "`c` is not a parameter",
        ),
        (
            {"propertyNames": {"pattern": "^a"}},
            {"b": 1},
            'the value has the name "b", which must match "^a"',
        ),
    ],
)
def test_json_schema_problem_is_explained_in_one_sentence(
    schema: Any, value: Any, sentence: str
) -> None:
    assert check(schema, value) == [sentence]


def test_anyof_required_problem_lists_at_most_10_names() -> None:
    names = [{"required": [f"n{number}"]} for number in range(11)]
    (problem,) = check({"anyOf": names}, {})
    assert problem.startswith("one of `n0`")
    assert problem.endswith("`n9` and 1 more is required")
    (problem,) = check({"anyOf": names[:10]}, {})
    assert problem.endswith("`n8` or `n9` is required")


@pytest.mark.parametrize(("keyword", "count"), [("items", 3), ("propertyNames", 2)])
def test_nested_anyof_problem_is_explained_to_level_3_or_level_2_in_property_names(
    keyword: str, count: int
) -> None:
    schema: dict[str, Any] = {"maxLength": 2}
    for _ in range(5):
        schema = {"anyOf": [schema, {"const": "long"}]}
    value = ["abc"] if keyword == "items" else {"abc": 1}
    (problem,) = check({keyword: schema}, value)
    assert problem.count("matches none of") == count
    assert problem.endswith("does not match the schema's `anyOf`")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["x" * 100_000] * 50}, "y"),
        ({"const": list(range(100_000))}, 1),
        ({"not": {"enum": ["x" * 100_000]}}, "x" * 100_000),
        ({"anyOf": [{"const": "x" * 10_000}] * 500}, "y" * 10_000),
        ({"anyOf": [{"required": ["x" * 1_000]}] * 500}, {}),
        ({"properties": {"x" * 9_000: {"type": "null"}}}, {"x" * 9_000: "y" * 9_000}),
        ({"additionalProperties": False}, {f"{n}" * 90: n for n in range(90)}),
        ({"propertyNames": {"maxLength": 3}}, {"x" * 100_000: 1}),
        (
            {
                "$ref": "#/$defs/n",
                "$defs": {"n": {"anyOf": [{"items": {"$ref": "#"}}]}},
            },
            [[[[[[{"a": 1}, 1]]]]]],
        ),
    ],
    ids=range(9),
)
def test_validation_message_has_at_most_600_characters(schema: Any, value: Any) -> None:
    problems = check(schema, value)
    assert sum(map(len, problems)) <= 6_000
    assert all(len(problem) <= 600 for problem in problems)


def test_anyof_problem_in_each_item_is_explained_for_1_item_and_not_for_5000() -> None:
    """Each error would contain a copy of the whole `enum`."""
    modes = {"items": MODES["properties"]["mode"]}
    schema = {"anyOf": [modes, {"type": "null"}]}
    assert check(schema, ["x"] * 5_000) == ["the value does not match the schema"]
    (problem,) = check(schema, ["x"])
    assert "comes nearest" in problem or "must be one of" in problem
