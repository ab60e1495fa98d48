"""Request entries for MCP servers that the provider calls itself."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generated.kirishima.provider_lists import LISTS
from tests.mcp.projects import generate_project
from tests.project_files import write_files
from tests.providers.sdk_types import validate
from toolcast_runtime.core.access import UnknownClientError
from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.providers import ProviderLists
from toolcast_runtime.providers.provider_lists import anthropic_toolset, openai_mcp

SCHEMA = {"type": "object", "properties": {"day": {"const": "today"}}}
URL = "https://tools.example.com/mcp"
SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


def make_tool(name: str, **more: Any) -> Tool:
    definition = {"name": name, "description": "Does it.", "inputSchema": SCHEMA}
    return Tool(name, "", "Does it.", definition, **more)


LIST, DELETE = make_tool("list", always=True), make_tool(
    "delete", confirm=Confirm("Delete?")
)


def test_anthropic_mcp_toolset_enables_and_defers_only_the_clients_tools() -> None:
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


def test_anthropic_mcp_toolset_includes_pinned_tool_definitions_unchanged() -> None:
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
def test_openai_mcp_entry_requires_approval_for_tools_with_confirm(
    tools: list[Tool], approval: Any
) -> None:
    assert openai_mcp("notes", URL, tools, tool_search=False) == [
        {
            "type": "mcp",
            "server_label": "notes",
            "server_url": URL,
            "allowed_tools": [tool.name for tool in tools],
            "require_approval": approval,
        }
    ]


def test_openai_mcp_entry_is_deferred_if_no_tool_must_always_be_listed() -> None:
    deferred, search = openai_mcp("notes", URL, [DELETE], tool_search=True)
    assert deferred["defer_loading"] is True
    assert search == {"type": "tool_search"}
    (upfront,) = openai_mcp("notes", URL, [LIST, DELETE], tool_search=True)
    assert "defer_loading" not in upfront


def test_generated_mcp_server_entries_contain_only_the_clients_tools() -> None:
    (internal,) = LISTS.anthropic_toolset("kirishima", "internal")
    (copilot,) = LISTS.anthropic_toolset("kirishima", "copilot")
    assert internal["configs"].keys() > copilot["configs"].keys()
    # Without pinned definitions, the provider requests them from the server.
    assert "tools" not in internal
    (server,) = LISTS.openai_mcp("kirishima", URL, "copilot")
    assert server["allowed_tools"] == [*copilot["configs"]]
    assert "defer_loading" not in json.dumps([internal, copilot, server])
    with pytest.raises(UnknownClientError):
        LISTS.openai_mcp("kirishima", URL, "nobody")


SPECS = {
    "note.yaml": "name: note\nsummary: Notes.\nparameters: {}\nclients: [staff]\n",
    "toolset.yaml": """
name: office
title: Office
clients:
  staff: {allow: "*"}
  guest: {allow: [m_list]}
  press: {allow: "*"}
mcp_servers:
  mail:
    url: https://mail.example.com/mcp
    lock: mail.json
    prefix: m_
    deny: [wipe]
    clients: [staff, guest]
  open: {url: "https://open.example.com/mcp"}
targets: {registry: {}, providers: {anthropic: {}}}
""",
    "mail.json": {
        "toolcastLock": 1,
        "tools": [
            {"name": "list", "inputSchema": SCHEMA},
            {"name": "send", "description": "Sends.", "inputSchema": SCHEMA},
            {"name": "wipe", "inputSchema": SCHEMA},
        ],
    },
}


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderLists]:
    """Generate a toolset with a locked and an unlocked server; yield its lists."""
    workspace = "version: 1\ntoolsets: [office]\noutput: generated_office\n"
    write_files(tmp_path, {"toolcast.yaml": workspace})
    write_files(tmp_path / "office", SPECS)
    generate_project(tmp_path)
    (tmp_path / "generated").rename(tmp_path / "generated_office")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("generated_office.office.provider_lists").LISTS
    for name in [key for key in sys.modules if key.startswith("generated_office")]:
        del sys.modules[name]


def test_locked_anthropic_toolset_enables_the_clients_tools_with_their_locked_definitions(
    office: ProviderLists,
) -> None:
    (toolset,) = office.locked_anthropic_toolset("mail", "staff")
    assert toolset == {
        "type": "mcp_toolset",
        "mcp_server_name": "mail",
        "default_config": {"enabled": False},
        "configs": {"list": {"enabled": True}, "send": {"enabled": True}},
        "tools": [
            {"name": "list", "input_schema": SCHEMA},
            {"name": "send", "description": "Sends.", "input_schema": SCHEMA},
        ],
    }
    guest, search = office.locked_anthropic_toolset("mail", "guest", tool_search=True)
    assert guest["configs"] == {"list": {"enabled": True, "defer_loading": True}}
    assert (search, len(guest["tools"])) == (SEARCH, 1)
    (press,) = office.locked_anthropic_toolset("mail", "press")
    assert (press["configs"], press["tools"]) == ({}, [])


def test_openai_mcp_entry_for_a_server_with_a_lock_file_always_requires_approval(
    office: ProviderLists,
) -> None:
    (tool,) = office.locked_openai_mcp("mail", URL, "guest")
    assert (tool["allowed_tools"], tool["require_approval"]) == (["list"], "always")


def test_mcp_server_entry_for_a_server_without_a_lock_file_raises_a_lookup_error(
    office: ProviderLists,
) -> None:
    for lists, server, client in (
        (office, "open", "staff"),
        (office, "nobody", "staff"),
        (LISTS, "personal", "internal"),
    ):
        with pytest.raises(LookupError, match="with a lock"):
            lists.locked_anthropic_toolset(server, client)
    with pytest.raises(UnknownClientError):
        office.locked_openai_mcp("mail", URL, "nobody")


@pytest.mark.slow
def test_mcp_server_entries_are_valid_for_the_anthropic_and_openai_sdk_types() -> None:
    for is_enabled in (False, True):
        toolset = LISTS.anthropic_toolset(
            "kirishima", "internal", tool_search=is_enabled, pinned=is_enabled
        )
        validate("anthropic-remote", toolset)
        mcp = LISTS.openai_mcp("kirishima", URL, "internal", tool_search=is_enabled)
        validate("openai-responses", mcp)
    with pytest.raises(ValueError):
        validate("anthropic-remote", [{**toolset[0], "allowed_tools": []}])
