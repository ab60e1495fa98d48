"""Acceptance of arguments: the same by validation, call_tool, MCP, LangChain and the CLI."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.repository import own_project
from toolcast.model.loading import load_workspace
from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS

KEYWORDS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number", "minimum": -1, "exclusiveMaximum": 10},
    "multiple": {"type": "number", "multipleOf": 0.5},
    "string": {"type": "string", "minLength": 1, "maxLength": 3},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "either": {"type": ["integer", "null"]},
    "enum": {"enum": [1, "1", True, None, [1], {"a": 1.0}]},
    "const_true": {"const": True},
    "const_one": {"const": 1},
    "array": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "unique": {"type": "array", "uniqueItems": True, "maxItems": 4},
    "tuple": {"prefixItems": [{"type": "integer"}], "items": False},
    "contains": {"contains": {"const": 1}, "minContains": 1, "maxContains": 2},
    "object": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    "closed": {
        "type": "object",
        "properties": {"a": {}},
        "additionalProperties": False,
    },
    "names": {"type": "object", "propertyNames": {"maxLength": 1}},
    "pattern_names": {"patternProperties": {"^a": {"type": "integer"}}},
    "size": {"type": "object", "minProperties": 1, "maxProperties": 2},
    "dependent": {"dependentRequired": {"a": ["b"]}},
    "any": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "one": {"oneOf": [{"minimum": 1}, {"type": "integer"}]},
    "all": {"allOf": [{"type": "integer"}, {"maximum": 5}]},
    "not": {"not": {"type": "string"}},
    "if": {"if": {"type": "integer"}, "then": {"minimum": 0}, "else": {"type": "null"}},
    "false": False,
    "true": True,
    "unevaluated": {
        "allOf": [{"properties": {"a": {}}}],
        "unevaluatedProperties": False,
    },
    "pattern": {"type": "string", "pattern": "^[a-z]{2}$"},
    "reference": {"$ref": "#/$defs/small"},
    "from": {"type": "integer"},
    "self": {"type": "integer"},
    "config": {"type": "string"},
    "run_manager": {"type": "integer"},
    "arguments": {"type": "integer"},
    "$x-y": {"type": "integer"},
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1.0, 10**30, -0.0])
    | st.text(st.characters(codec="utf-8"), max_size=4),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from("ab") | st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: "\\ud" not in ascii(value))


@pytest.fixture(scope="module")
def keyword_toolset(
    build_toolset: Callable[[Any], Any], make_case: Any
) -> tuple[Any, list[Any]]:
    """Generate a toolset with a tool for each keyword; return it and its cases."""
    cases = [
        make_case(
            f"tool_{number}",
            {
                "type": "object",
                "properties": {name: schema},
                "$defs": {"small": {"type": "integer", "maximum": 3}},
            },
            (),
        )
        for number, (name, schema) in enumerate(KEYWORDS.items())
    ]
    return build_toolset(cases), cases


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=json_values)
def test_runtime_validation_accepts_what_jsonschema_accepts_for_random_values(
    value: Any,
    keyword_toolset: tuple[Any, list[Any]],
    build_oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    verdicts, cases = keyword_toolset
    for case in cases:
        arguments = {next(iter(case.schema["properties"])): value}
        problems = verdicts.problems(case.name, arguments)
        assert bool(problems) != build_oracle(case.schema)(arguments), (case, arguments)


def count_accepted(verdicts: Any, calls: Sequence[tuple[str, dict[str, Any]]]) -> int:
    """Fail if two interfaces differ; return the number of accepted calls."""
    expected = [not verdicts.problems(name, arguments) for name, arguments in calls]
    for interface in ("call", "langchain", "cli"):
        accepts = getattr(verdicts, interface)
        for (name, arguments), valid in zip(calls, expected, strict=True):
            assert accepts(name, arguments) == valid, (interface, name, arguments)
    for call, valid, accepted in zip(calls, expected, verdicts.mcp(calls), strict=True):
        assert accepted == valid, ("mcp", call)
    return sum(expected)


VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    1.0,
    1.5,
    -2,
    10**30,
    "",
    "ab",
    "é\U0001f600",
    "true",
    "1",
    [],
    [1],
    [1, 1],
    ["a"],
    {},
    {"a": 1},
    {"b": 1},
    {"a": 1, "b": 2, "c": 3},
)


def test_registry_mcp_langchain_and_cli_accept_the_same_values_for_each_keyword(
    keyword_toolset: tuple[Any, list[Any]],
) -> None:
    verdicts, cases = keyword_toolset
    randomizer = random.Random(3)
    calls = [
        (case.name, {next(iter(case.schema["properties"])): value})
        for case in cases
        for value in randomizer.sample(VALUES, 5)
    ]
    valid = count_accepted(verdicts, calls)
    assert 40 < valid < len(calls) - 40


def test_registry_mcp_langchain_and_cli_accept_the_same_real_tool_arguments(
    function_cases: list[Any], build_toolset: Callable[[Any], Any]
) -> None:
    verdicts = build_toolset(function_cases)
    calls = [(case.name, dict(i)) for case in function_cases for i in case.instances]
    valid = count_accepted(verdicts, calls)
    assert 0 < valid < len(calls)


def test_runtime_validation_accepts_what_jsonschema_accepts_for_the_example_specs(
    build_toolset: Callable[[Any], Any],
    make_case: Any,
    build_oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    """Try each value for each property of each tool."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        cases = [make_case(t.name, dict(t.parameters), ()) for t in toolset.tools]
        verdicts = build_toolset(cases)
        for tool, case in zip(toolset.tools, cases, strict=True):
            is_valid = build_oracle(case.schema)
            examples = [dict(example.arguments) for example in tool.examples]
            for base in ({}, *examples):
                for name in (*tool.properties, "unknown"):
                    for value in VALUES:
                        arguments = {**base, name: value}
                        problems = verdicts.problems(tool.name, arguments)
                        assert bool(problems) != is_valid(arguments), (tool, arguments)


def test_registry_mcp_langchain_and_cli_assert_json_schema_formats_only_if_enabled(
    build_toolset: Callable[[Any], Any], make_case: Any
) -> None:
    """Error messages are those of validation."""
    examples = {
        name: (rule.example, "no such thing \\")
        for name, rule in ASSERTED_FORMATS.items()
    }
    cases = [
        make_case(
            f"tool_{number}",
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "string", "format": name}}
                },
            },
            (),
        )
        for number, name in enumerate(examples)
    ]
    verdicts = build_toolset(cases, formats="assertion")
    calls = [
        (case.name, {"a": [text]})
        for case, texts in zip(cases, examples.values(), strict=True)
        for text in texts
    ]
    assert count_accepted(verdicts, calls) == len(examples)
    rejected = verdicts.registry.call_tool_sync("tool_0", {"a": ["soon"]})
    assert rejected.error == (
        "the arguments of `tool_0` are not valid:\n- `a[0]` must be a date"
        ' (`format: date`), such as "2026-11-22"'
    )
    without_assertion = build_toolset(cases)
    assert count_accepted(without_assertion, calls) == len(calls)
