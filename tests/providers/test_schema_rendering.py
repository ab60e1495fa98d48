"""Tools rendered in each provider's format, by the JSON files of `cases/`.

Also alternatives merged into one object, which `additionalProperties` next to them restricts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.providers.test_dialect_table import TEXT, render
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import provider_named
from toolcast_runtime.providers.dialect import Effect
from toolcast_runtime.providers.model_provider import ListOptions, render_tools

CASES = sorted(Path(__file__).parent.glob("cases/*/*.json"))


@pytest.mark.parametrize(
    "file", CASES, ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_tool_in_a_provider_format_equals_the_expected_json(file: Path) -> None:
    """The file also has the expected losses and the restored arguments of calls."""
    case = json.loads(file.read_text("utf-8"))
    provider = provider_named(file.parent.name.removesuffix("-strict"))
    strict = file.parent.name.endswith("-strict")
    tool_list = render_tools(provider, [_make_tool(case["tool"])], ListOptions(strict))
    assert tool_list.tools == case["given"]
    assert [str(loss).partition(" ")[2] for loss in tool_list.losses] == case["losses"]
    for sent, restored in case.get("calls", []):
        name = tool_list.rendered[0].name
        assert tool_list.call(name, sent) == (case["tool"]["name"], restored)
        assert tool_list.call(name, json.dumps(sent)).arguments == restored


def _make_tool(definition: dict[str, Any]) -> Tool:
    return Tool(definition["name"], "", definition["description"], definition)


NUMBER: dict[str, Any] = {"type": "number"}
RESTRICTED: dict[str, tuple[Any, list[Any], Any]] = {
    "enum with an array": (
        {"type": "boolean"},
        [{"properties": {"a": {"enum": ["red", ["red", None]]}}}, {}],
        {"a": ["red", None]},
    ),
    "other type": (NUMBER, [{"properties": {"a": TEXT}}], {"a": "x"}),
    "any value": (
        NUMBER,
        [{"properties": {"a": {}}}, {"properties": {"a": True}}],
        {"a": "x"},
    ),
    "one value": ({"const": 1}, [{"properties": {"a": {"const": 2}}}, {}], {"a": 2}),
    "smaller range": (
        {"type": "number", "maximum": 5},
        [{"properties": {"a": {"minimum": 1}}}, {"properties": {"b": NUMBER}}],
        {"a": 6},
    ),
    "null": (
        NUMBER,
        [{"properties": {"a": {"type": ["number", "null"]}}}],
        {"a": None},
    ),
    "reference": (
        {"$ref": "#/$defs/d"},
        [{"properties": {"a": {"type": "integer"}}}, {"required": ["b"]}],
        {"a": 5, "b": "x"},
    ),
    "closed alternative": (
        {"anyOf": [TEXT, {"type": "null"}]},
        [{"properties": {"a": NUMBER}, "additionalProperties": False}, {}],
        {"a": 0.5},
    ),
    "required": (TEXT, [{"properties": {"a": NUMBER}, "required": ["a"]}], {"a": 1}),
    "array": (
        {"type": "array", "items": TEXT},
        [{"properties": {"a": {"type": "array"}}}, {"properties": {"a": TEXT}}],
        {"a": [1]},
    ),
}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("number", range(len(RESTRICTED)), ids=list(RESTRICTED))
@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "bedrock"])
def test_merged_anyof_alternatives_keep_the_additional_properties_restriction(
    provider: str, number: int, keyword: str
) -> None:
    """The rendered schema rejects what the spec rejects, and both are reported."""
    additional, members, arguments = [*RESTRICTED.values()][number]
    schema = {
        "type": "object",
        "properties": {"c": TEXT},
        "additionalProperties": additional,
        keyword: members,
        "$defs": {"d": TEXT},
    }
    rendered = render((provider, False), schema)
    assert not Draft202012Validator(schema).is_valid(arguments)
    assert not Draft202012Validator(rendered.schema).is_valid(arguments)
    losses = {loss.keyword: loss for loss in rendered.losses}
    assert losses["additionalProperties"].path == "/parameters"
    assert losses[keyword].path == "/parameters"


def test_merged_anyof_additional_properties_exclude_pattern_property_matches() -> None:
    members = [{"properties": {"x_a": TEXT}}, {"properties": {"b": TEXT}}]
    schema = {
        "type": "object",
        "patternProperties": {"^x_": {"minLength": 2}},
        "additionalProperties": {"maxLength": 1},
        "anyOf": members,
    }
    form = Draft202012Validator(render(("anthropic", False), schema).schema)
    assert form.is_valid({"x_a": "long", "b": "s"})
    assert not form.is_valid({"x_a": "s"}) and not form.is_valid({"b": "long"})


@pytest.mark.parametrize(
    "member", [{"additionalProperties": True}, {"patternProperties": {"^a": {}}}, {}]
)
def test_lost_anyof_next_to_unevaluated_properties_is_reported_with_effect_other(
    member: dict[str, Any],
) -> None:
    """Without the alternatives, `unevaluatedProperties` evaluates fewer names."""
    schema = {"type": "object", "unevaluatedProperties": False, "anyOf": [member]}
    (loss,) = render(("openai-chat", False), schema).losses
    assert (loss.keyword, loss.effect) == ("anyOf", Effect.OTHER)


@pytest.mark.parametrize(
    ("enum", "const", "expected", "lost"),
    [
        (["a", "b"], "a", ["a"], []),
        ([1.0, 2], 1, [1], []),
        (["b", "c"], "a", ["b", "c"], ["const"]),
        ([1, 2], True, [1, 2], ["const"]),
    ],
)
def test_const_next_to_an_enum_is_merged_or_reported_for_ollama(
    enum: list[Any], const: Any, expected: list[Any], lost: list[str]
) -> None:
    parameter = {"enum": enum, "allOf": [{"const": const}]}
    schema = {"type": "object", "properties": {"a": parameter}}
    rendered = render(("ollama", False), schema)
    assert rendered.schema["properties"]["a"]["enum"] == expected
    assert [loss.keyword for loss in rendered.losses] == lost
