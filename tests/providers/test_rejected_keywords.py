"""Rejected keywords and values: moved to descriptions or removed, and reported as losses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.providers.test_dialect_table import (
    FORMS,
    MAX_INTEGER,
    TEXT,
    parameter,
    render,
)
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import provider_named
from toolcast_runtime.providers.dialect import has_larger_integer
from toolcast_runtime.providers.model_provider import render_tools
from toolcast_runtime.providers.schema_rendering import render_schema

PATTERNS = [
    r"^[\p{L}\p{N}_]+$",
    r"^(?<org>[a-z]+)$",
    r"\u{1F600}",
    r"^\P{Lu}",
    r"(?<year>\d{4})-\k<year>",
    r"^[^]$",
    r"[\w-.]+",
    r"\cA",
    r"a{99999999999}",
    r"\Aa\z",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("is_strict", [False, True])
def test_openai_pattern_that_python_cannot_compile_moves_to_the_description(
    is_strict: bool, pattern: str
) -> None:
    provider = provider_named("openai-chat")
    dialect = provider.strict if is_strict else None
    schema = parameter({"type": "string", "pattern": pattern})
    rendered = render_schema(schema, dialect or provider.dialect, "do")
    described = {"type": "string", "description": f"(pattern: {json.dumps(pattern)})"}
    assert rendered.schema["properties"]["a"] == described
    assert [loss.keyword for loss in rendered.losses] == ["pattern"]


@pytest.mark.parametrize("pattern", PATTERNS[:4])
@pytest.mark.parametrize("closing", ["additionalProperties", "unevaluatedProperties"])
def test_openai_schema_allows_properties_from_removed_pattern_properties(
    pattern: str, closing: str
) -> None:
    patterns = {pattern: {"type": "string"}, "^n_": {"type": "number"}}
    schema = parameter(
        {"type": "object", "patternProperties": patterns, closing: False}
    )
    rendered = render(("openai-chat", False), schema)
    found = rendered.schema["properties"]["a"]
    assert found["patternProperties"] == {"^n_": {"type": "number"}}
    is_closed = closing == "additionalProperties"
    assert found["additionalProperties"] == ({"type": "string"} if is_closed else True)
    assert json.dumps(pattern) in found["description"]
    lost = ["additionalProperties"] if is_closed else []
    assert [loss.keyword for loss in rendered.losses] == [*lost, "patternProperties"]


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"pattern": r"\p{L}"}},
        {"if": {"pattern": r"\p{L}"}, "then": {"minLength": 2}},
        {"not": {"const": 2**60}},
        {"not": {"not": {"pattern": r"\p{L}"}}},
        {"type": "array", "contains": {"pattern": r"\p{L}"}, "maxContains": 1},
        {"not": {"anyOf": [{"maximum": 2**60}, {"type": "string"}]}},
    ],
)
def test_openai_keyword_with_an_unsupported_value_in_not_if_or_contains_is_described(
    schema: Any,
) -> None:
    """The keyword moves to the description: without the value it would be narrower."""
    rendered = render(("openai-chat", False), parameter(schema))
    found = rendered.schema["properties"]["a"]
    assert found.keys() <= {"type", "items", "description"}
    for keyword in schema.keys() - {"type"}:
        assert f"{keyword}: {json.dumps(schema[keyword])}" in found["description"]
        assert keyword in {loss.keyword for loss in rendered.losses}


def test_openai_oneof_with_an_alternative_that_loses_a_pattern_becomes_anyof() -> None:
    members = [
        {"type": "string", "pattern": r"^\p{Lu}"},
        {"type": "string", "maxLength": 2},
    ]
    rendered = render(("openai-chat", False), parameter({"oneOf": members}))
    assert [*rendered.schema["properties"]["a"]] == ["anyOf"]
    assert [loss.keyword for loss in rendered.losses] == ["oneOf", "pattern"]


LARGE = [
    {"type": "integer", "maximum": 2**63 - 1},
    {"type": "integer", "minimum": -(2**63)},
    {"type": "integer", "exclusiveMaximum": 2**64},
    {"type": "number", "exclusiveMinimum": -1e300},
    {"type": "integer", "multipleOf": 2**53},
    {"type": "string", "maxLength": 2**64 - 1},
    {"type": "array", "items": {"type": "string"}, "maxItems": 2**62},
    {"type": "integer", "enum": [1, 2**53 + 1]},
    {"const": 18446744073709551615},
    {"type": "integer", "default": 2**53},
    {"type": "object", "properties": {}, "default": {"a": [2**60]}},
    {"type": "integer", "examples": [9007199254740993.0]},
    {"type": "string", "x-limit": {"most": 2**70}},
    {"$ref": "#/$defs/id", "default": 2**63},
]


@pytest.mark.parametrize("schema", LARGE, ids=lambda schema: json.dumps(schema)[:40])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
def test_provider_schema_has_no_integer_above_the_largest_exact_one(
    form: tuple[str, bool], schema: Any
) -> None:
    """Larger ones move to the description and are reported."""
    root = {**parameter(schema), "$defs": {"id": {"type": "integer"}}}
    rendered = render(form, root)
    assert not has_larger_integer(rendered.schema, MAX_INTEGER)
    keyword = [*schema][-1]
    assert keyword in {loss.keyword for loss in rendered.losses}
    found = rendered.schema["properties"]["a"]
    if not keyword.startswith("x-"):
        text = json.dumps(schema[keyword]).strip("[]")
        assert text in found["description"]
    if "enum" in schema or "const" in schema:
        assert found["type"] == "integer"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
def test_enum_with_the_largest_exact_integer_is_removed_only_for_bedrock(
    form: tuple[str, bool],
) -> None:
    """According to user reports, Bedrock rejects it."""
    rendered = render(form, parameter({"type": "integer", "enum": [MAX_INTEGER, 7]}))
    is_kept = form[0] != "bedrock"
    assert ("enum" in rendered.schema["properties"]["a"]) is is_kept


def test_anthropic_input_examples_with_too_large_integers_are_omitted() -> None:
    schema = parameter({"type": "integer"})
    tool = Tool(
        "do",
        "",
        "Does it.",
        {"name": "do", "inputSchema": schema},
        examples=[{"arguments": {"a": 2**63}}, {"arguments": {"a": 1}}],
    )
    listed = render_tools(provider_named("anthropic"), [tool])
    assert listed.tools[0]["input_examples"] == [{"a": 1}]
    assert [loss.keyword for loss in listed.losses] == ["examples"]


ANNOTATIONS = [
    {"default": "newest"},
    {"examples": ["newest"]},
    {"deprecated": True},
    {"default": "newest", "description": "Order."},
    {"title": "Sort", "deprecated": True, "examples": ["oldest"]},
]
TEXTS = {
    "default": '(default: "newest"',
    "examples": "for example: ",
    "deprecated": "deprecated",
}


@pytest.mark.parametrize("annotations", ANNOTATIONS, ids="-".join)
@pytest.mark.parametrize("reference", ["$ref", "allOf", "nullable", "all"])
@pytest.mark.parametrize("form", [("gemini", False), ("openai-chat", True)])
def test_unsupported_annotations_next_to_a_ref_move_to_the_description(
    form: tuple[str, bool], reference: str, annotations: dict[str, Any]
) -> None:
    target = {"$ref": "#/$defs/Sort"}
    schema = {
        "$ref": {**annotations, **target},
        "allOf": {**annotations, "allOf": [target]},
        "nullable": {**annotations, "anyOf": [target, {"type": "null"}]},
        "all": {"allOf": [target, annotations]},
    }[reference]
    sort = {"type": "string", "enum": ["newest", "oldest"]}
    rendered = render(form, {**parameter(schema), "$defs": {"Sort": sort}})
    found = rendered.schema["properties"]["a"]
    reported = {loss.keyword for loss in rendered.losses}
    for keyword in annotations.keys() & TEXTS.keys():
        assert TEXTS[keyword].strip("(") in found["description"]
        assert keyword in reported
    assert found["description"].startswith(annotations.get("description", "("))


MAPS = [
    {"patternProperties": {"^[A-Z_]+$": TEXT}, "additionalProperties": False},
    {
        "patternProperties": {"^a": TEXT, "^b": {"type": "number"}},
        "additionalProperties": False,
    },
    {"patternProperties": {"^x-": True}, "additionalProperties": False},
    {"patternProperties": {"^a": TEXT}, "additionalProperties": {"type": "number"}},
    {
        "properties": {"id": {"type": "number"}},
        "patternProperties": {"^x": TEXT},
        "additionalProperties": False,
    },
    {"allOf": [{"patternProperties": {"^a": TEXT}, "additionalProperties": False}]},
    {"patternProperties": {"^a": False, "^b": TEXT}, "additionalProperties": False},
]
RENDERED_VALUES: list[Any] = [
    TEXT,
    {"anyOf": [TEXT, {"type": "number"}]},
    True,
    {"anyOf": [TEXT, {"type": "number"}]},
    TEXT,
    TEXT,
    TEXT,
]


@pytest.mark.parametrize("number", range(len(MAPS)))
def test_gemini_pattern_properties_become_additional_properties(number: int) -> None:
    schema = {"type": "object", **MAPS[number]}
    rendered = render(("gemini", False), parameter(schema))
    found = rendered.schema["properties"]["a"]
    assert found["additionalProperties"] == RENDERED_VALUES[number]
    for keyword in ("patternProperties", "additionalProperties"):
        (loss,) = [loss for loss in rendered.losses if loss.keyword == keyword]
        assert (loss.severity, loss.effect) == ("note", "wider")
    assert "patternProperties: " in found["description"]


def test_gemini_pattern_properties_too_long_for_a_description_are_a_warning() -> None:
    patterns = {f"^{'x' * 200}{number}$": TEXT for number in range(3)}
    schema = {
        "type": "object",
        "patternProperties": patterns,
        "additionalProperties": False,
    }
    rendered = render(("gemini", False), parameter(schema))
    assert rendered.schema["properties"]["a"]["additionalProperties"] == TEXT
    assert [(loss.keyword, loss.severity) for loss in rendered.losses] == [
        ("additionalProperties", "warning"),
        ("patternProperties", "warning"),
    ]


OPEN_OBJECTS: list[tuple[Any, str]] = [
    ({"additionalProperties": True}, "additionalProperties"),
    ({"additionalProperties": {}}, "additionalProperties"),
    ({"additionalProperties": {"description": "Any."}}, "additionalProperties"),
    ({"unevaluatedProperties": True}, "unevaluatedProperties"),
    (
        {"additionalProperties": True, "unevaluatedProperties": False},
        "additionalProperties",
    ),
    ({"allOf": [{"additionalProperties": True}]}, "additionalProperties"),
    (
        {
            "if": {"required": ["type"]},
            "then": {"properties": {"size": {"type": "number"}}},
        },
        "then",
    ),
    (
        {
            "dependentSchemas": {"type": {"properties": {"size": {"type": "number"}}}},
            "unevaluatedProperties": False,
        },
        "dependentSchemas",
    ),
]


@pytest.mark.parametrize(("keywords", "keyword"), OPEN_OBJECTS)
@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "bedrock"])
@pytest.mark.parametrize("is_root", [True, False])
def test_tool_with_an_explicitly_open_object_is_not_strict(
    provider: str, keywords: Any, keyword: str, is_root: bool
) -> None:
    schema = {"type": "object", "properties": {"type": {"type": "string"}}, **keywords}
    root = schema if is_root else parameter({"type": "array", "items": schema})
    rendered = render((provider, True), root)
    (loss,) = [loss for loss in rendered.losses if "no strict schema" in loss.message]
    assert (loss.keyword, loss.severity) == (keyword, "warning")
    assert rendered.schema == render((provider, False), root).schema


def test_openai_strict_schema_closes_an_object_open_by_default_with_a_note() -> None:
    rendered = render(
        ("openai-chat", True), {"type": "object", "properties": {"a": TEXT}}
    )
    assert [str(loss) for loss in rendered.losses] == [
        "do /parameters additionalProperties note: undeclared names"
    ]


ALTERNATIVES: list[tuple[list[Any], str, str]] = [
    (
        [
            {"properties": {"k": {"const": "a"}}, "required": ["k"]},
            {"properties": {"k": {"const": "b"}}, "required": ["k"]},
        ],
        "note",
        '(anyOf: [{"properties": {"k": {"const": "a"}}}, {"properties": {"k": {"const": "b"}}}])',
    ),
    (
        [{"required": ["a"]}, {"required": ["b"], "not": {"required": ["a"]}}],
        "note",
        '(anyOf: [{"required": ["a"]}, {"required": ["b"], "not": {"required": ["a"]}}])',
    ),
    ([{"required": ["a"]}, {"required": ["a"]}], "note", ""),
    (
        [
            {"properties": {"k": {"const": "a"}}, "description": "By key."},
            {"properties": {"k": {"const": "b" * 400}}},
        ],
        "warning",
        "",
    ),
    (
        [
            {"properties": {"k": {"const": "a"}}, "description": "By key."},
            {"properties": {"k": {"const": "b"}}},
        ],
        "note",
        '(anyOf: [{"properties": {"k": {"const": "a"}}, "description": "By key."}, {"properties": {"k": {"const": "b"}}}])',
    ),
    (
        [
            {"properties": {"a": TEXT}, "additionalProperties": False},
            {"properties": {"b": TEXT}, "additionalProperties": False},
        ],
        "note",
        '(anyOf: [{"properties": {"a": true}}, {"properties": {"b": true}}])',
    ),
]


@pytest.mark.parametrize(("members", "severity", "text"), ALTERNATIVES)
@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "bedrock"])
def test_root_anyof_that_a_provider_rejects_is_described_and_reported(
    provider: str, members: list[Any], severity: str, text: str
) -> None:
    """A text that is too long is reported as a warning."""
    rendered = render((provider, False), {"type": "object", "anyOf": members})
    (loss,) = rendered.losses
    assert (loss.keyword, loss.severity) == ("anyOf", severity)
    assert rendered.schema.get("description", "") == text
    assert ("the description states" in loss.message) is bool(text)


TUPLES: list[tuple[Any, Any]] = [
    ({"unevaluatedItems": False}, False),
    ({"unevaluatedItems": {"type": "number"}}, {"type": "number"}),
    ({"unevaluatedItems": False, "contains": {"type": "integer"}}, {"type": "integer"}),
    (
        {"unevaluatedItems": {"type": "number"}, "contains": TEXT},
        {"anyOf": [TEXT, {"type": "number"}]},
    ),
    ({"unevaluatedItems": False, "anyOf": [{"prefixItems": [TEXT]}]}, {}),
    ({"items": False}, False),
    ({}, {}),
]


@pytest.mark.parametrize(("keywords", "items"), TUPLES)
def test_openai_prefix_items_tuple_schema_has_items_as_narrow_as_possible(
    keywords: Any, items: Any
) -> None:
    """OpenAI requires `items` in each array."""
    schema = {"type": "array", "prefixItems": [TEXT], **keywords}
    rendered = render(("openai-chat", False), parameter(schema))
    found = rendered.schema["properties"]["a"]
    assert found["items"] == items
    is_opened = items == {} and "unevaluatedItems" in keywords
    assert ("unevaluatedItems: false" in found.get("description", "")) is is_opened
    assert [loss.keyword for loss in rendered.losses] == [
        "unevaluatedItems"
    ] * is_opened


@pytest.mark.parametrize(
    ("schema", "expected_path"),
    [
        ({"type": "array", "prefixItems": [TEXT]}, "/parameters/properties/a items"),
        ({"anyOf": [TEXT, True]}, "/parameters/properties/a/anyOf/1 anyOf"),
        ({"anyOf": [False]}, "/parameters/properties/a/anyOf/0 anyOf"),
    ],
)
def test_report_on_a_schema_that_cannot_be_strict_has_the_path_in_the_spec(
    schema: Any, expected_path: str
) -> None:
    rendered = render(("openai-chat", True), parameter(schema))
    (loss,) = [loss for loss in rendered.losses if "no strict schema" in loss.message]
    assert f"{loss.path} {loss.keyword}" == expected_path
