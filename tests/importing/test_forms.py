"""Formats of tool lists (MCP and model providers): conversion to MCP, and conflicts."""

from __future__ import annotations

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
from toolcast.importing.source_file import parse_source, read_source
from toolcast.mcp_client.server_listing import ListingError
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


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("MCP format", [TOOL]),
        ("MCP format", {"tools": [TOOL]}),
        ("MCP format", TOOL),
        ("MCP format", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}),
        (
            "OpenAI Chat Completions format",
            [{"type": "function", "function": FUNCTION}],
        ),
        (
            "OpenAI Chat Completions format",
            {
                "model": "m",
                "messages": [],
                "tools": [{"type": "function", "function": FUNCTION}],
            },
        ),
        ("OpenAI Responses format", [{"type": "function", **FUNCTION}]),
        (
            "OpenAI Responses format",
            [
                {
                    "type": "namespace",
                    "name": "sums",
                    "tools": [{"type": "function", **FUNCTION}],
                }
            ],
        ),
        (
            "Anthropic format",
            [{"name": "add", "description": "Adds.", "input_schema": SCHEMA}],
        ),
        (
            "Gemini format",
            [
                {
                    "functionDeclarations": [
                        {
                            "name": "add",
                            "description": "Adds.",
                            "parametersJsonSchema": SCHEMA,
                        }
                    ]
                }
            ],
        ),
        (
            "Bedrock format",
            {
                "toolConfig": {
                    "tools": [{"toolSpec": {**TOOL, "inputSchema": {"json": SCHEMA}}}]
                }
            },
        ),
        ("generic format", [FUNCTION]),
        ("generic format", {"add": {"description": "Adds.", "parameters": SCHEMA}}),
        ("generic format", {"functions": [FUNCTION]}),
    ],
)
def test_tool_list_format_is_recognized_and_converted_to_mcp(
    form: str, value: Any
) -> None:
    """Names, descriptions and the order of schema keys stay the same."""
    source = parse_list(value)
    assert source.formats == (form,)
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
    reduced_tools = [
        {
            key: tool[key]
            for key in ("name", "description", "inputSchema")
            if key in tool
        }
        for tool in tools
    ]
    for format_tool in (format_openai_chat, format_openai_responses, format_anthropic):
        text = encode_exact([format_tool(tool) for tool in reduced_tools])
        converted = parse_source(text.encode(), "other")
        assert encode_exact(list(converted.listing.tools)) == encode_exact(
            reduced_tools
        )
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
    [tool] = parse_list(
        [{"type": "function", "function": {"name": "now"}}]
    ).listing.tools
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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"type": "web_search"}], "`web_search` is skipped: it is a built-in tool"),
        (
            [
                {
                    "functionDeclarations": [
                        {"name": "f", "parameters": {"type": "OBJECT"}}
                    ]
                }
            ],
            "`tools[0].functionDeclarations[0].parameters` is a Gemini schema",
        ),
        (
            {"mcpServers": {"a": {"command": "b"}}},
            "`mcpServers` configures servers, but lists no tools",
        ),
    ],
)
def test_importing_a_list_without_importable_tools_is_an_error(
    value: Any, message: str
) -> None:
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
    ({"required": ["a"]}, {}, "parameters.required", "required"),
    (
        {"properties": {"required": {}}},
        {},
        "parameters.properties.required",
        "parameter",
    ),
    (
        {"properties": {"x": {"default": 1}}},
        {"properties": {"x": {"default": 1.0}}},
        "parameters.properties.x.default",
        "default",
    ),
    (
        {"properties": {"x": {"default": ["a", "b"]}}},
        {"properties": {"x": {"default": ["b", "a"]}}},
        "parameters.properties.x.default",
        "default",
    ),
    (
        {"properties": {"x": {"type": "string"}}},
        {"properties": {"x": {"type": ["string", "null"]}}},
        "parameters.properties.x.type",
        "type",
    ),
    (
        {"properties": {"x": {"items": {"description": "a"}}}},
        {"properties": {"x": {"items": {"description": "b"}}}},
        "parameters.properties.x.items.description",
        "description",
    ),
    (
        {"anyOf": [{"title": "a"}, {"title": "c"}]},
        {"anyOf": [{"title": "a"}, {"title": "b"}]},
        "parameters.anyOf.1.title",
        "title",
    ),
    ({"additionalProperties": False}, {}, "parameters.additionalProperties", "schema"),
]
"""Two schemas, and the location and kind of their conflict."""


def make_source(schema: Any, name: str) -> ToolSource:
    """Return a source with one tool of this input schema."""
    return parse_list([{"name": "t", "inputSchema": schema}], name)


@pytest.mark.parametrize(("first", "second"), EQUAL_SCHEMAS)
def test_import_sources_whose_schemas_differ_only_in_order_do_not_conflict(
    first: Any, second: Any
) -> None:
    assert list_conflicts([make_source(first, "1"), make_source(second, "2")]) == []


@pytest.mark.parametrize(("first", "second", "location", "kind"), CONFLICTING_SCHEMAS)
def test_schema_difference_between_import_sources_is_a_conflict(
    first: Any, second: Any, location: str, kind: str
) -> None:
    """A conflict has a location and a kind."""
    for pair in ((first, second), (second, first)):
        [conflict] = list_conflicts(
            [make_source(pair[0], "1"), make_source(pair[1], "2")]
        )
        assert (conflict.location, conflict.kind) == (location, kind)


def test_values_in_title_and_annotation_import_conflicts_are_escaped() -> None:
    first = parse_list(
        [{**TOOL, "title": "A\x1b[31m", "annotations": {"readOnlyHint": True}}]
    )
    second = parse_list(
        [{**TOOL, "title": "B", "annotations": {"readOnlyHint": False}}], "b"
    )
    assert [
        (conflict.location, conflict.kind, conflict.excerpts)
        for conflict in list_conflicts([first, second])
    ] == [
        ("title", "title", (("list.json", "A\\x1b[31m"), ("b", "B"))),
        (
            "annotations.readOnlyHint",
            "annotations",
            (("list.json", "true"), ("b", "false")),
        ),
    ]


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
    assert (
        parse_preferences(
            arguments, [make_source({}, "x/a.json"), make_source({}, "y/b.json")]
        )
        == preferred
    )


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
def test_invalid_preference_between_import_sources_is_an_error(
    arguments: list[str], message: str
) -> None:
    with pytest.raises(InvalidPreferenceError, match=message):
        parse_preferences(
            arguments, [make_source({}, "x/a.json"), make_source({}, "y/b.json")]
        )
