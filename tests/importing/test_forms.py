"""Formats of tool lists (MCP and model providers): conversion to MCP, and conflicts."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import pytest

from toolcast.importing.conflicts import (
    InvalidPreferenceError,
    list_conflicts,
    parse_preferences,
)
from toolcast.importing.formats import ToolSource
from toolcast.importing.plan import plan_import
from toolcast.importing.source_file import parse_source, read_source
from toolcast.mcp_client.server_listing import ListingError, parse_listing
from toolcast.model.model import Workspace
from toolcast.parsing.exact_json import encode_exact, read_json

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "mcp").glob("*.json"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["b", "a"],
    "properties": {"b": {"type": "integer", "default": 1}, "a": {}},
}
TOOL = {"name": "add", "description": "Adds.", "inputSchema": SCHEMA}
FUNCTION = {"name": "add", "description": "Adds.", "parameters": SCHEMA}


def parse_list(value: Any, name: str = "list.json") -> ToolSource:
    """Parse a JSON value as a file of tools."""
    return parse_source(json.dumps(value).encode(), name)


NAMELESS_TOOL = {"description": "Adds.", "inputSchema": SCHEMA}
CHAT_TOOL = {"type": "function", "function": FUNCTION}
RESPONSES_TOOL = {"type": "function", **FUNCTION}
NAMESPACE = {"type": "namespace", "name": "sums", "tools": [RESPONSES_TOOL]}
DECLARATION = {"name": "add", "description": "Adds.", "parametersJsonSchema": SCHEMA}
BEDROCK_TOOL = {"toolSpec": {**TOOL, "inputSchema": {"json": SCHEMA}}}


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("MCP", [TOOL]),
        ("MCP", {"tools": [TOOL]}),
        ("MCP", TOOL),
        ("MCP", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}),
        ("MCP", {"functions": [TOOL]}),
        ("MCP", {"result": {"functions": [TOOL]}}),
        ("MCP", {"tools": {"add": NAMELESS_TOOL}}),
        ("MCP", {"functions": {"add": NAMELESS_TOOL}}),
        ("MCP", {"toolConfig": {"tools": [TOOL]}}),
        ("OpenAI Chat Completions", [CHAT_TOOL]),
        (
            "OpenAI Chat Completions",
            {"model": "m", "messages": [], "tools": [CHAT_TOOL]},
        ),
        ("OpenAI Responses", [RESPONSES_TOOL]),
        ("OpenAI Responses", [NAMESPACE]),
        (
            "Anthropic",
            [{"name": "add", "description": "Adds.", "input_schema": SCHEMA}],
        ),
        ("Gemini", [{"functionDeclarations": [DECLARATION]}]),
        ("Bedrock", {"toolConfig": {"tools": [BEDROCK_TOOL]}}),
        ("generic", [FUNCTION]),
        ("generic", {"add": {"description": "Adds.", "parameters": SCHEMA}}),
        ("generic", {"functions": [FUNCTION]}),
    ],
)
def test_list_format_is_detected_and_converted_to_mcp(form: str, value: Any) -> None:
    """Names, descriptions and the order of schema keys stay the same."""
    source = parse_list(value)
    assert source.formats == (f"{form} format",)
    assert [encode_exact(tool) for tool in source.listing.tools] == [encode_exact(TOOL)]
    assert source.notes == ()


def test_import_reads_json_lines_file_as_one_tool_per_line() -> None:
    """Byte order marks and empty lines are ignored; an error has its line and column."""
    lines = json.dumps(TOOL) + "\n\r\n" + json.dumps({**TOOL, "name": "more"}) + "\n"
    source = parse_source(b"\xef\xbb\xbf" + lines.encode(), "list.jsonl")
    assert [tool["name"] for tool in source.listing.tools] == ["add", "more"]
    with pytest.raises(ListingError, match=r"list\.jsonl:2:10: not JSON: `NaN`"):
        parse_source(json.dumps(TOOL).encode() + b'\n{"name": NaN}', "list.jsonl")


@pytest.mark.rows(8)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_real_mcp_tool_lists_survive_conversion_to_provider_formats(path: Path) -> None:
    """Name, description and schema are compared, which every format can express."""
    source = read_source(str(path))
    value, _ = read_json(path.read_bytes())
    tools = value if isinstance(value, list) else value["tools"]
    assert encode_exact(list(source.listing.tools)) == encode_exact(tools)
    keys = ("name", "description", "inputSchema")
    reduced_tools = [{key: tool[key] for key in keys if key in tool} for tool in tools]
    for format_tool in (format_openai_chat, format_openai_responses, format_anthropic):
        text = encode_exact([format_tool(tool) for tool in reduced_tools])
        converted = parse_source(text.encode(), "other")
        converted_text = encode_exact(list(converted.listing.tools))
        assert converted_text == encode_exact(reduced_tools)
        assert list_conflicts([source, converted]) == []


def format_openai_chat(tool: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": rename_schema(tool, "parameters")}


def format_openai_responses(tool: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", **rename_schema(tool, "parameters")}


def format_anthropic(tool: dict[str, Any]) -> dict[str, Any]:
    return rename_schema(tool, "input_schema")


def rename_schema(tool: dict[str, Any], schema: str) -> dict[str, Any]:
    """Return the tool with its input schema under another key."""
    return {schema if key == "inputSchema" else key: tool[key] for key in tool}


def test_numbers_in_imported_schemas_keep_their_notation() -> None:
    text = b'[{"name": "a", "parameters": {"maximum": 1.50, "minimum": -0, "x": 1E3}}]'
    [tool] = parse_source(text, "list.json").listing.tools
    assert encode_exact(tool["inputSchema"]) == '{"maximum":1.50,"minimum":-0,"x":1E3}'


def test_imported_function_without_parameters_has_an_empty_object_schema() -> None:
    source = parse_list([{"type": "function", "function": {"name": "now"}}])
    [tool] = source.listing.tools
    assert tool == {"name": "now", "inputSchema": {"type": "object", "properties": {}}}


def test_import_notes_tool_list_members_that_it_ignores() -> None:
    """Built-in tools are noted, too; examples and `always` become spec fields."""
    source = parse_list(
        [
            {"name": "a", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
            {
                "name": "b",
                "input_schema": {},
                "type": "custom",
                "input_examples": [{"x": 1}],
            },
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "function", "function": {"name": "c", "strict": True}},
            {"name": "d", "parameters": {}, "returns": "text", "depends_on": []},
            {"name": "e", "parameters": {}, "depends_on": ["d\x1b"], "always": True},
        ]
    )
    assert source.notes == (
        "`web_search` (`web_search_20250305`) is skipped: it is a built-in tool"
        " of the provider",
        "`a`: `cache_control` is not imported",
        "`c`: `strict` is not imported",
        "`d`: `returns` is not imported",
        "`e`: `depends_on` is not imported",
    )
    assert source.fields == {
        "b": {"examples": [{"arguments": {"x": 1}}]},
        "e": {"always": True},
    }


def test_import_skips_built_in_provider_tools_with_a_note_each() -> None:
    function = {"name": "f", "parameters": {}}
    source = parse_list(
        [
            {**function, "type": "function"},
            {"type": "web_search"},
            {
                "type": "mcp",
                "server_label": "a\x1b[31m",
                "server_url": "https://a.example",
            },
            {"type": "mcp", "server_label": "b", "server_url": "https://b.example"},
            {"type": "mcp_toolset", "mcp_server_name": "c"},
            {"type": "custom", "name": "d", "format": {"type": "text"}},
            {"functionDeclarations": [], "googleSearch": {}},
            {"cachePoint": {"type": "default"}},
        ]
    )
    assert source.notes == (
        "`web_search` is skipped: it is a built-in tool of the provider",
        r"`a\x1b[31m` (`mcp`) is skipped: it is a built-in tool of the provider",
        "`b` (`mcp`) is skipped: it is a built-in tool of the provider",
        "`c` (`mcp_toolset`) is skipped: it is a built-in tool of the provider",
        "`d` (`custom`) is skipped: it accepts free text instead of parameters",
        "`googleSearch` is skipped: it is a built-in tool of the provider",
        "`cachePoint` is skipped: it is a built-in tool of the provider",
    )


GEMINI_FUNCTION = {"name": "f", "parameters": {"type": "OBJECT"}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"type": "web_search"}], "`web_search` is skipped: it is a built-in tool"),
        (
            [{"functionDeclarations": [GEMINI_FUNCTION]}],
            "`tools[0].functionDeclarations[0].parameters` is a Gemini schema",
        ),
        (
            {"mcpServers": {"a": {"command": "b"}}},
            "`mcpServers` configures servers, but lists no tools",
        ),
    ],
)
def test_list_without_importable_tools_is_an_error(value: Any, message: str) -> None:
    with pytest.raises(ListingError, match=re.escape(message)):
        parse_list(value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.py", "the file is a program"), ("a.yaml", "the file is YAML")],
)
def test_import_rejects_python_and_yaml_files_by_name(name: str, message: str) -> None:
    with pytest.raises(ListingError, match=message):
        parse_source(b"tools = []", name)


EQUAL_SCHEMAS = [
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ({"properties": {"x": {}, "y": {}}}, {"properties": {"y": {}, "x": {}}}),
    ({"properties": {"x": {"enum": [1, 2]}}}, {"properties": {"x": {"enum": [2, 1]}}}),
    ({"type": "object", "required": []}, {"type": "object"}),
]
CONFLICTING_SCHEMAS = [
    ("required", "required", ["a"], None),
    ("properties.required", "parameter", {}, None),
    ("properties.x.enum", "enum", [1], [2]),
    ("properties.x.default", "default", 1, 1.0),
    ("properties.x.default", "default", ["a", "b"], ["b", "a"]),
    ("properties.x.type", "type", "string", ["string", "null"]),
    ("properties.x.items.description", "description", "a", "b"),
    ("additionalProperties", "schema", False, None),
]
"""Location and kind of a conflict, and the two values; None if it is absent."""


def make_source(schema: Any, name: str) -> ToolSource:
    """Return a source with one tool of this input schema."""
    return parse_list([{"name": "t", "inputSchema": schema}], name)


@pytest.mark.parametrize(("first", "second"), EQUAL_SCHEMAS)
def test_schemas_of_different_order_do_not_conflict(first: Any, second: Any) -> None:
    assert list_conflicts([make_source(first, "1"), make_source(second, "2")]) == []


@pytest.mark.parametrize(("path", "kind", "first", "second"), CONFLICTING_SCHEMAS)
def test_schema_difference_between_import_sources_is_a_conflict(
    path: str, kind: str, first: Any, second: Any
) -> None:
    """A conflict has a location and a kind."""
    *parents, last = path.split(".")
    schemas: list[Any] = [{} if v is None else {last: v} for v in (first, second)]
    for key in reversed(parents):
        schemas = [{key: schema} for schema in schemas]
    assert_conflict(*schemas, f"parameters.{path}", kind)


def test_conflict_between_list_items_of_import_sources_has_their_index() -> None:
    first, second = ({"anyOf": [{"title": "a"}, {"title": title}]} for title in "bc")
    assert_conflict(first, second, "parameters.anyOf.1.title", "title")


def assert_conflict(first: Any, second: Any, location: str, kind: str) -> None:
    """Check the only conflict between two schemas, in both orders."""
    for pair in ((first, second), (second, first)):
        sources = [make_source(schema, str(n)) for n, schema in enumerate(pair)]
        [conflict] = list_conflicts(sources)
        assert (conflict.location, conflict.kind) == (location, kind)


def test_spec_field_with_another_value_in_an_import_source_is_a_conflict() -> None:
    """Sources without any spec field for the tool do not conflict."""
    sources = [
        parse_list([{**TOOL, "clients": ["web"]}], "a"),
        parse_list([TOOL], "b"),
        parse_list([{**TOOL, "clients": ["web", "app"]}], "c"),
    ]
    [conflict] = list_conflicts(sources)
    assert (conflict.location, conflict.excerpts) == (
        "clients",
        (("a", "web"), ("c", "web, app")),
    )


def test_values_in_title_and_annotation_import_conflicts_are_escaped() -> None:
    hints = [{"readOnlyHint": True}, {"readOnlyHint": False}]
    first = parse_list([{**TOOL, "title": "A\x1b[31m", "annotations": hints[0]}])
    second = parse_list([{**TOOL, "title": "B", "annotations": hints[1]}], "b")
    title, hint = list_conflicts([first, second])
    assert (title.location, title.kind) == ("title", "title")
    assert title.excerpts == (("list.json", "A\\x1b[31m"), ("b", "B"))
    assert (hint.location, hint.kind) == ("annotations.readOnlyHint", "annotations")
    assert hint.excerpts == (("list.json", "true"), ("b", "false"))


@pytest.mark.parametrize(
    ("arguments", "preferred"),
    [
        ([], {}),
        (["x/a.json"], {"": "x/a.json"}),
        (["a.json"], {"": "x/a.json"}),
        (["2", "t=1"], {"": "y/b.json", "t": "x/a.json"}),
        (["1", "1"], {"": "x/a.json"}),
    ],
)
def test_import_preference_selects_a_source_by_path_name_or_number(
    arguments: list[str], preferred: dict[str, str]
) -> None:
    """It applies to one tool (`t=1`) or to all tools."""
    sources = [make_source({}, name) for name in ("x/a.json", "y/b.json")]
    assert parse_preferences(arguments, sources) == preferred


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c.json"], "unknown source `c.json`\n  help: use one of `x/a.json`"),
        (["t=3"], "unknown source `3`"),
        (["u=1"], "unknown tool `u`"),
        (["1", "2"], "two sources are preferred"),
        (["t=1", "t=2"], "two sources are preferred for `t`"),
    ],
)
def test_invalid_preference_is_an_error(arguments: list[str], message: str) -> None:
    sources = [make_source({}, name) for name in ("x/a.json", "y/b.json")]
    with pytest.raises(InvalidPreferenceError, match=message):
        parse_preferences(arguments, sources)


@pytest.mark.parametrize(
    "value",
    [
        [{**TOOL, "clients": ["a", "b"]}],
        {"functions": [{**TOOL, "clients": ["a", "b"]}]},
        [{**TOOL, "clients": ["a", "b"]}, {"name": "c", "parameters": {}}],
    ],
)
def test_imported_tool_clients_member_becomes_a_spec_field(value: Any) -> None:
    source = parse_list(value)
    assert source.fields["add"] == {"clients": ["a", "b"]}
    assert source.listing.tools[0] == TOOL


@pytest.mark.parametrize("clients", ["a", {"a": 1}, [1], None])
def test_imported_clients_member_without_a_name_array_is_unchanged(
    clients: Any,
) -> None:
    source = parse_list([{**TOOL, "clients": clients}])
    assert source.listing.tools == ({**TOOL, "clients": clients},)
    assert source.fields == {}


@pytest.mark.parametrize("library", ["mcp", "fastmcp"])
def test_mcp_sdk_or_fastmcp_version_is_not_imported_as_server_version(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_version(name: str) -> str:
        if name == library:
            return "2.13.0"
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", get_version)
    for version, imported in (("2.13.0", ""), ("2.13.1", "2.13.1"), (None, "")):
        listing = parse_listing(
            {"tools": [TOOL], "serverInfo": {"name": "a", "version": version}}, "a", ()
        )
        source = ToolSource("a", ("MCP format",), listing)
        assert source.server_version == imported
        plan = plan_import(Workspace(str(tmp_path), (), ()), source, "things")
        toolset = plan.edit.after["specs/things/toolset.yaml"] or b""
        assert (b"\nversion: " in toolset) is bool(imported)
        is_noted = any("`version` is not imported" in note for note in plan.notes)
        assert is_noted is (version == "2.13.0")


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
    (
        {"anyOf": [{"type": "string", "nullable": True}, {"type": "integer"}]},
        {"anyOf": [{"type": ["string", "null"]}, {"type": "integer"}]},
    ),
    (
        {"enum": [{"nullable": True}], "default": {"a": {"nullable": True}}},
        {"enum": [{"nullable": True}], "default": {"a": {"nullable": True}}},
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
