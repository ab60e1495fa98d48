"""Validation, call_tool, MCP, LangChain and the CLI take and refuse the same arguments."""

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
def keywords(build: Callable[[Any], Any], case_of: Any) -> tuple[Any, list[Any]]:
    """A generated toolset with a tool for each keyword."""
    cases = [
        case_of(
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
    return build(cases), cases


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=json_values)
def test_any_value_of_any_keyword(
    value: Any,
    keywords: tuple[Any, list[Any]],
    oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    verdicts, cases = keywords
    for case in cases:
        arguments = {next(iter(case.schema["properties"])): value}
        problems = verdicts.problems(case.name, arguments)
        assert bool(problems) != oracle(case.schema)(arguments), (case, arguments)


def agree(verdicts: Any, calls: Sequence[tuple[str, dict[str, Any]]]) -> int:
    """Fails where two surfaces differ; gives the number of valid calls."""
    expected = [not verdicts.problems(name, arguments) for name, arguments in calls]
    for surface in ("call", "langchain", "cli"):
        ask = getattr(verdicts, surface)
        for (name, arguments), verdict in zip(calls, expected, strict=True):
            assert ask(name, arguments) == verdict, (surface, name, arguments)
    for call, verdict, answer in zip(calls, expected, verdicts.mcp(calls), strict=True):
        assert answer == verdict, ("mcp", call)
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


def test_every_keyword_on_every_surface(keywords: tuple[Any, list[Any]]) -> None:
    verdicts, cases = keywords
    chance = random.Random(3)
    calls = [
        (case.name, {next(iter(case.schema["properties"])): value})
        for case in cases
        for value in chance.sample(VALUES, 5)
    ]
    valid = agree(verdicts, calls)
    assert 40 < valid < len(calls) - 40


def test_functions_on_every_surface(
    functions: list[Any], build: Callable[[Any], Any]
) -> None:
    verdicts = build(functions)
    calls = [(case.name, dict(i)) for case in functions for i in case.instances]
    valid = agree(verdicts, calls)
    assert 0 < valid < len(calls)


def test_own_specs(
    build: Callable[[Any], Any],
    case_of: Any,
    oracle: Callable[[Any], Callable[[Any], bool]],
) -> None:
    """Each property of each tool of this repository, with each of the values."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        cases = [case_of(t.name, dict(t.parameters), ()) for t in toolset.tools]
        verdicts = build(cases)
        for tool, case in zip(toolset.tools, cases, strict=True):
            judge = oracle(case.schema)
            examples = [dict(example.arguments) for example in tool.examples]
            for base in ({}, *examples):
                for name in (*tool.properties, "unknown"):
                    for value in VALUES:
                        arguments = {**base, name: value}
                        problems = verdicts.problems(tool.name, arguments)
                        assert bool(problems) != judge(arguments), (tool, arguments)


def test_formats_on_every_surface(build: Callable[[Any], Any], case_of: Any) -> None:
    """Each surface asserts those of arguments, and refuses with the words of validation."""
    given = {
        name: (wanted.example, "no such thing \\")
        for name, wanted in ASSERTED_FORMATS.items()
    }
    cases = [
        case_of(
            f"tool_{number}",
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "string", "format": name}}
                },
            },
            (),
        )
        for number, name in enumerate(given)
    ]
    verdicts = build(cases, formats="assertion")
    calls = [
        (case.name, {"a": [text]})
        for case, texts in zip(cases, given.values(), strict=True)
        for text in texts
    ]
    assert agree(verdicts, calls) == len(given)
    refused = verdicts.registry.call_tool_sync("tool_0", {"a": ["soon"]})
    assert refused.error == (
        "the arguments of `tool_0` are not valid:\n- `a[0]` must be a date"
        ' (`format: date`), such as "2026-11-22"'
    )
    told = build(cases)
    assert agree(told, calls) == len(calls)
