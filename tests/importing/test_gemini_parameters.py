"""Gemini declarations with lowercase types, and tools without a valid input schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcast.importing.source_file import parse_source
from toolcast.mcp_client.server_listing import ListingError

NULLABLE: list[tuple[Any, Any]] = [
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    (
        {"type": "integer", "format": "int32", "nullable": True},
        {"type": ["integer", "null"], "format": "int32"},
    ),
    (
        {"type": "string", "format": "enum", "enum": ["x"]},
        {"type": "string", "enum": ["x"]},
    ),
    (
        {"type": "string", "enum": ["x"], "nullable": True},
        {"type": ["string", "null"], "enum": ["x", None]},
    ),
    ({"type": "string", "nullable": False}, {"type": "string"}),
    (
        {"type": "array", "items": {"type": "number", "nullable": True}},
        {"type": "array", "items": {"type": ["number", "null"]}},
    ),
    (
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True},
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
    ),
    (
        {"$ref": "#/$defs/a", "description": "A.", "nullable": True},
        {"description": "A.", "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
    ),
    (
        {"type": "object", "properties": {"nullable": {"type": "boolean"}}},
        {"type": "object", "properties": {"nullable": {"type": "boolean"}}},
    ),
    (
        {
            "type": "object",
            "additionalProperties": {"type": "string", "nullable": True},
        },
        {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    ),
]


def read_schema(tool: Any, key: str = "functionDeclarations") -> Any:
    source = parse_source(json.dumps({"tools": [{key: [tool]}]}).encode(), "list.json")
    return source.listing.tools[0]["inputSchema"]


@pytest.mark.parametrize(("schema", "expected"), NULLABLE)
def test_gemini_nullable_is_imported_as_a_null_type(schema: Any, expected: Any) -> None:
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    tool = {"name": "g", "description": "G.", "parameters": parameters}
    expected_schema = {**parameters, "properties": {"a": expected}}
    for key in ("functionDeclarations", "function_declarations"):
        assert read_schema(tool, key) == expected_schema


def test_gemini_json_schema_parameters_are_imported_unchanged() -> None:
    value = {"type": "string", "nullable": True}
    schema = {"type": "object", "properties": {"a": value}}
    assert read_schema({"name": "g", "parametersJsonSchema": schema}) == schema


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (
            {"name": "s", "parameter_definitions": {"q": {"type": "str"}}},
            "`s` has none of `inputSchema`, `input_schema` and `parameters`",
        ),
        (
            {"name": "n", "inputSchema": None},
            "the input schema of `n` is not a JSON object",
        ),
        (
            {"name": "a", "input_schema": []},
            "the input schema of `a` is not a JSON object",
        ),
    ],
)
def test_import_rejects_a_tool_without_object_schema(tool: Any, message: str) -> None:
    valid = {"name": "good", "inputSchema": {"type": "object"}}
    with pytest.raises(ListingError, match=r"list\.json: ") as raised:
        parse_source(json.dumps([tool]).encode(), "list.json")
    assert message in str(raised.value)
    if "input_schema" not in tool:
        source = parse_source(json.dumps([tool, valid]).encode(), "list.json")
        assert [listed["name"] for listed in source.listing.tools] == ["good"]
        assert message in source.rejected[tool["name"]]
