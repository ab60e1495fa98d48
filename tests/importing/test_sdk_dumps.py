"""Dumps of the official Python SDK's models, read as the original lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types
import pytest

from tests.program import toolcast
from toolcast.importing.formats import ANTHROPIC, MCP
from toolcast.importing.source_file import parse_lenient_source, parse_source

SCHEMA = {"type": "object", "properties": {"input_schema": {"default": None}}}
PROTOCOL_TOOLS: list[dict[str, Any]] = [
    {"name": "a", "inputSchema": SCHEMA, "title": "A"},
    {"name": "b", "inputSchema": SCHEMA, "outputSchema": {"properties": {"x": SCHEMA}}},
    {"name": "c", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "d", "inputSchema": SCHEMA, "_meta": {"mime_type": {"meta": None}}},
    {"name": "e", "inputSchema": SCHEMA, "execution": {"taskSupport": "optional"}},
    {
        "name": "f",
        "description": "Does it.",
        "inputSchema": SCHEMA,
        "icons": [{"src": "https://example.org/i.png", "mimeType": "image/png"}],
        "annotations": {"title": "F", "destructiveHint": False, "openWorldHint": True},
    },
    {"name": "g", "inputSchema": SCHEMA},
]
PROMPT = {"name": "p", "arguments": [{"name": "a", "required": True}]}
TEMPLATE = {"name": "t", "uriTemplate": "x://{a}", "mimeType": "text/plain"}


def dump_models(**options: Any) -> dict[str, Any]:
    """Return the JSON of the SDK's models with these options."""
    tools = [mcp_types.Tool.model_validate(tool) for tool in PROTOCOL_TOOLS]
    prompt = mcp_types.Prompt.model_validate(PROMPT)
    template = mcp_types.ResourceTemplate.model_validate(TEMPLATE)
    is_alias = options.get("by_alias", False)
    return {
        "tools": [tool.model_dump(**options) for tool in tools],
        "prompts": [prompt.model_dump(**options)],
        "resourceTemplates" if is_alias else "resource_templates": [
            template.model_dump(**options)
        ],
    }


def dump_like_version_1() -> dict[str, Any]:
    """Return a dump with the field names of the SDK 1.x: MCP's, and `meta`."""
    body = dump_models(by_alias=True)
    for tool in body["tools"]:
        tool["meta"] = tool.pop("_meta")
    return body


@pytest.mark.parametrize(
    "body",
    [
        dump_models(),
        dump_models(exclude_none=True),
        dump_models(mode="json"),
        {"jsonrpc": "2.0", "id": 1, "result": dump_models()},
        dump_like_version_1(),
    ],
    ids=["all", "without nulls", "JSON", "response", "version 1"],
)
def test_sdk_model_dump_is_imported_as_the_original_list(body: dict[str, Any]) -> None:
    source = parse_source(json.dumps(body).encode(), "list.json")
    assert source.formats == (MCP,)
    assert [*source.listing.tools] == PROTOCOL_TOOLS
    assert source.listing.prompts == (PROMPT,)
    assert source.listing.resource_templates == (TEMPLATE,)


def test_anthropic_tool_lists_are_not_read_as_mcp_sdk_dumps() -> None:
    tools = [{"name": "a", "input_schema": SCHEMA, "description": "Does it."}]
    source = parse_source(json.dumps(tools).encode(), "list.json")
    assert source.formats == (ANTHROPIC,)


@pytest.mark.parametrize(
    "tool", PROTOCOL_TOOLS[:-1], ids=lambda tool: str(tool["name"])
)
def test_sdk_tool_dump_has_no_ignored_members_and_no_diff_to_the_wire_form(
    tool: dict[str, Any], tmp_path: Path
) -> None:
    dumped = mcp_types.Tool.model_validate(tool).model_dump()
    for name, value in (("dump.json", dumped), ("wire.json", tool)):
        (tmp_path / name).write_text(json.dumps([value]), "utf-8")
    result = toolcast(tmp_path, "import", "dump.json", "--toolset", "probe")
    assert result.returncode == 0, result.stderr
    assert "not imported" not in result.stdout + result.stderr
    result = toolcast(tmp_path, "diff", "dump.json", "wire.json")
    assert result.stdout.startswith("no change"), result.stdout


ANTHROPIC_TOOL: dict[str, Any] = {"name": "a", "input_schema": {"type": "object"}}
CHAT: dict[str, Any] = {"name": "a", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    ("tool", "members"),
    [
        (ANTHROPIC_TOOL, {"cache_control": {"type": "ephemeral"}}),
        (ANTHROPIC_TOOL, {"defer_loading": True}),
        (ANTHROPIC_TOOL, {"strict": False}),
        (ANTHROPIC_TOOL, {"input_examples": [{"x": 1}]}),
        (CHAT, {"guidance": "Call it first."}),
        (CHAT, {"depends_on": ["b"]}),
        (CHAT, {"always": True}),
        ({**CHAT, "type": "function"}, {"strict": True}),
    ],
)
def test_toolcast_diff_compares_tool_members_that_import_ignores(
    tool: dict[str, Any], members: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "old.json").write_text(json.dumps([tool]), "utf-8")
    (tmp_path / "new.json").write_text(json.dumps([{**tool, **members}]), "utf-8")
    result = toolcast(tmp_path, "diff", "old.json", "new.json", "--format", "json")
    changes = json.loads(result.stdout)["changes"]
    name = "examples" if "input_examples" in members else next(iter(members))
    assert any(name in change["message"] for change in changes), result.stdout


def test_lenient_parsing_returns_every_chat_completions_tool_member() -> None:
    body = [{"type": "function", "function": {**CHAT, "strict": True}, "x": 1}]
    [tool] = parse_lenient_source(json.dumps(body).encode(), "list.json").listing.tools
    assert tool["strict"] is True
    assert tool["x"] == 1
