"""Acceptance of arguments: the same by validation, `jsonschema` and every interface.

Mutants are instances in which each value is replaced, removed or duplicated.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.conftest import (
    BuildToolset,
    Case,
    Verdicts,
    read_function_cases,
)
from tests.repository import own_project
from toolcast.model.loading import load_workspace
from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS

UNEVALUATED = {"unevaluatedProperties": False}
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
    "closed": {"properties": {"a": {}}, "additionalProperties": False},
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
    "unevaluated": {"allOf": [{"properties": {"a": {}}}], **UNEVALUATED},
    "pattern": {"type": "string", "pattern": "^[a-z]{2}$"},
    "reference": {"$ref": "#/$defs/small"},
    "from": {"type": "integer"},
    "self": {"type": "integer"},
    "config": {"type": "string"},
    "run_manager": {"type": "integer"},
    "arguments": {"type": "integer"},
    "$x-y": {"type": "integer"},
}

NUMBERS = (0, 1, 1.0, -1, -2, 0.5, 1.5, 10**30, -0.0, 1e300)
STRINGS = ("", " ", "1", "ab", "true", "é\U0001f600", "x" * 300)
ARRAYS = ([], [1], [1, 1], [1, 1.0], [True, 1], ["a"], [None], [[]])
OBJECTS = ({}, {"": ""}, {"a": 1}, {"b": 1}, {"a": 1, "b": 2, "c": 3})
VALUES = (None, True, False, *NUMBERS, *STRINGS, *ARRAYS, *OBJECTS)

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


CaseToolset = tuple[Verdicts, list[Case]]


@pytest.fixture(scope="module")
def keyword_toolset(build_toolset: BuildToolset) -> CaseToolset:
    """Generate a toolset with a tool for each keyword; return it and its cases."""
    definitions = {"small": {"type": "integer", "maximum": 3}}
    cases = []
    for number, (name, keyword) in enumerate(KEYWORDS.items()):
        schema = {"type": "object", "properties": {name: keyword}, "$defs": definitions}
        cases.append(Case(f"tool_{number}", schema))
    return build_toolset(cases), cases


@pytest.fixture(scope="module")
def function_toolset(build_toolset: BuildToolset) -> CaseToolset:
    """Generate a toolset for the schemas of real tools; return it and its cases."""
    cases = read_function_cases()
    return build_toolset(cases), cases


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=json_values)
def test_validation_agrees_with_jsonschema_for_random_values(
    value: Any, keyword_toolset: CaseToolset
) -> None:
    verdicts, cases = keyword_toolset
    for case in cases:
        assert_agrees(verdicts, case, {next(iter(case.schema["properties"])): value})


def assert_agrees(verdicts: Verdicts, case: Case, arguments: dict[str, Any]) -> bool:
    """Compare validation with `jsonschema`; return whether the arguments are valid."""
    problems = verdicts.problems(case.name, arguments)
    is_valid = case.oracle.is_valid(arguments)
    assert bool(problems) != is_valid, (case.name, arguments, problems)
    return is_valid


def count_accepted(
    verdicts: Verdicts, calls: Sequence[tuple[str, dict[str, Any]]]
) -> int:
    """Fail if two interfaces differ; return the number of accepted calls."""
    expected = [not verdicts.problems(name, arguments) for name, arguments in calls]
    for interface in ("call", "langchain", "cli"):
        accepts = getattr(verdicts, interface)
        for (name, arguments), valid in zip(calls, expected, strict=True):
            assert accepts(name, arguments) == valid, (interface, name, arguments)
    for call, valid, accepted in zip(calls, expected, verdicts.mcp(calls), strict=True):
        assert accepted == valid, ("mcp", call)
    return sum(expected)


def test_interfaces_accept_the_same_values_for_each_json_schema_keyword(
    keyword_toolset: CaseToolset,
) -> None:
    """Interfaces are the registry, MCP, LangChain and the CLI."""
    verdicts, cases = keyword_toolset
    randomizer = random.Random(3)
    calls = [
        (case.name, {next(iter(case.schema["properties"])): value})
        for case in cases
        for value in randomizer.sample(VALUES, 5)
    ]
    valid = count_accepted(verdicts, calls)
    assert 40 < valid < len(calls) - 40


def test_interfaces_accept_the_same_arguments_for_public_function_schemas(
    function_toolset: CaseToolset,
) -> None:
    verdicts, cases = function_toolset
    calls = [(case.name, dict(i)) for case in cases for i in case.instances]
    valid = count_accepted(verdicts, calls)
    assert 0 < valid < len(calls)


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every nested value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from list_paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index)
            yield from list_paths(inner, (*path, index))


def build_mutants(
    instance: dict[str, Any], randomizer: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield copies of an instance, each with one changed value."""
    for path in list_paths(instance):
        for change in range(3):
            mutant = copy.deepcopy(instance)
            parent: Any = mutant
            for step in path[:-1]:
                parent = parent[step]
            if change == 0:
                del parent[path[-1]]
            elif change == 1:
                parent[path[-1]] = randomizer.choice(VALUES)
            elif isinstance(parent, list):
                parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
            else:
                parent[f"{path[-1]}_"] = parent[path[-1]]
            yield mutant


def test_validation_accepts_the_same_changed_valid_arguments_as_jsonschema(
    function_toolset: CaseToolset,
) -> None:
    """Formats are annotations in both."""
    verdicts, cases = function_toolset
    randomizer = random.Random(7)
    count = {True: 0, False: 0}
    for case in cases:
        for instance in case.instances:
            for arguments in (instance, *build_mutants(instance, randomizer)):
                count[assert_agrees(verdicts, case, arguments)] += 1
    assert count[True] > 500
    assert count[False] > 500


def test_validation_by_this_projects_tool_specs_accepts_the_same_as_jsonschema(
    build_toolset: BuildToolset,
) -> None:
    """Arguments are random values for each property, also added to examples."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    randomizer = random.Random(5)
    for toolset in workspace.toolsets:
        cases = [Case(tool.name, dict(tool.parameters)) for tool in toolset.tools]
        verdicts = build_toolset(cases)
        for tool, case in zip(toolset.tools, cases, strict=True):
            examples = [dict(example.arguments) for example in tool.examples]
            for base in ({}, *examples):
                for name in (*tool.properties, "unknown"):
                    for value in randomizer.sample(VALUES, 8):
                        assert_agrees(verdicts, case, {**base, name: value})


def test_interfaces_assert_formats_only_if_enabled(build_toolset: BuildToolset) -> None:
    """Otherwise each string is accepted. The error describes the format."""
    rules = ASSERTED_FORMATS.items()
    examples = {name: (rule.example, "no such thing \\") for name, rule in rules}
    schemas = [{"type": "string", "format": name} for name in examples]
    properties = [{"a": {"type": "array", "items": schema}} for schema in schemas]
    cases = [
        Case(f"tool_{number}", {"type": "object", "properties": fields})
        for number, fields in enumerate(properties)
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
