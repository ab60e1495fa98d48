"""Schema lookup before a call over HTTP: which tools it reads and for which clients."""

from __future__ import annotations

from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime import Registry


@pytest.mark.parametrize(
    "tool", [*SERVER.registry.list_names_in("mcp"), "no_such_tool"]
)
def test_tool_schema_lookup_before_an_mcp_call_does_not_list_all_tools(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work for a call must not grow with the number of tools."""
    lookup = SERVER.build("internal").get_tool_input_schema
    assert lookup is not None

    def fail(*_: Any) -> None:
        raise AssertionError("the lookup listed all tools")

    for method in ("tools", "names", "list_tools"):
        monkeypatch.setattr(Registry, method, fail)
    # No schema of this toolset has `x-mcp-header`, so no headers need to be compared.
    assert lookup(tool) is None
    assert lookup(tool) is None


def test_tool_schema_lookup_before_an_mcp_call_returns_a_schema_with_x_mcp_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lookup of a tool's schema returns None unless a header must be compared."""
    schema = SERVER.registry.get_tool("memory", "internal").parameters
    action = schema["properties"]["action"]
    monkeypatch.setitem(action, "x-mcp-header", "Action")
    lookup = SERVER.build("internal").get_tool_input_schema
    assert lookup is not None
    assert lookup("memory") == schema


def test_tool_schema_lookup_before_an_mcp_call_returns_none_for_tools_denied_to_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = set(SERVER.names("internal"))
    denied = sorted(names - set(SERVER.names("external")))
    assert denied
    schema = SERVER.registry.get_tool(denied[0], "internal").parameters
    monkeypatch.setitem(schema, "x-mcp-header", "Any")
    for client, expected in (("internal", schema), ("external", None)):
        lookup = SERVER.build(client).get_tool_input_schema
        assert lookup is not None
        assert lookup(denied[0]) == expected
