"""Each form of a tool list becomes MCP's, with nothing changed on the way."""

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


def read(value: Any, name: str = "list.json") -> ToolSource:
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
            [
                {
                    "type": "function",
                    "function": {
                        "name": "add",
                        "description": "Adds.",
                        "parameters": SCHEMA,
                    },
                }
            ],
        ),
        (
            "OpenAI Chat Completions format",
            {
                "model": "m",
                "messages": [],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "add",
                            "description": "Adds.",
                            "parameters": SCHEMA,
                        },
                    }
                ],
            },
        ),
        (
            "OpenAI Responses format",
            [
                {
                    "type": "function",
                    "name": "add",
                    "description": "Adds.",
                    "parameters": SCHEMA,
                }
            ],
        ),
        (
            "OpenAI Responses format",
            [
                {
                    "type": "namespace",
                    "name": "sums",
                    "tools": [
                        {
                            "type": "function",
                            "name": "add",
                            "description": "Adds.",
                            "parameters": SCHEMA,
                        }
                    ],
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
                    "tools": [
                        {
                            "toolSpec": {
                                "name": "add",
                                "description": "Adds.",
                                "inputSchema": {"json": SCHEMA},
                            }
                        }
                    ]
                }
            },
        ),
        (
            "generic format",
            [{"name": "add", "description": "Adds.", "parameters": SCHEMA}],
        ),
        (
            "generic format",
            {"add": {"description": "Adds.", "parameters": SCHEMA}},
        ),
        (
            "generic format",
            {
                "functions": [
                    {"name": "add", "description": "Adds.", "parameters": SCHEMA}
                ]
            },
        ),
    ],
)
def test_form(form: str, value: Any) -> None:
    source = read(value)
    assert source.formats == (form,)
    assert [encode_exact(one) for one in source.listing.tools] == [encode_exact(TOOL)]
    assert source.notes == ()


def test_a_tool_a_line() -> None:
    lines = json.dumps(TOOL) + "\n\r\n" + json.dumps({**TOOL, "name": "more"}) + "\n"
    source = parse_source(b"\xef\xbb\xbf" + lines.encode(), "list.jsonl")
    assert [tool["name"] for tool in source.listing.tools] == ["add", "more"]
    with pytest.raises(ListingError, match=r"list\.jsonl:2:10: not JSON: `NaN`"):
        parse_source(json.dumps(TOOL).encode() + b'\n{"name": NaN}', "list.jsonl")


@pytest.mark.rows(8)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_lists_of_real_servers(path: Path) -> None:
    """Taken in whole; and by way of each provider's form, but for what that cannot say."""
    source = read_source(str(path))
    value, _ = read_json(path.read_bytes())
    tools = value if isinstance(value, list) else value["tools"]
    assert encode_exact(list(source.listing.tools)) == encode_exact(tools)
    plain = [
        {
            key: tool[key]
            for key in ("name", "description", "inputSchema")
            if key in tool
        }
        for tool in tools
    ]
    for form in (openai_chat, openai_responses, anthropic):
        text = encode_exact([form(tool) for tool in plain])
        other = parse_source(text.encode(), "other")
        assert encode_exact(list(other.listing.tools)) == encode_exact(plain)
        assert list_conflicts([source, other]) == []


def openai_chat(tool: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": renamed(tool, "parameters")}


def openai_responses(tool: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", **renamed(tool, "parameters")}


def anthropic(tool: dict[str, Any]) -> dict[str, Any]:
    return renamed(tool, "input_schema")


def renamed(tool: dict[str, Any], schema: str) -> dict[str, Any]:
    return {schema if key == "inputSchema" else key: tool[key] for key in tool}


def test_numbers_keep_their_spelling() -> None:
    text = b'[{"name": "a", "parameters": {"maximum": 1.50, "minimum": -0, "x": 1E3}}]'
    [tool] = parse_source(text, "list.json").listing.tools
    assert encode_exact(tool["inputSchema"]) == '{"maximum":1.50,"minimum":-0,"x":1E3}'


def test_a_function_without_parameters_takes_none() -> None:
    [tool] = read([{"type": "function", "function": {"name": "now"}}]).listing.tools
    assert tool == {
        "name": "now",
        "inputSchema": {"type": "object", "properties": {}},
    }


def test_what_is_not_taken_is_named() -> None:
    source = read(
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


def test_tools_of_providers_are_each_named() -> None:
    mine = {"name": "f", "parameters": {}}
    source = read(
        [
            {**mine, "type": "function"},
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
    ("value", "told"),
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
def test_lists_of_which_nothing_can_be_taken(value: Any, told: str) -> None:
    with pytest.raises(ListingError, match=re.escape(told)):
        read(value)


@pytest.mark.parametrize(
    ("name", "told"),
    [("a.py", "the file is a program"), ("a.yaml", "the file is YAML")],
)
def test_files_of_another_kind(name: str, told: str) -> None:
    with pytest.raises(ListingError, match=told):
        parse_source(b"tools = []", name)


SAME = [
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ({"properties": {"x": {}, "y": {}}}, {"properties": {"y": {}, "x": {}}}),
    ({"properties": {"x": {"enum": [1, 2]}}}, {"properties": {"x": {"enum": [2, 1]}}}),
    ({"type": "object", "required": []}, {"type": "object"}),
]
OTHER = [
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
    (
        {"additionalProperties": False},
        {},
        "parameters.additionalProperties",
        "schema",
    ),
]


def of(schema: Any, name: str) -> ToolSource:
    return read([{"name": "t", "inputSchema": schema}], name)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_means_the_same_is_no_contradiction(one: Any, other: Any) -> None:
    assert list_conflicts([of(one, "1"), of(other, "2")]) == []


@pytest.mark.parametrize(("one", "other", "place", "kind"), OTHER)
def test_contradiction(one: Any, other: Any, place: str, kind: str) -> None:
    for pair in ((one, other), (other, one)):
        [found] = list_conflicts([of(pair[0], "1"), of(pair[1], "2")])
        assert (found.location, found.kind) == (place, kind)


def test_titles_annotations_and_hostile_texts() -> None:
    one = read([{**TOOL, "title": "A\x1b[31m", "annotations": {"readOnlyHint": True}}])
    other = read([{**TOOL, "title": "B", "annotations": {"readOnlyHint": False}}], "b")
    assert [(d.location, d.kind, d.excerpts) for d in list_conflicts([one, other])] == [
        ("title", "title", (("list.json", "A\\x1b[31m"), ("b", "B"))),
        (
            "annotations.readOnlyHint",
            "annotations",
            (("list.json", "true"), ("b", "false")),
        ),
    ]


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], {}),
        (["x/a.json"], {"": "x/a.json"}),
        (["a.json"], {"": "x/a.json"}),
        (["2", "t=1"], {"": "y/b.json", "t": "x/a.json"}),
        (["1", "1"], {"": "x/a.json"}),
    ],
)
def test_preference(words: list[str], chosen: dict[str, str]) -> None:
    assert parse_preferences(words, [of({}, "x/a.json"), of({}, "y/b.json")]) == chosen


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["c.json"], "unknown source `c.json`\n  help: use one of `x/a.json`"),
        (["t=3"], "unknown source `3`"),
        (["u=1"], "unknown tool `u`"),
        (["1", "2"], "two sources are preferred"),
        (["t=1", "t=2"], "two sources are preferred for `t`"),
    ],
)
def test_wrong_preference(words: list[str], told: str) -> None:
    with pytest.raises(InvalidPreferenceError, match=told):
        parse_preferences(words, [of({}, "x/a.json"), of({}, "y/b.json")])
