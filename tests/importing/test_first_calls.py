"""Calls that `toolcast import` writes for `toolcast verify --calls`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcast.importing.first_calls import render_first_calls
from toolcast.mcp_client.server_listing import ServerListing


def list_calls(**tool: Any) -> list[dict[str, Any]]:
    listing = ServerListing("shop", tools=({"name": "find", **tool},))
    return [json.loads(line) for line in render_first_calls(listing).splitlines()]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, 1),
        ({"type": "number"}, 1.5),
        ({"type": "number", "minimum": 7}, 7),
        ({"type": "string", "minimum": 7}, "text"),
        ({"type": "boolean"}, True),
        ({"type": "array"}, []),
        ({"type": "object"}, {}),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"type": []}, "text"),
        ({"type": "other"}, "text"),
        ({}, "text"),
        (True, "text"),
        (None, "text"),
        ({"default": None, "const": 3, "examples": [4]}, None),
        ({"const": 3, "examples": [4], "enum": [5]}, 3),
        ({"examples": [4, 6], "enum": [5]}, 4),
        ({"examples": [], "enum": [5]}, 5),
        ({"type": "integer", "examples": {"a": 1}}, 1),
    ],
)
def test_first_call_has_a_probable_value_for_each_required_parameter(
    schema: Any, value: Any
) -> None:
    """Optional parameters are left out."""
    schema = {"properties": {"a": schema, "b": {}}, "required": ["a"]}
    calls = list_calls(inputSchema=schema, annotations={"readOnlyHint": True})
    assert calls == [{"tool": "find", "arguments": {"a": value}}]


@pytest.mark.parametrize("annotations", [None, "", {}, {"readOnlyHint": False}])
def test_tool_without_read_only_annotation_has_no_first_call(annotations: Any) -> None:
    assert list_calls(inputSchema={}, annotations=annotations) == []


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": [], "required": ["a"]},
        {"required": "a"},
        {"properties": {}, "required": [1]},
    ],
)
def test_first_call_without_readable_parameters_has_no_arguments(schema: Any) -> None:
    calls = list_calls(inputSchema=schema, annotations={"readOnlyHint": True})
    assert calls == [{"tool": "find", "arguments": {}}]
