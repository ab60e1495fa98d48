"""Schemas that are none, hold themselves or multiply: an end, soon, and no traceback."""

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

MOST_SECONDS = 5.0


def _doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "object", "properties": {}}
    inner = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": inner, "$defs": definitions}


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a b": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        _doubling(40),
        {"type": "object", "properties": ["a"], "required": 5},
        {"properties": {"a": {"enum": "x", "required": "y", "allOf": "z"}}},
        {
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/a"}},
        },
        {"$ref": "#"},
        _deep(900),
    ],
    ids=["doubling", "wrong", "wrong-inside", "itself", "root", "deep"],
)
@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_a_hostile_schema_ends_soon(
    name: str, strict: bool, schema: dict[str, Any]
) -> None:
    tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
    start = time.process_time()
    options = ListOptions(["do"] if strict else False)
    listed = render_tools(provider_named(name), [tool], options)
    assert listed.call("do", {"a": None}).name == "do"
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(
    "more",
    [{"const": None}, {"enum": [None, "x"]}, {"const": None, "properties": {"a": {}}}],
)
def test_a_root_that_is_no_object(name: str, more: dict[str, Any]) -> None:
    definition = {"name": "do", "inputSchema": {"type": "object", **more}}
    other = {"name": "other", "inputSchema": {"type": "object", "const": {"a": 1}}}
    tools = [Tool("do", "", "Does.", definition), Tool("other", "", "Too.", other)]
    listed = render_tools(provider_named(name), tools, ListOptions(True))
    assert [one.tool.name for one in listed.rendered] == ["other"]
    [loss] = [one for one in listed.losses if one.tool == "do"]
    assert "error: the schema does not accept objects, so no call is valid" in str(loss)
