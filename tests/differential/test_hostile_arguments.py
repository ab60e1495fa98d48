"""Hostile arguments: rejected by every interface within limits of time and message length."""

from __future__ import annotations

import importlib
import time
from typing import Any

import pytest
from click.testing import CliRunner

from tests.differential.conftest import BuildToolset, Case, Verdicts
from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.validation.limits import (
    MAX_LEVELS,
    MAX_VALUES,
    measure_value,
)

CLOSED = {"type": "object", "additionalProperties": False}
TREE = {**CLOSED, "properties": {"a": {"$ref": "#"}}}
NODE = {"$ref": "#/$defs/node"}
AS_A = {"a": NODE}
HAS_A: dict[str, Any] = {"properties": AS_A}
BRANCHES = [
    {"type": "object", "properties": {"k": {"const": k}, **AS_A}, "required": ["k"]}
    for k in ("and", "or", "not")
]
CHOICE = {"type": "object", "properties": AS_A, "$defs": {"node": {"oneOf": BRANCHES}}}


def validate(schema: Any, arguments: Any) -> tuple[list[str], float]:
    """Return the problems that validation reports, and its processor time in seconds."""
    validators = Validators()
    tool = Tool("t", "", "", {"name": "t", "inputSchema": schema})
    validators.check_arguments(tool, {})
    start = time.process_time()
    problems = validators.check_arguments(tool, arguments)
    return problems, time.process_time() - start


def fan_out(keyword: str, levels: int) -> dict[str, Any]:
    """Return definitions that refer to the next one twice: 2 ** n paths to one schema."""

    def pair(number: int) -> list[Any]:
        return [{"$ref": f"#/$defs/d{number + 1}"}] * 2

    definitions: dict[str, Any] = {f"d{i}": {keyword: pair(i)} for i in range(levels)}
    return {
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": {**definitions, f"d{levels}": {"type": "string"}},
    }


def recursive_schema(**node: Any) -> dict[str, Any]:
    """Return an object schema with a recursive definition `node` for `a`."""
    return {
        "properties": {"a": NODE},
        "$defs": {"node": {"type": "object", **node}, "other": {"properties": AS_A}},
    }


MULTIPLYING = {
    "allOf in a fan": fan_out("allOf", 12),
    "anyOf in a fan": fan_out("anyOf", 12),
    "oneOf in a fan": fan_out("oneOf", 12),
    "patterns": recursive_schema(properties=AS_A, patternProperties={"^a": NODE}),
    "two patterns": recursive_schema(patternProperties={"^a": NODE, "a$": NODE}),
    "dependent": recursive_schema(**HAS_A, dependentSchemas={"a": HAS_A}),
    "reference and properties": recursive_schema(**HAS_A, **{"$ref": "#/$defs/other"}),
    "conditions": recursive_schema(**HAS_A, **{"if": True, "then": HAS_A}),
    "anchors": recursive_schema(
        **{"$dynamicAnchor": "n"},
        properties={"a": {"$dynamicRef": "#n"}},
        additionalProperties=False,
        patternProperties={"a": {"$dynamicRef": "#n"}},
    ),
}


def param(**schema: Any) -> dict[str, Any]:
    """Return a schema with one parameter `a`."""
    return {**CLOSED, "properties": {"a": schema}}


def nest(depth: int, leaf: Any = 0) -> dict[str, Any]:
    """Return `{"a": {"a": ...}}` with a number of levels."""
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


PATTERNS = [
    r"^(a+)+$",
    r"^(?=(a+)+$)(a+)+$",
    r"^(?!x)(a|a)*$",
    r"^(a|aa)+$(?<!b)",
    r"^(\w+\s?)*$(?!z)",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(?=.*a)(?=.*b)(x+x+)+y",
    r"(a*)*\1b",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "text", ["a" * 40 + "!", "x" * 40 + "?!", "a" * 500 + "!"], ids=len
)
def test_validation_stops_exponential_backtracking(pattern: str, text: str) -> None:
    problems, seconds = validate(param(type="string", pattern=pattern), {"a": text})
    assert problems
    assert seconds < 0.5  # unlimited backtracking needs minutes


DEEP = nest(10_000)
LARGE: dict[str, tuple[Any, Any]] = {
    "deep value in a recursive schema": (TREE, DEEP),
    "deep value in an open schema": (param(), DEEP),
    "deep value instead of a string": (param(type="string"), DEEP),
    "a long text": (param(type="string", maxLength=10), {"a": "x" * 1_000_000}),
    "a long name": (param(), {"x" * 1_000_000: 1}),
    "many names": (param(), {f"x{i}": i for i in range(50_000)}),
    "many wrong items": (param(items={"type": "string"}), {"a": list(range(50_000))}),
    "many objects": (param(uniqueItems=True), {"a": [{"b": 1}] * 10_000}),
    "nested choices": (CHOICE, nest(30, {"k": "bad"})),
}


@pytest.mark.parametrize("case", LARGE)
def test_validation_rejects_large_arguments_with_a_short_message(case: str) -> None:
    problems, seconds = validate(*LARGE[case])
    assert problems
    assert len("; ".join(problems)) < 2_500
    assert seconds < 0.5


@pytest.mark.timeout(20)
@pytest.mark.parametrize("case", MULTIPLYING)
def test_validation_by_an_exponential_schema_ends_in_bounded_time(case: str) -> None:
    arguments = {"a": 7} if "fan" in case else nest(60, 7)
    problems, seconds = validate(MULTIPLYING[case], arguments)
    assert problems == ["the value does not match the schema"]
    assert seconds < 0.5


def test_validation_reports_a_problem_in_a_value_60_levels_deep_with_its_path() -> None:
    problems, _ = validate(TREE, nest(60, 7))
    assert problems == [f"`{'.'.join('a' * 60)}` must be an object"]
    assert validate(CHOICE, nest(2, {"k": "bad"}))[0]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "inf"),
        ("\ud800", "surrogate"),
        ({"\ud800": 1}, "surrogate"),
        ({1: 2}, "not a string"),
        (b"x", "bytes"),
        ({1, 2}, "set"),
        ([0] * MAX_VALUES, "values"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else None,
)
def test_validation_rejects_arguments_that_are_not_json(value: Any, word: str) -> None:
    problems, _ = validate(param(), {"a": value})
    assert len(problems) == 1
    assert word in problems[0]


def test_measure_value_returns_a_problem_for_a_list_that_contains_itself() -> None:
    value: list[Any] = []
    value += [value, value]
    assert measure_value(value).problem


def test_validation_accepts_arguments_within_the_depth_limit() -> None:
    assert validate(TREE, nest(MAX_LEVELS - 2, {}))[0] == []
    assert validate(CHOICE, nest(1, {"k": "and", "a": {"k": "or"}}))[0] == []


@pytest.fixture(scope="module")
def toolset(build_toolset: BuildToolset) -> Verdicts:
    """Generate a toolset: one recursive tool, and one with a string parameter."""
    return build_toolset([Case("tree", TREE), Case("text", param(type="string"))])


def test_arguments_500_levels_deep_are_rejected(toolset: Verdicts) -> None:
    """MCP is tested with 150 levels, which it accepts."""
    deep = nest(500, {})
    for call in (toolset.call, toolset.langchain, toolset.cli):
        assert call("tree", deep) is False
        assert call("tree", nest(50, {})) is True
    assert toolset.mcp([("tree", nest(50, {})), ("tree", nest(150, {}))]) == [True] * 2


def test_string_of_1000000_characters_is_accepted(toolset: Verdicts) -> None:
    text = {"a": "x" * 1_000_000}
    assert toolset.call("text", text) and toolset.langchain("text", text)
    assert toolset.cli("text", text)
    calls = [("text", text), ("text", {"b": "x" * 1_000_000})]
    assert toolset.mcp(calls) == [True, False]


def test_too_deep_json_in_the_cli_is_a_usage_error(toolset: Verdicts) -> None:
    main = importlib.import_module(f"{toolset.package}.cli").main
    text = '{"a":' * 100_000
    result = CliRunner().invoke(main, ["t0", "--arguments", text])
    assert result.exit_code == 2
    assert "nested too deeply" in result.output


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("levels", [17, 60])
def test_validation_stops_within_1_second_at_refs_that_multiply_with_each_level(
    keyword: str, levels: int
) -> None:
    """Error: the value cannot be checked."""
    problems, seconds = validate(fan_out(keyword, levels), {"a": 7})
    problem = "the value cannot be checked: the tool's schema cannot be applied"
    assert problems == [problem]
    assert seconds < 1
