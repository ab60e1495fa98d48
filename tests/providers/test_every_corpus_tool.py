"""What real servers list, in every provider's form: no error, bounded time, no invented value."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.providers.documented_rules import problems
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    provider_named,
    render_tools,
)
from toolcast_runtime.tools.tool import Tool
from toolcast_runtime.validation.compiled import build

LISTS = sorted((Path(__file__).parents[1] / "corpus" / "mcp").glob("*.json"))
MOST_SECONDS = 5.0


def tools() -> list[Tool]:
    found = []
    for file in LISTS:
        for definition in json.loads(file.read_text("utf-8"))["tools"]:
            description = definition.get("description", "")
            found.append(Tool(definition["name"], "", description, definition))
    return found


@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_every_tool_has_a_form(name: str, strict: bool) -> None:
    provider = provider_named(name)
    everything = tools()
    assert len(everything) > 300
    start = time.process_time()
    options = ListOptions(strict, tool_search=True, programmatic=True)
    listed = render_tools(provider, everything, options)
    json.dumps(listed.tools)
    assert time.process_time() - start < MOST_SECONDS
    for one in listed.rendered:
        assert one.parameters.schema["type"] == "object"
        build(one.parameters.schema)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_most_tools_have_a_strict_form(name: str) -> None:
    listed = render_tools(provider_named(name), tools(), ListOptions(strict=True))
    strict = [one for one in listed.rendered if one.is_strict]
    assert len(strict) > 0.9 * len(listed.rendered)


def _doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "object", "properties": {}}
    inner = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": inner, "$defs": definitions}


def render(name: str, schema: Any, *, strict: bool = False, **more: Any) -> Any:
    definition = {"name": "do", "inputSchema": schema, **more}
    tool = Tool("do", "", "Does it.", definition)
    options = ListOptions(["do"] if strict else False)
    return render_tools(provider_named(name), [tool], options)


NO_SCHEMAS = [
    {"type": "object", "properties": ["a"], "required": 5},
    {"properties": {"a": {"enum": "x", "required": "y", "allOf": "z"}}},
    {"$ref": "https://example.com/schema.json"},
    {"type": "object", "properties": {"a": {"pattern": "["}}},
    5,
]


@pytest.mark.parametrize("schema", NO_SCHEMAS)
@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_what_is_no_schema_leaves_its_tool_out(
    name: str, strict: bool, schema: Any
) -> None:
    """With it the provider would refuse the whole request."""
    listed = render(name, schema, strict=strict)
    assert not listed.rendered
    assert [str(loss) for loss in listed.left_out] == [
        "do /parameters parameters error: the schema is no valid one; the tool is left out"
    ]
    assert set(listed.left_out) <= set(listed.losses)


def test_what_is_no_schema_of_a_result_is_left_out_alone() -> None:
    listed = render("gemini", {"type": "object"}, outputSchema={"type": "none"})
    assert "responseJsonSchema" not in listed.tools[0]["functionDeclarations"][0]
    assert [str(loss) for loss in listed.losses] == [
        "do /returns returns note: the schema is no valid one; it is left out"
    ]


ODD = [
    _doubling(40),
    {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
    {"$ref": "#"},
    {},
    {"maximum": 3},
    {"type": "object", "$dynamicRef": "#", "required": ["b"]},
    {"type": "object", "properties": {"a": {"anyOf": [False]}, "b": False}},
    {
        "properties": {
            "a": {"type": ["string", "null"], "anyOf": [{"minLength": 1}, {}]}
        }
    },
    {"properties": {"a": {"type": ["string", "integer"], "enum": []}}},
    {"properties": {"\u540d": {"const": None}, "a.b": True, "": {}, "$ref": {}}},
    {"properties": {"a": {"enum": [*range(5_000)]}, "b": {"format": "odd"}}},
    {"properties": {"a": {"enum": [{"b": []}, True, None, 1.5]}}},
    {"properties": {"a": {"enum": ["red", 1, None]}, "b": {"type": ["string"]}}},
]


@pytest.mark.parametrize("schema", ODD)
@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_an_odd_schema_has_a_form_that_the_provider_takes(
    name: str, strict: bool, schema: dict[str, Any]
) -> None:
    start = time.process_time()
    listed = render(name, schema, strict=strict)
    assert not problems(name, listed.tools)
    build(listed.rendered[0].parameters.schema)
    assert listed.call("do", {"a": None, "b": "\ud800"}).name == "do"
    assert time.process_time() - start < MOST_SECONDS
