"""What a request says of an MCP server that the provider calls by itself."""

from __future__ import annotations

from typing import Any

import pytest

from generated.kirishima.provider_lists import LISTS
from tests.providers.sdk_types import validate
from toolcast_runtime.access.clients import UnknownClientError
from toolcast_runtime.providers.remote_servers import anthropic_toolset, openai_mcp
from toolcast_runtime.tools.tool import Confirm, Tool

SCHEMA = {"type": "object", "properties": {"day": {"const": "today"}}}
URL = "https://tools.example.com/mcp"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


def tool(name: str, **more: Any) -> Tool:
    return Tool(name, "", "Does it.", {"name": name, "inputSchema": SCHEMA}, **more)


LIST, DELETE = tool("list", always=True), tool("delete", confirm=Confirm("Delete?"))


def test_anthropic_enables_the_clients_tools_alone_and_defers_the_routed() -> None:
    tools = anthropic_toolset("notes", [LIST, DELETE], tool_search=True, pinned=False)
    toolset = {
        "type": "mcp_toolset",
        "mcp_server_name": "notes",
        "default_config": {"enabled": False},
        "configs": {
            "list": {"enabled": True},
            "delete": {"enabled": True, "defer_loading": True},
        },
    }
    assert tools == [toolset, SEARCH]


def test_pinned_definitions_are_verbatim() -> None:
    (toolset,) = anthropic_toolset("notes", [LIST], tool_search=True, pinned=True)
    assert toolset["tools"] == [
        {"name": "list", "description": "Does it.", "input_schema": SCHEMA}
    ]


@pytest.mark.parametrize(
    ("tools", "approval"),
    [
        ([LIST], "never"),
        ([DELETE], "always"),
        (
            [LIST, DELETE],
            {"always": {"tool_names": ["delete"]}, "never": {"tool_names": ["list"]}},
        ),
    ],
)
def test_openai_asks_for_tools_with_confirm(tools: list[Tool], approval: Any) -> None:
    assert openai_mcp("notes", URL, tools, tool_search=False) == [
        {
            "type": "mcp",
            "server_label": "notes",
            "server_url": URL,
            "allowed_tools": [tool.name for tool in tools],
            "require_approval": approval,
        }
    ]


def test_openai_defers_a_server_without_tools_that_are_always_offered() -> None:
    deferred, search = openai_mcp("notes", URL, [DELETE], tool_search=True)
    assert deferred["defer_loading"] is True
    assert search == {"type": "tool_search"}
    (upfront,) = openai_mcp("notes", URL, [LIST, DELETE], tool_search=True)
    assert "defer_loading" not in upfront


def test_a_generated_toolset_offers_what_its_client_may_have() -> None:
    (mine,) = LISTS.anthropic_toolset("kirishima", "internal")
    (theirs,) = LISTS.anthropic_toolset("kirishima", "copilot")
    assert mine["configs"].keys() > theirs["configs"].keys()
    (server,) = LISTS.openai_mcp("kirishima", URL, "copilot")
    assert server["allowed_tools"] == [*theirs["configs"]]
    with pytest.raises(UnknownClientError):
        LISTS.openai_mcp("kirishima", URL, "nobody")


@pytest.mark.slow
def test_the_providers_own_types_take_them() -> None:
    for wanted in (False, True):
        toolset = LISTS.anthropic_toolset(
            "kirishima", "internal", tool_search=wanted, pinned=wanted
        )
        validate("anthropic-remote", toolset)
        mcp = LISTS.openai_mcp("kirishima", URL, "internal", tool_search=wanted)
        validate("openai-responses", mcp)
    with pytest.raises(ValueError):
        validate("anthropic-remote", [{**toolset[0], "allowed_tools": []}])
