"""Arguments that are made to hurt: each is answered soon, in words, by every surface."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.validation.limits import (
    MAX_LEVELS,
    MAX_VALUES,
    measure_value,
)

TREE = {
    "type": "object",
    "properties": {"a": {"$ref": "#"}},
    "additionalProperties": False,
}
CHOICE = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"k": {"const": kind}, "a": {"$ref": "#/$defs/node"}},
                    "required": ["k"],
                }
                for kind in ("and", "or", "not")
            ]
        }
    },
}


def problems(schema: Any, arguments: Any) -> tuple[list[str], float]:
    """What validation says, and the seconds that it took once it was warm."""
    validators = Validators()
    tool = Tool("t", "", "", {"name": "t", "inputSchema": schema})
    validators.check_arguments(tool, {})
    start = time.process_time()
    found = validators.check_arguments(tool, arguments)
    return found, time.process_time() - start


def fan(keyword: str, ways: int = 60) -> dict[str, Any]:
    """Each of many definitions leads to the next one twice: 2 ** n ways to one place."""

    def twice(number: int) -> list[Any]:
        return [{"$ref": f"#/$defs/d{number + 1}"}] * 2

    definitions: dict[str, Any] = {f"d{i}": {keyword: twice(i)} for i in range(ways)}
    return {
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": {**definitions, f"d{ways}": {"type": "string"}},
    }


def recursive(**node: Any) -> dict[str, Any]:
    """An object whose `a` is a node, which refers to nodes as `#/$defs/node`."""
    return {
        "properties": {"a": NODE},
        "$defs": {"node": {"type": "object", **node}, "other": {"properties": AS_A}},
    }


NODE = {"$ref": "#/$defs/node"}
AS_A = {"a": NODE}
MULTIPLYING = {
    "allOf in a fan": (fan("allOf", 12), {"a": 7}),
    "anyOf in a fan": (fan("anyOf", 12), {"a": 7}),
    "oneOf in a fan": (fan("oneOf", 12), {"a": 7}),
    "patterns": (
        recursive(properties=AS_A, patternProperties={"^a": NODE}),
        None,
    ),
    "two patterns": (recursive(patternProperties={"^a": NODE, "a$": NODE}), None),
    "dependent": (
        recursive(properties=AS_A, dependentSchemas={"a": {"properties": AS_A}}),
        None,
    ),
    "both ways": (
        {**recursive(properties=AS_A, **{"$ref": "#/$defs/other"})},
        None,
    ),
    "conditions": (
        recursive(properties=AS_A, **{"if": True, "then": {"properties": AS_A}}),
        None,
    ),
    "anchors": (
        recursive(
            **{"$dynamicAnchor": "n"},
            properties={"a": {"$dynamicRef": "#n"}},
            additionalProperties=False,
            patternProperties={"a": {"$dynamicRef": "#n"}},
        ),
        None,
    ),
}


def takes(**schema: Any) -> dict[str, Any]:
    """An object with one parameter `a`."""
    return {
        "type": "object",
        "properties": {"a": schema},
        "additionalProperties": False,
    }


def nested(depth: int, leaf: Any = 0) -> dict[str, Any]:
    """`{"a": {"a": ...}}`."""
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
def test_slow_patterns_end(pattern: str, text: str) -> None:
    found, seconds = problems(takes(type="string", pattern=pattern), {"a": text})
    assert found
    assert seconds < 0.5  # a pattern that backtracks without bound takes minutes


DEEP = nested(10_000)
LARGE: dict[str, tuple[Any, Any]] = {
    "deep, where depth is declared": (TREE, DEEP),
    "deep, where anything goes": (takes(), DEEP),
    "deep, where text is wanted": (takes(type="string"), DEEP),
    "a long text": (takes(type="string", maxLength=10), {"a": "x" * 1_000_000}),
    "a long name": (takes(), {"x" * 1_000_000: 1}),
    "many names": (takes(), {f"x{i}": i for i in range(50_000)}),
    "many wrong items": (takes(items={"type": "string"}), {"a": list(range(50_000))}),
    "many objects": (takes(uniqueItems=True), {"a": [{"b": 1}] * 10_000}),
    "nested choices": (CHOICE, nested(30, {"k": "bad"})),
}


@pytest.mark.parametrize("what", LARGE)
def test_large_arguments_are_refused_soon(what: str) -> None:
    schema, arguments = LARGE[what]
    found, seconds = problems(schema, arguments)
    assert found
    assert len("; ".join(found)) < 2_500
    assert seconds < 0.5


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", MULTIPLYING)
def test_what_multiplies_is_refused_soon(what: str) -> None:
    schema, arguments = MULTIPLYING[what]
    arguments = nested(60, 7) if arguments is None else arguments
    found, seconds = problems(schema, arguments)
    assert found == ["the value does not match the schema"]
    assert seconds < 0.5


def test_one_way_to_each_place_is_explained() -> None:
    found, _ = problems(TREE, nested(60, 7))
    assert found == [f"`{'.'.join('a' * 60)}` must be an object"]
    assert problems(CHOICE, nested(2, {"k": "bad"}))[0]


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
def test_what_is_not_json_is_refused_whatever_the_schema(value: Any, word: str) -> None:
    found, _ = problems(takes(), {"a": value})
    assert len(found) == 1
    assert word in found[0]


def test_a_value_that_holds_itself_ends() -> None:
    value: list[Any] = []
    value += [value, value]
    assert measure_value(value).problem


def test_the_bound_is_far_from_what_people_write() -> None:
    assert problems(TREE, nested(MAX_LEVELS - 2, {}))[0] == []
    assert problems(CHOICE, nested(1, {"k": "and", "a": {"k": "or"}}))[0] == []


@pytest.fixture(scope="module")
def tree(build: Callable[[Any], Any], case_of: Any) -> Any:
    """A generated toolset with one recursive tool."""
    return build([case_of("tree", TREE, ()), case_of("text", takes(type="string"), ())])


def test_deep_arguments_on_every_surface(tree: Any) -> None:
    """The CLI and MCP stop at their own JSON readers, the others at the bound."""
    deep = nested(500, {})
    for ask in (tree.call, tree.langchain, tree.cli):
        assert ask("tree", deep) is False
        assert ask("tree", nested(50, {})) is True
    assert tree.mcp([("tree", nested(50, {})), ("tree", nested(150, {}))]) == [True] * 2


def test_a_long_text_on_every_surface(tree: Any) -> None:
    text = {"a": "x" * 1_000_000}
    assert tree.call("text", text) and tree.langchain("text", text)
    assert tree.cli("text", text)
    assert tree.mcp([("text", text), ("text", {"b": "x" * 1_000_000})]) == [True, False]


def test_deep_json_text_is_a_usage_error(tree: Any) -> None:
    import importlib

    from click.testing import CliRunner

    main = importlib.import_module(f"{tree.package}.cli").main
    text = '{"a":' * 100_000
    result = CliRunner().invoke(main, ["t0", "--arguments", text])
    assert result.exit_code == 2
    assert "nested too deeply" in result.output
    assert json.dumps(nested(3)) in '{"a": {"a": {"a": 0}}}'


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("ways", [17, 60])
def test_references_that_multiply_are_refused_at_once(keyword: str, ways: int) -> None:
    found, seconds = problems(fan(keyword, ways), {"a": 7})
    assert found == ["the value cannot be checked: the tool's schema cannot be applied"]
    assert seconds < 1
