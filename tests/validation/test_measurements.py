"""Measured sizes and costs of values, schemas and patterns, at and above each limit."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.bounds import Bound, CostEstimate
from toolcast_runtime.core.validation.limits import (
    PatternCost,
    Size,
    count_max_visits,
    estimate_pattern_cost,
    exceeds_path_limit,
    has_oversized_patterns,
    measure_value,
)


def _make_nested_array(levels: int) -> Any:
    value: Any = None
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (None, Size(values=1, levels=1)),
        (True, Size(values=1, levels=1)),
        ([], Size(values=1, levels=1)),
        ("", Size(values=1, levels=1)),
        ("abc", Size(values=1, levels=1, characters=3, longest=3)),
        (0, Size(values=1, levels=1, numbers=1)),
        (
            {"key": ["a", 1, 0.5, (None, "bcde")], "k": True},
            Size(values=9, levels=4, characters=9, longest=4, numbers=2),
        ),
        ({"long": {"k": "ab"}}, Size(None, 3, 3, 7, 4)),
        ([2**63 - 1, -(2**63 - 1)], Size(values=3, levels=2, numbers=2)),
        ([2**63, 1 - 2**63], Size(values=3, levels=2, numbers=2, large_integers=1)),
        ([2**63 - 1, -(2**63)], Size(values=3, levels=2, numbers=2, large_integers=1)),
        (2**332 - 1, Size(values=1, levels=1, numbers=1, large_integers=1)),
        ([1e15, -1e15, 1e-9, -1e-9, 0.0], Size(values=6, levels=2, numbers=5)),
        ([1.1e15, 2.0], Size(values=3, levels=2, numbers=2, extreme_numbers=1)),
        ([9e-10, -9e-10], Size(values=3, levels=2, numbers=2, extreme_numbers=2)),
    ],
)
def test_json_value_size_counts_values_and_levels(value: Any, size: Size) -> None:
    assert measure_value(value) == size


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (_make_nested_array(200), None),
        (_make_nested_array(201), "more than 200 levels of nesting"),
        ([None] * 199_999, None),
        ([None] * 200_000, "more than 200,000 values"),
        ([[None] * 100_000, [None] * 100_001], "more than 200,000 values"),
        ("a" * 2**24, None),
        ("a" * (2**24 + 1), "more than 16,777,216 characters of strings"),
        (["a" * 2**24, {"b": 1}], "more than 16,777,216 characters of strings"),
        (2**332, "an integer of more than 100 digits"),
        ([1, -(2**332)], "an integer of more than 100 digits"),
        (float("inf"), "the number inf"),
        ([float("nan")], "the number nan"),
        ({1: 2}, "a key that is not a string"),
        (["\ud800"], "half of a surrogate pair"),
        ({"\udc00": 1}, "half of a surrogate pair"),
        (["é", "\U0001f600"], None),
        ([{1}], "a Python set"),
    ],
)
def test_value_above_a_size_limit_or_without_json_representation_is_rejected(
    value: Any, problem: str | None
) -> None:
    """A value at the limit has no problem."""
    assert measure_value(value).problem == problem


@pytest.mark.parametrize(
    ("pattern", "states", "per_character"),
    [
        ("abc", 3, 3.0),
        ("^abc$", 3, 3.0),
        ("a" * 12, 12, 3.0),
        ("a" * 13, 13, 260.0),
        ("^" + "a" * 13, 13, 3.0),
        (r"\A" + "a" * 13, 13, 3.0),
        ("^a{3}", 3, 3.0),
        ("^a{1234567890}", 123_456_789, 3.0),
        ("^a{2,5}", 5, 3.0),
        ("^a{2,1234567890}", 123_456_789, 3.0),
        ("^a{2,}", 2, 3.0),
        ("^a{0}", 1, 3.0),
        ("^a*?", 1, 3.0),
        ("^[ab]?c", 2, 3.0),
        ("^(ab){6}", 12, 3.0),
        ("^(ab){20}", 40, 3.0),
        ("^(ab){0,6}", 12, 3.0),
        ("^(ab){0,7}", 14, 280.0),
        ("^(?:ab){0,7}", 14, 280.0),
        ("^(?P<x>ab){0,7}", 14, 280.0),
        ("^(a*b){6}", 12, 3.0),
        ("^(a*b){7}", 14, 280.0),
        ("^a*b{11}", 12, 3.0),
        ("^a*b{12}", 13, 260.0),
        ("^ca*b{12}", 14, 260.0),
        ("^a*[bc]{0,11}", 12, 3.0),
        ("^a*[bc]{0,12}", 13, 260.0),
        ("^(a*b{5}|c*d{5})", 12, 3.0),
        ("^(a*b{6}|c*d{5})", 13, 260.0),
        ("^(a|b)c{12}", 14, 3.0),
        ("^a|b{12}", 13, 260.0),
        ("^(?=a)b", 2, 6.0),
        ("^(?=a)(?!bc)d", 4, 9.0),
        ("^(?<=a)b", 2, 6.0),
        ("^(?=(a))b", 2, 6.0),
    ],
)
def test_linear_regular_expression_cost_depends_on_the_active_states(
    pattern: str, states: int, per_character: float
) -> None:
    """An anchored pattern counts the states from its first repetition on."""
    assert estimate_pattern_cost(pattern) == PatternCost(states, per_character)


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        (r"^(a)\1", 2),
        (r"^(?P<n>ab)\k", 3),
        ("^(?>ab)", 2),
        ("^a*+", 1),
        ("^a{2,3}+", 3),
        ("(?=a)b", 2),
        ("^(?=a)b|c", 3),
        ("^(?=(?!a)b)c", 3),
        ("^((?=a)b)", 2),
    ],
)
def test_backtracking_pattern_cost_is_quadratic(pattern: str, states: int) -> None:
    assert estimate_pattern_cost(pattern) == PatternCost(states, 0.0, 20.0)


def test_each_regular_expression_match_has_a_minimum_cost() -> None:
    assert PatternCost(200, 3.0).per_match == 90.0
    assert PatternCost(0, 3.0).short == 10.0
    assert PatternCost(0, 0.0, 20.0).short == 50.0


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"pattern": "a" * 19_990}, False),
        ({"pattern": "a" * 19_991}, True),
        ({"pattern": r"\p{L}" * 799}, False),
        ({"pattern": r"\p{L}" * 800}, True),
        ({"pattern": r"\P{L}" * 800}, True),
        ({"patternProperties": {"a" * 19_991: {}}}, True),
        ({"properties": {"a": {"pattern": "a" * 19_000}, "b": {"pattern": 1}}}, False),
        ({"items": {"pattern": "a" * 19_000}, "pattern": "a" * 980}, False),
        ({"items": {"pattern": "a" * 19_000}, "pattern": "a" * 981}, True),
    ],
)
def test_schema_has_oversized_patterns_above_20000_characters_in_total(
    schema: Any, expected: bool
) -> None:
    """Each pattern counts ten more, and a Unicode category as 25 characters."""
    assert has_oversized_patterns(schema) is expected


@pytest.mark.parametrize(
    ("schema", "levels", "visits"),
    [
        (True, 1, 1),
        ({}, 1, 1),
        ({"properties": {"a": {}, "b": {}}}, 2, 2),
        ({"properties": {"a": {}, "b": {"anyOf": [{}, {}]}}}, 2, 4),
        ({"items": {}, "contains": {}}, 2, 3),
        ({"anyOf": [{}, True]}, 1, 3),
        ({"not": {}, "allOf": [{}]}, 1, 3),
        ({"items": {"$ref": "#"}}, 1, 2),
        ({"items": {"$ref": "#"}}, 2, 4),
        ({"items": {"$ref": "#"}}, 3, 6),
        ({"items": {}, "contains": {"$ref": "#"}}, 3, 9),
        ({"$ref": "#"}, 1, None),
    ],
)
def test_count_max_visits_returns_the_schema_visits_or_none_above_the_maximum(
    schema: Any, levels: int, visits: int | None
) -> None:
    assert count_max_visits(schema, levels, 100) == visits
    if visits is not None and visits > 1:
        assert count_max_visits(schema, levels, visits) == visits
        assert count_max_visits(schema, levels, visits - 1) is None


def test_count_max_visits_returns_none_above_20000_subschemas() -> None:
    subschemas: dict[str, Any] = {str(number): {} for number in range(20_001)}
    assert count_max_visits({"properties": subschemas}, 2, 100) is None
    del subschemas["0"]
    assert count_max_visits({"properties": subschemas}, 2, 100) == 2


def test_schema_exceeds_the_default_path_limit_above_100000_paths() -> None:
    assert not exceeds_path_limit({"anyOf": [{}] * 99_999})
    assert exceeds_path_limit({"anyOf": [{}] * 100_000})


def test_schema_that_is_too_deep_for_recursion_exceeds_every_path_limit() -> None:
    schema: dict[str, Any] = {}
    for _ in range(10_000):
        schema = {"allOf": [schema]}
    assert exceeds_path_limit(schema)
    assert count_max_visits(schema, 1, 100_000) is None


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ({"anyOf": [{}, True]}, 3),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{}, {}]}}}, 4),
        ({"properties": {"a": {"allOf": [{}, {}, {}]}}}, 4),
        ({"$ref": "#"}, 1),
        ({"items": {"$ref": "#"}}, 2),
        ({"$ref": "#/nowhere"}, 1),
    ],
)
def test_schema_exceeds_the_path_limit_only_if_its_paths_are_more_than_the_limit(
    schema: Any, paths: int
) -> None:
    """Each subschema counts once per path to it."""
    assert not exceeds_path_limit(schema, paths)
    assert exceeds_path_limit(schema, paths - 1)
    assert not exceeds_path_limit(schema)


@pytest.mark.parametrize(
    ("bound", "size", "cost"),
    [
        (Bound(value=2), Size(values=3), 6),
        (Bound(child=2), Size(values=3), 14),
        (Bound(number=2), Size(numbers=4), 8),
        (Bound(large=2), Size(large_integers=4), 8),
        (Bound(extreme=2), Size(extreme_numbers=4), 8),
        (Bound(short=2), Size(characters=200, longest=64), 400),
        (Bound(character=3, squared=1), Size(characters=200, longest=64), 0),
        (Bound(character=3, squared=1), Size(characters=65, longest=65), 65 * 68),
        (Bound(short=5, character=3), Size(characters=65, longest=65), 65 * 3),
        (Bound(short=5, character=3), Size(characters=66, longest=65), 66 * 5),
        (Bound(short=2, character=3), Size(characters=66, longest=65), 66 * 3),
        (Bound(unique=60), Size(values=3, levels=4), 180),
        (Bound(unique=599), Size(values=3, levels=4), 599 * 3),
        (Bound(unique=600), Size(values=3, levels=4), 600 * 3 * 4),
        (Bound(unique=60), Size(values=3, large_integers=3), 180 + 700 * 9),
        (Bound(1, 1, 1, 0, 1, 0, 0, 1, 1), Size(None, 1, 1, 1, 1, 1, 1, 1), 12),
    ],
)
def test_schema_validation_cost_bound_is_evaluated_for_a_value_size(
    bound: Bound, size: Size, cost: float
) -> None:
    assert bound.cost_for(size, 7) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("bound", "small", "large"),
    [
        (Bound(value=300, child=300, number=300, short=300, character=300), True, True),
        (Bound(value=301), False, False),
        (Bound(child=301), False, False),
        (Bound(number=301), False, False),
        (Bound(unique=301), False, False),
        (Bound(short=301), False, False),
        (Bound(character=301), False, False),
        (Bound(large=301, extreme=301), True, True),
        (Bound(squared=0.01), False, False),
        (Bound(unique=60), True, False),
    ],
)
def test_validation_cost_bounds_up_to_300_per_value_count_as_light(
    bound: Bound, small: bool, large: bool
) -> None:
    assert bound.is_light(with_large=False) is small
    assert bound.is_light(with_large=True) is large


def test_cost_bound_sum_and_max_apply_to_each_field() -> None:
    """`combine_levels` is the maximum, but adds `unique` up to 600."""
    own, nested = Bound(value=1, child=5, unique=60), Bound(value=2, unique=60)
    assert Bound.sum([own, nested]) == Bound(value=3, child=5, unique=120)
    assert Bound.max([own, nested]) == Bound(value=2, child=5, unique=60)
    assert Bound.max([]) == Bound()
    assert Bound.combine_levels(own, nested) == Bound(value=2, child=5, unique=120)
    assert Bound.combine_levels(own, Bound(unique=540)).unique == 600
    assert Bound.combine_levels(own, Bound(unique=541)).unique == 600


@pytest.mark.parametrize(
    ("schema", "options", "missing", "has_alternatives"),
    [
        (True, 1, 1, False),
        ({}, 1, 1, False),
        ({"enum": [1, [2, 3]]}, 5, 1, False),
        ({"enum": [1], "const": 2}, 3, 1, False),
        ({"enum": 7}, 1, 1, False),
        ({"const": "a"}, 2, 1, False),
        ({"required": ["a"]}, 1, 1, False),
        ({"required": ["a", "b"]}, 1, 2, False),
        ({"required": "ab"}, 1, 1, False),
        (
            {"required": ["a", "b"], "dependentRequired": {"a": ["b", "c"]}}
            | {"dependentSchemas": {"a": {}}},
            *(1, 6, False),
        ),
        ({"items": {"oneOf": [{}]}}, 1, 1, True),
        ({"anyOf": [{"required": ["a", "b"]}, {"enum": [1, 2]}]}, 3, 2, True),
        ({"allOf": [{}]}, 1, 1, False),
    ],
)
def test_cost_estimate_has_the_most_enum_values_and_missing_names_in_one_error(
    schema: Any, options: int, missing: int, has_alternatives: bool
) -> None:
    work = CostEstimate(schema)
    assert (work.max_options, work.max_missing) == (options, missing)
    assert work.has_alternatives is has_alternatives


def _array(**schema: Any) -> dict[str, Any]:
    return {"type": "array", "items": schema}


_LARGE = 10**20
_LIMITS: dict[str, tuple[int, dict[str, Any], Any]] = {
    "one of many numbers": (699, _array(enum=[*range(10_000)]), 1),
    "one of many objects": (254, _array(enum=[{"a": n} for n in range(500)]), 1),
    "one of large numbers": (1_343, _array(enum=[*range(_LARGE, _LARGE + 10)]), _LARGE),
    "exact divisions": (14_522, _array(multipleOf=0.1), 1.5),
    "divisions of extreme numbers": (825, _array(multipleOf=0.1), 1e300),
    "divisions of large numbers": (872, _array(multipleOf=3), _LARGE),
    "large numbers with a bound": (26_717, _array(minimum=3), _LARGE),
    "large numbers with two": (13_409, _array(minimum=3, maximum=4), _LARGE),
    "large numbers that differ": (223, {"uniqueItems": True}, _LARGE),
    "long matches": (699, _array(pattern="^a"), "a" * 5_000),
    "matches of many states": (87, _array(pattern="^(ab){0,20}"), "a" * 500),
    "matches that are tried": (6, _array(pattern=r"(a)\1"), "a" * 500),
    "formats": (694, _array(format="email"), "a" * 5_000),
    "expressions": (924, _array(format="regex"), "a" * 500),
    "encoded texts": (109, _array(contentEncoding="base64"), "a" * 8_000),
    "names that are needed": (324, _array(required=[str(n) for n in range(9_000)]), {}),
    "names that need others": (
        324,
        _array(dependentRequired={str(n): ["x", "y"] for n in range(3_000)}),
        {},
    ),
    "many keywords": (777, _array(**{f"x-{n}": 1 for n in range(9_000)}), 1),
}


@pytest.mark.parametrize("case", _LIMITS)
def test_array_is_validated_only_up_to_the_item_limit_for_its_costly_keyword(
    case: str,
) -> None:
    maximum, schema, item = _LIMITS[case]
    work = CostEstimate(schema)
    for count, is_accepted in ((maximum, True), (maximum + 1, False)):
        value = [item] * count
        assert (work.find_excess(value, measure_value(value)) is None) is is_accepted


_BACKTRACKING = {"pattern": r"(?!/)\w+(?<!\.)$"}


def test_validation_cost_is_measured_per_path_for_up_to_6000_subvalues() -> None:
    """Beyond, the text at one path counts for the pattern at another, and is too long."""
    names = [str(number) for number in range(30)]
    schema = {"properties": {"path": _BACKTRACKING, "rows": _array(required=names)}}
    for rows, is_accepted in ((5_997, True), (5_998, False)):
        value = {"path": "notes", "text": "a" * 10_000, "rows": [{}] * rows}
        excess = CostEstimate(schema).find_excess(value, measure_value(value))
        assert (excess is None) is is_accepted


def test_strings_do_not_count_for_another_propertys_costly_pattern() -> None:
    members = {str(number): "a" for number in range(4_000)}
    text = {"type": "string"}
    schema = {"properties": {"path": _BACKTRACKING}, "additionalProperties": text}
    value = {"path": "notes", "text": "a" * 10_000, **members}
    assert CostEstimate(schema).find_excess(value, measure_value(value)) is None
