"""Invalid, circular and exponentially growing schemas: rendering ends in bounded time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    provider_named,
    render_tools,
)

MAX_CPU_S = 5.0


def _make_doubling_schema(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "object", "properties": {}}
    properties = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": properties, "$defs": definitions}


def _make_nested_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a b": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        _make_doubling_schema(40),
        {"type": "object", "properties": ["a"], "required": 5},
        {"properties": {"a": {"enum": "x", "required": "y", "allOf": "z"}}},
        {
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/a"}},
        },
        {"$ref": "#"},
        _make_nested_schema(900),
    ],
    ids=["doubling", "wrong", "wrong-inside", "itself", "root", "deep"],
)
@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_invalid_circular_or_exponential_tool_schema_is_rendered_in_bounded_time(
    name: str, strict: bool, schema: dict[str, Any]
) -> None:
    tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
    start = time.process_time()
    options = ListOptions(["do"] if strict else False)
    tool_list = render_tools(provider_named(name), [tool], options)
    assert tool_list.call("do", {"a": None}).name == "do"
    assert time.process_time() - start < MAX_CPU_S


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(
    "keywords",
    [{"const": None}, {"enum": [None, "x"]}, {"const": None, "properties": {"a": {}}}],
)
def test_tool_whose_schema_rejects_all_objects_is_omitted_from_provider_lists(
    name: str, keywords: dict[str, Any]
) -> None:
    """The report contains an error for this tool."""
    definition = {"name": "do", "inputSchema": {"type": "object", **keywords}}
    other = {"name": "other", "inputSchema": {"type": "object", "const": {"a": 1}}}
    tools = [Tool("do", "", "Does.", definition), Tool("other", "", "Too.", other)]
    tool_list = render_tools(provider_named(name), tools, ListOptions(True))
    assert [rendered.tool.name for rendered in tool_list.rendered] == ["other"]
    [loss] = [loss for loss in tool_list.losses if loss.tool == "do"]
    assert "error: the schema does not accept objects, so no call is valid" in str(loss)
