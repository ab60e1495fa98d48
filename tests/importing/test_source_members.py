"""MCP tools under other list keys, and members that MCP does not define."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from toolcast.importing.formats import ToolSource
from toolcast.importing.plan import plan_import
from toolcast.importing.source_file import parse_source
from toolcast.mcp_client.server_listing import parse_listing
from toolcast.model.model import Workspace

TOOL = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}


def parse_list(value: Any) -> ToolSource:
    """Parse a JSON value as a file of tools."""
    return parse_source(json.dumps(value).encode(), "list.json")


@pytest.mark.parametrize(
    "value",
    [
        {"functions": [TOOL]},
        {"result": {"functions": [TOOL]}},
        {"tools": {"add": {k: v for k, v in TOOL.items() if k != "name"}}},
        {"functions": {"add": {k: v for k, v in TOOL.items() if k != "name"}}},
        {"toolConfig": {"tools": [TOOL]}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
    ],
)
def test_mcp_tools_are_imported_from_every_known_list_key(value: Any) -> None:
    source = parse_list(value)
    assert source.formats == ("MCP format",)
    tools = [{key: tool[key] for key in TOOL} for tool in source.listing.tools]
    assert tools == [TOOL]


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
def test_clients_member_that_is_not_a_name_list_is_imported_verbatim(
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
