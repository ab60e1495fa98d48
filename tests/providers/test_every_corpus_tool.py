"""What real servers list, in every provider's form: no error, bounded time, no invented value."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

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
def test_strict_schemas_are_as_openai_documents_them(name: str) -> None:
    listed = render_tools(provider_named(name), tools(), ListOptions(strict=True))
    strict = [one for one in listed.rendered if one.is_strict]
    assert len(strict) > 0.9 * len(listed.rendered)
    for one in strict:
        assert not list(_problems(one.parameters.schema, is_root=True)), one.tool.name


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {
            "type": "object",
            "anyOf": [],
            "properties": {},
            "additionalProperties": False,
        },
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ],
)
def test_a_schema_that_openai_refuses_is_found(schema: dict[str, Any]) -> None:
    assert list(_problems(schema, is_root=True))


def _problems(schema: Mapping[str, Any], *, is_root: bool = False) -> Iterator[str]:
    """What OpenAI's guide to structured outputs rules out, written from it alone."""
    if is_root and (schema.get("type") != "object" or "anyOf" in schema):
        yield "the root is no object"
    if not schema.keys() & {"type", "anyOf", "$ref", "enum", "const"}:
        yield "any value"
    if "$ref" in schema and len(schema) > 1:
        yield "something beside a reference"
    if "properties" in schema or schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield "an open object"
        if schema.get("required", []) != list(schema.get("properties", {})):
            yield "an optional property"
    if schema.get("type") == "array" and "items" not in schema:
        yield "an array of anything"
    for keyword in (
        "allOf oneOf not if then else dependentRequired dependentSchemas default"
        " patternProperties propertyNames minProperties maxProperties uniqueItems contains"
        " minLength maxLength prefixItems unevaluatedProperties"
    ).split():
        if keyword in schema:
            yield keyword
    for name in ("properties", "$defs"):
        for inner in schema.get(name, {}).values():
            yield from _problems(inner)
    for inner in [*schema.get("anyOf", []), *filter(None, [schema.get("items")])]:
        yield from _problems(inner)


def _doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "object", "properties": {}}
    inner = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": inner, "$defs": definitions}


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
    ],
    ids=["doubling", "wrong", "wrong-inside", "itself", "root"],
)
@pytest.mark.parametrize("strict", [False, True], ids=["loose", "strict"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_a_hostile_schema_ends_soon(
    name: str, strict: bool, schema: dict[str, Any]
) -> None:
    tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
    start = time.process_time()
    listed = render_tools(provider_named(name), [tool], ListOptions(strict))
    assert listed.call("do", {"a": None}).name == "do"
    assert time.process_time() - start < MOST_SECONDS
