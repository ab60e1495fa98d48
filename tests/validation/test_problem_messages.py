"""Messages of validation problems for each keyword, and their maximum lengths."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.checker import Checker


def check(schema: Any, value: Any) -> list[str]:
    return Checker(schema).problems(value)


DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def wrap(schema: Any) -> dict[str, Any]:
    return {"properties": {"a": schema}}


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"minimum": 2}, 1, "must be at least 2"),
        ({"maximum": 2}, 3, "must be at most 2"),
        ({"exclusiveMinimum": 2}, 2, "must be greater than 2"),
        ({"exclusiveMaximum": 2}, 2, "must be less than 2"),
        ({"multipleOf": 2}, 3, "must be a multiple of 2"),
        ({"minLength": 2}, "a", "must have at least 2 characters"),
        ({"maxLength": 1}, "ab", "must have at most 1 character"),
        ({"minLength": 11}, "a", "must have at least 11 characters"),
        ({"minItems": 1}, [], "must have at least 1 item"),
        ({"maxItems": 1}, [1, 2], "must have at most 1 item"),
        ({"minItems": 21}, [], "must have at least 21 items"),
        ({"minProperties": 1}, {}, "must have at least 1 members"),
        ({"uniqueItems": True}, [1, 1], "must not repeat an item"),
        ({"pattern": "^b"}, "a", 'must match "^b"'),
        ({"type": "object"}, 1, "must be an object"),
        ({"type": ["array", "boolean"]}, 1, "must be a boolean or an array"),
        ({"type": ["integer", "null"]}, "a", "must be null or an integer"),
        ({"type": "number"}, "a", "must be a number"),
        ({"const": {"a": 1}}, 1, 'must be {"a": 1}'),
        ({"const": "é"}, 1, 'must be "é"'),
        ({"enum": [1]}, 2, "must be 1"),
        ({"enum": [1, 1]}, 2, "must be one of 1"),
        ({"enum": ["ab", "cd", 3]}, "Ab", 'must be one of "ab", "cd", 3'),
        (
            {"enum": ["ab", "cd", 3, 4]},
            "Ab",
            'must be one of "ab", "cd", 3, 4; did you mean `ab`?',
        ),
        ({"enum": [*range(11)]}, 11, "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
        (
            {"enum": [*range(12)]},
            12,
            "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more",
        ),
        ({"not": {"type": "string"}}, "a", "must not be a string"),
        ({"not": {"type": ["string", "null"]}}, None, "must not be a string or null"),
        ({"not": {"const": 1}}, 1, "must not be 1"),
        ({"not": {"enum": [1, 2]}}, 1, "must not be 1 or 2"),
        ({"not": {"enum": [1, 2, 3]}}, 1, "must not be 1, 2 or 3"),
        ({"not": {"required": ["x"]}}, {"x": 1}, "must not have `x`"),
        (
            {"not": {"const": 1, "type": "integer"}},
            1,
            'must not match {"const": 1, "type": "integer"}',
        ),
        (
            {"contains": {"const": 1}},
            [],
            'must have at least 1 items that match {"const": 1}',
        ),
        (
            {"contains": {"const": 1}, "minContains": 2},
            [1],
            'must have at least 2 items that match {"const": 1}',
        ),
        (
            {"contains": {"const": 1}, "minContains": 2, "maxContains": 3},
            [1, 1, 1, 1],
            'must have at most 3 items that match {"const": 1}',
        ),
        (
            {"prefixItems": [{}], "unevaluatedItems": False},
            [1, 2],
            "has more items than are allowed",
        ),
        (False, 1, "is not allowed"),
        (
            {"additionalProperties": False},
            {"b": 1},
            "has a parameter that is not declared",
        ),
        (
            {"pattern": r"(a|a)*\1b"},
            "a" * 18,
            "takes too long to match with the schema's `pattern`",
        ),
    ],
)
def test_each_json_schema_keyword_has_a_validation_message(
    schema: Any, value: Any, sentence: str
) -> None:
    assert check(wrap(schema), {"a": value}) == [f"`a` {sentence}"]


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"minimum": 3}, 1, "the value must be at least 3"),
        (wrap({"items": wrap({"const": 3})}), {"a": [{"a": 1}]}, "`a[0].a` must be 3"),
        ({"items": {"items": {"const": 3}}}, [[1]], "`[0][0]` must be 3"),
        (
            wrap({"prefixItems": [{}], "items": False}),
            {"a": [1, 2]},
            "`a[1]` is not allowed",
        ),
        ({"required": ["b"]}, {}, "`b` is required"),
        (wrap({"required": ["b"]}), {"a": {}}, "`a.b` is required"),
        (
            {"dependencies": {"a": ["b"]}, "$schema": DRAFT_07},
            {"a": 1},
            "`b` is required when `a` is given",
        ),
        (
            {"dependentRequired": {"x": ["b"], "a": ["c"], "y": ["c"]}},
            {"x": 1, "y": 1, "b": 2},
            "`c` is required when `y` is given",
        ),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, "`b` is required"),
        (
            {"if": {"required": ["a"]}, "then": {"maxProperties": 1}},
            {"a": 1, "b": 2},
            "the value must have at most 1 members (the schema's `if` matches)",
        ),
        (
            {"if": {"required": ["a"]}, "then": wrap({"minimum": 2})},
            {"a": 1},
            "`a` must be at least 2",
        ),
        (
            {"if": {"required": ["a"]}, "then": {"properties": {"b": False}}},
            {"a": 1, "b": 2},
            "`b` is not allowed",
        ),
        (
            {"propertyNames": {"anyOf": [{"maxLength": 1}, {"pattern": "^b"}]}},
            {"abc": 1},
            'the value has the name "abc", which matches none of the 2 alternatives'
            " of `anyOf`; number 1 comes nearest: the value must have at most 1 character",
        ),
    ],
)
def test_validation_message_has_the_value_path_and_the_condition(
    schema: dict[str, Any], value: Any, sentence: str
) -> None:
    assert check(schema, value) == [sentence]


def test_validation_reports_at_most_10_unknown_parameters() -> None:
    schema = {"properties": {"p": {}}, "additionalProperties": False}
    for count, reported in ((9, 9), (10, 10), (11, 10)):
        assert len(check(schema, {f"q{n}": 1 for n in range(count)})) == reported


@pytest.mark.parametrize(
    ("name", "known", "suggestion"),
    [
        ("Task", ["ask", "task"], "task"),
        ("tsk", ["task"], "task"),
        ("xyz", ["task"], None),
        ("x" * 200, ["x" * 199], "x" * 199),
        ("x" * 201, ["x" * 199], None),
        ("x" * 199, ["x" * 200], "x" * 200),
        ("x" * 199, ["x" * 201], None),
        ("tsk", [*(f"{n}{n}{n}" for n in range(199)), "task"], "task"),
        ("tsk", [*(f"{n}{n}{n}" for n in range(200)), "task"], None),
        ("TASK", [*(f"{n}{n}{n}" for n in range(999)), "task"], "task"),
        ("TASK", [*(f"{n}{n}{n}" for n in range(1_000)), "task"], None),
    ],
)
def test_message_for_an_unknown_parameter_suggests_a_similar_name(
    name: str, known: list[str], suggestion: str | None
) -> None:
    schema = {"properties": dict.fromkeys(known, True), "additionalProperties": False}
    (problem,) = check(schema, {name: 1})
    _, _, offered = problem.partition("; did you mean ")
    assert offered == (f"`{suggestion}`?" if suggestion else "")


def test_long_property_name_in_a_validation_message_is_cut_in_the_middle() -> None:
    cut = "n" * 78 + "..." + "n" * 79
    for length, name in ((160, "n" * 160), (161, cut)):
        assert check({"required": ["n" * length]}, {}) == [f"`{name}` is required"]


def test_long_value_in_a_validation_message_is_cut_at_the_end() -> None:
    for length, text in ((78, '"' + "v" * 78 + '"'), (79, '"' + "v" * 76 + "...")):
        assert check({"const": "v" * length}, 1) == [f"the value must be {text}"]


def test_validation_message_has_at_most_600_characters() -> None:
    options = [f"{n}" * 50 for n in range(10)]
    for length, end in ((44, '9"'), (45, "99...")):
        name = "n" * length
        (problem,) = check({"properties": {name: {"enum": options}}}, {name: 1})
        assert len(problem) == 600
        assert problem.endswith(end)


@pytest.mark.parametrize(
    ("members", "value", "sentence"),
    [
        # Only one alternative accepts this type.
        (
            [{"type": "string"}, {"type": "object", "required": ["b"]}],
            {},
            "comes nearest: `a.b` is required",
        ),
        ([{"type": "string"}, {"type": "null"}], {}, "`a` must be a string or null"),
        (
            [{"items": {"type": "string"}}, {"items": {"type": "null"}}],
            [1],
            "number 1 comes nearest: `a[0]` must be a string",
        ),
        (
            [{"required": ["b"]}, {"required": ["c"]}, {"required": ["d"]}],
            {},
            "one of `a.b`, `a.c` or `a.d` is required",
        ),
        (
            [{"required": ["b", "c"]}, {"required": ["d"]}],
            {},
            "number 2 comes nearest: `a.d` is required",
        ),
        # With equally many problems, the alternative with the deepest one.
        (
            [{"required": ["b"]}, wrap({"required": ["c"]})],
            {"a": {}},
            "number 2 comes nearest: `a.a.c` is required",
        ),
        (
            [wrap({"const": 1}), wrap({"enum": [2, 3]})],
            {"a": 4},
            "`a.a` must be one of 1, 2, 3",
        ),
        ([{"const": 1}, {"enum": [2, 3]}], 4, "`a` must be one of 1, 2, 3"),
        (
            [wrap(wrap({"const": 1})), wrap(wrap({"const": 2}))],
            {"a": {"a": 3}},
            "number 1 comes nearest: `a.a.a` must be 1",
        ),
        (
            [wrap({"const": 1}), {"properties": {"b": {"const": 1}}}],
            {"a": 2, "b": 2},
            "number 1 (a: 1) comes nearest: `a.a` must be 1",
        ),
        # The alternative with the matching discriminator, although it has more problems.
        (
            [wrap({"const": 1}), {"required": ["b", "c"], **wrap({"const": 2})}],
            {"a": 2},
            "number 2 (a: 2) comes nearest: `a.b` is required; `a.c` is required",
        ),
        (
            [{"required": ["b", "c", "d"]}, {"type": "string"}],
            {},
            "number 1 comes nearest: `a.b` is required; `a.c` is required;"
            " `a.d` is required",
        ),
        (
            [{"required": ["b", "c", "d", "e"]}, {"type": "string"}],
            {},
            "`a.d` is required; and 1 more",
        ),
    ],
)
def test_anyof_problem_explains_the_nearest_alternative(
    members: list[Any], value: Any, sentence: str
) -> None:
    (problem,) = check(wrap({"anyOf": members}), {"a": value})
    if sentence.startswith(("`", "one of")) and "; and" not in sentence:
        assert problem == sentence
    else:
        count = len(members)
        assert problem.startswith(f"`a` matches none of the {count} alternatives")
        assert problem.endswith(sentence)


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"title": "Shape"}, " (Shape)"),
        ({"title": ""}, ""),
        ({"$ref": "#/$defs/shape"}, " (shape)"),
        ({"$ref": "#/$defs/shape", "title": "Shape"}, " (Shape)"),
        (
            {"properties": {**{f"p{n}": {} for n in range(9)}, "a": {"const": 1}}},
            " (a: 1)",
        ),
        ({"properties": {**{f"p{n}": {} for n in range(10)}, "a": {"const": 1}}}, ""),
    ],
)
def test_alternative_is_named_by_title_or_constant(schema: Any, name: str) -> None:
    defs = {"shape": {"required": ["b"]}}
    alternatives = [{"type": "null"}, {"required": ["b"], **schema}]
    (problem,) = check({"anyOf": alternatives, "$defs": defs}, {})
    assert f"; number 2{name} comes nearest" in problem


def test_oneof_problem_lists_at_most_10_matching_alternatives() -> None:
    assert check({"oneOf": [True] * 2}, 1) == [
        "the value matches number 1 and number 2 of `oneOf` and may match only one"
    ]
    for count in (10, 11):
        (problem,) = check({"oneOf": [True] * count}, 1)
        assert problem.count("number ") == 10
        assert problem.endswith("number 10 of `oneOf` and may match only one")
