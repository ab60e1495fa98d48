"""Bounded validation time: values that would take longer are rejected unchecked."""

from __future__ import annotations

import copy
import functools
import time
from typing import Any

import pytest

from toolcast_runtime.core.validation.bounds import CostEstimate
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.limits import MAX_DIGITS, measure_value

# Validation takes at most 50 ms on a quiet machine; without the limits, each case takes
# a second or more.
MAX_CPU_S = 0.4


def array(**schema: Any) -> dict[str, Any]:
    """Return the schema of an object with one array `a`."""
    return {"properties": {"a": {"type": "array", "items": schema}}}


def large_ints(*bounds: int) -> list[int]:
    return [10**20 + i for i in range(*bounds)]


OBJECTS = [{"a": number} for number in range(5_000)]
ALTERNATIVES = "|".join(f"word{number}" for number in range(2_000))
LARGE = large_ints(5_000)
TIMES = range(300)
CONSTANTS = [{"properties": {"a": {"const": i}}} for i in TIMES]
RECURSION = {"$ref": "#/$defs/a"}
HOSTILE: dict[str, tuple[dict[str, Any], Any]] = {
    "large integers that differ": ({"uniqueItems": True}, large_ints(40_000)),
    "some large integers that differ": ({"uniqueItems": True}, large_ints(2_000)),
    "large integers within objects": (
        {"uniqueItems": True},
        [{"a": [number]} for number in large_ints(20_000)],
    ),
    "large integers and an enum": (array(enum=LARGE), {"a": LARGE}),
    "an enum of objects": (array(enum=OBJECTS), {"a": [{"a": 4_999}] * 100_000}),
    "a mixed enum": (array(enum=[*range(5_000), "x"]), {"a": ["x"] * 100_000}),
    "a large constant": (array(const=OBJECTS), {"a": [copy.deepcopy(OBJECTS)] * 15}),
    "long numbers": (array(minimum=1), {"a": [10**4_000] * 2_000}),
    "exact division": (array(multipleOf=0.1), {"a": [1e300] * 20_000}),
    "many alternatives": (array(pattern=ALTERNATIVES), {"a": ["x" * 400] * 10_000}),
    "names and many patterns": (
        {"patternProperties": {f"^a{i}[0-9]+x$": {} for i in range(500)}},
        {f"a{i}": 1 for i in range(50_000)},
    ),
    "names that depend": (
        array(dependentRequired={f"p{i}": ["a"] for i in range(1_000)}),
        {"a": [{"a": 1} for _ in range(50_000)]},
    ),
    "what is not evaluated": (
        {
            "unevaluatedItems": False,
            "anyOf": [{"contains": {"const": i}} for i in TIMES],
        },
        list(range(50_000)),
    ),
    "something that is contained": (
        {"contains": {"enum": OBJECTS}, "minContains": 50_000},
        [{"a": number} for number in range(50_000)],
    ),
    "alternatives in each of many places": (
        array(anyOf=[{**CONSTANTS[i], "required": ["a", "b"]} for i in TIMES]),
        {"a": [{"a": -1} for _ in range(3_000)]},
    ),
    "many names that are missing in many places": (
        array(required=[f"r{i}" for i in range(2_000)]),
        {"a": [{} for _ in range(900)]},
    ),
    "names that depend on each other": (
        {"dependentRequired": {f"p{i}": [f"q{j}" for j in range(300)] for i in TIMES}},
        {f"p{i}": 1 for i in TIMES},
    ),
    "names that are missing beside long texts": (
        {"required": [f"r{i}" for i in range(200)]},
        {f"p{i}": "x" * 15_000 for i in range(900)},
    ),
    "what is wrong at each level above a long text": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"minItems": 2, "items": RECURSION}}},
        functools.reduce(lambda inner, _: [inner], range(150), "x" * 10_000_000),
    ),
    "look-ahead from each place": ({"pattern": "(?=.*x)y"}, "y" * 100_000),
    "a counted pattern": ({"pattern": "(.{1,100}){1,6}x"}, "01" * 50_000),
    "states that multiply": ({"pattern": "[01]*1[01]{200}x"}, "01" * 500_000),
    "back references": ({"pattern": r"(.+)\1+z"}, "ab" * 100_000),
    "lists in lists that differ": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"uniqueItems": True, "items": {}}}},
        functools.reduce(lambda inner, _: [inner], range(150), list(range(190_000))),
    ),
}


# The limit that the message for a rejected value names.
LIMITS = {
    "large integers that differ": "`uniqueItems`",
    "an enum of objects": "200,000 values",
    "a mixed enum": "`enum`",
    "long numbers": f"{MAX_DIGITS} digits",
    "exact division": "`multipleOf`",
    "many alternatives": "`pattern`",
    "what is not evaluated": "`unevaluatedItems`",
    "names and many patterns": "`patternProperties`",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_value_is_validated_or_rejected_in_bounded_time(case: str) -> None:
    schema, value = HOSTILE[case]
    checker = Checker(schema)
    start = time.process_time()
    problems = checker.problems(value)
    assert time.process_time() - start < MAX_CPU_S
    assert all(len(problem) <= 600 for problem in problems)
    if case in LIMITS:
        (problem,) = problems
        assert problem.startswith("the value is not accepted: it ")
        assert LIMITS[case] in problem


ROW = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9-]{1,64}$"},
        "kind": {"enum": ["task", "event", None]},
        "price": {"type": "number", "multipleOf": 0.01},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["id", "kind"],
    "additionalProperties": False,
}
OPERATIONS: list[dict[str, Any]] = [
    {
        "properties": {"op": {"const": op}, "of": {"items": RECURSION}},
        "required": ["op"],
    }
    for op in ("and", "or", "not", "is", "in", "like")
]
LONG = "A text of a person.\n" * 50_000
HONEST: dict[str, tuple[dict[str, Any], Any]] = {
    "ten thousand rows": (
        array(**ROW),
        {
            "a": [
                {"id": f"row-{i}", "kind": "task", "price": i / 4, "note": "x"}
                for i in range(10_000)
            ]
        },
    ),
    "a mebibyte of text": ({"properties": {"a": {"type": "string"}}}, {"a": LONG}),
    "a long text that is not blank": ({"pattern": r"\S"}, LONG),
    "a long text behind a look": ({"pattern": r"^(?!\s*$)[\s\S]+$"}, LONG),
    "an image": (
        {"pattern": "^data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+$"},
        "data:image/png;base64," + "A" * 1_000_000,
    ),
    "a large number among many beside a long text": (
        {
            "properties": {
                "path": {"pattern": r"(?!/)\w+(?<!\.)$"},
                "a": {"type": "string"},
                "ids": {"type": "array", "items": {"type": "integer"}},
            }
        },
        {"path": "notes/today", "a": LONG, "ids": [10**20, *range(10_000)]},
    ),
    "numbers that differ": ({"uniqueItems": True}, list(range(40_000))),
    "some hashes that differ": ({"uniqueItems": True}, large_ints(150)),
    "addresses": (
        array(pattern=r"^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$"),
        {"a": [f"10.0.{i // 250}.{i % 250}" for i in range(5_000)]},
    ),
    "a tree of choices": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"oneOf": OPERATIONS}}},
        functools.reduce(
            lambda inner, _: {"op": "and", "of": [inner, {"op": "is"}]},
            range(20),
            {"op": "is"},
        ),
    ),
}


@pytest.mark.parametrize("case", HONEST)
def test_large_ordinary_value_is_accepted_by_validation(case: str) -> None:
    schema, value = HONEST[case]
    start = time.process_time()
    assert Checker(schema).problems(value) == []
    assert time.process_time() - start < MAX_CPU_S


def test_validation_cost_estimate_takes_bounded_time() -> None:
    """Subvalues are measured separately only up to a maximum number."""
    schema = array(enum=OBJECTS, pattern=r"(.+)\1")
    work = CostEstimate(schema)
    few = {"a": list(range(10_000))}
    many = {"a": list(range(150_000))}
    start = time.process_time()
    assert work.find_excess(few, measure_value(few)) is not None
    first = time.process_time() - start
    start = time.process_time()
    assert work.find_excess(many, measure_value(many)) is not None
    assert time.process_time() - start < max(10 * first, MAX_CPU_S)
