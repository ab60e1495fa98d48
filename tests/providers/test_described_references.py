"""Keywords and alternatives in descriptions, nullable parameters, and odd patterns."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from tests.providers.test_dialect_table import TEXT, parameter, render
from toolcast_runtime.providers.alternatives import describe_relations

_LEVELS: dict[str, Any] = {
    "level": {"type": "string", "enum": ["low", "high"], "default": "low"},
    "entry": {
        "type": "object",
        "properties": {"level": {"$ref": "#/$defs/level"}},
        "required": ["level"],
    },
    "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
}
_ENTRY = {"type": "object", "properties": {"level": _LEVELS["level"]}}
_ENTRY["required"] = ["level"]


@pytest.mark.parametrize(
    ("form", "schema", "stated"),
    [
        ("gemini", {"not": {"$ref": "#/$defs/level"}}, _LEVELS["level"]),
        ("gemini", {"not": {"$ref": "#/$defs/entry"}}, _ENTRY),
        ("gemini", {"contains": {"$ref": "#/$defs/level"}}, _LEVELS["level"]),
        ("gemini", {"propertyNames": {"$ref": "#/$defs/level"}}, _LEVELS["level"]),
        ("ollama", {"additionalProperties": {"$ref": "#/$defs/entry"}}, _ENTRY),
        ("ollama", {"anyOf": [{"$ref": "#/$defs/entry"}, TEXT]}, [_ENTRY, TEXT]),
        ("ollama", {"oneOf": [{"$ref": "#/$defs/level"}]}, [_LEVELS["level"]]),
        ("gemini", {"not": {"$ref": "#/$defs/tree"}}, None),
        ("ollama", {"additionalProperties": {"$ref": "#/$defs/tree"}}, None),
        ("ollama", {"oneOf": [{"$ref": "#/$defs/tree"}, TEXT]}, None),
        ("gemini", {"const": {"$ref": "#/$defs/tree"}}, {"$ref": "#/$defs/tree"}),
    ],
)
def test_keyword_moved_to_a_description_contains_the_referenced_schema(
    form: str, schema: dict[str, Any], stated: Any
) -> None:
    """A model cannot resolve a `$ref` in text; a circular one is only reported."""
    rendered = render((form, False), {**parameter(schema), "$defs": _LEVELS})
    (keyword,) = schema
    text = "" if stated is None else f"({keyword}: {json.dumps(stated)})"
    assert rendered.schema["properties"]["a"].get("description", "") == text
    location = ("/parameters/properties/a", keyword)
    losses = [loss for loss in rendered.losses if (loss.path, loss.keyword) == location]
    assert [loss.severity for loss in losses] == ["note" if text else "warning"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$ref": "#/$defs/level"}, {"type": ["string", "null"]}),
        ({"allOf": [{"$ref": "#/$defs/level"}]}, {"type": ["string", "null"]}),
        (TEXT, {"type": ["string", "null"]}),
        ({"type": "array", "items": TEXT}, {"type": ["array", "null"], "items": TEXT}),
        ({"$ref": "#/$defs/entry"}, {"type": ["object", "null"]}),
        (
            {"$ref": "#/$defs/tree"},
            {"type": ["array", "null"], "items": {"type": "array"}},
        ),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_ollama_nullable_anyof_parameter_gets_a_type_list_with_null(
    schema: dict[str, Any], expected: dict[str, Any], is_first: bool
) -> None:
    members = [schema, {"type": "null"}]
    nullable = {"anyOf": members[::-1] if is_first else members}
    rendered = render(("ollama", False), {**parameter(nullable), "$defs": _LEVELS})
    found = rendered.schema["properties"]["a"]
    assert expected.items() <= found.items()
    assert "anyOf" not in {loss.keyword for loss in rendered.losses}


@pytest.mark.parametrize("pattern", ["^[[a-z]$", "[a&&b]", "[a||b]", "[a~~b]"])
def test_rendering_pattern_keywords_causes_no_future_warnings(pattern: str) -> None:
    with warnings.catch_warnings(action="error"):
        rendered = render(
            ("openai-chat", False), parameter({"type": "string", "pattern": pattern})
        )
    assert rendered.schema["properties"]["a"]["pattern"] == pattern


@pytest.mark.parametrize(
    ("members", "relations"),
    [
        ([{"properties": {"a": {}}}, {"properties": {"b": {}}}], []),
        ([{"properties": {"a": {}}, "additionalProperties": False}] * 2, []),
        # A closed alternative lacks a name of the other one.
        (
            [
                {"properties": {"a": {}}, "additionalProperties": False},
                {"properties": {"a": {}, "b": {}}},
            ],
            [{"properties": {"a": True}}, {"properties": {"a": True, "b": True}}],
        ),
        (
            [
                {"properties": {"a": {"minimum": 1}, "b": {}}, "required": ["a"]},
                {"properties": {"a": {}, "b": {}}},
            ],
            [
                {"properties": {"a": {"minimum": 1}}, "required": ["a"]},
                {"properties": {"a": {}}, "required": []},
            ],
        ),
        (
            [{"minProperties": 1}, {"additionalProperties": {"type": "string"}}],
            [{"minProperties": 1}, {"additionalProperties": {"type": "string"}}],
        ),
    ],
)
def test_describe_relations_lists_what_the_merged_alternatives_lose(
    members: list[Any], relations: list[Any]
) -> None:
    """Differing properties and `required`, names of closed objects, and other keywords."""
    assert describe_relations(members) == relations
