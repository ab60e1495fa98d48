"""Schema lookup before a call over HTTP: which tools it reads and for which clients."""

from __future__ import annotations

from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime import Registry


def look_up_schema(tool: str, client: str) -> Any:
    """Return the schema that the server of a client finds before a call of the tool."""
    lookup = SERVER.build(client).get_tool_input_schema
    assert lookup is not None
    return lookup(tool)


@pytest.mark.parametrize("tool", ["memory", "no_such_tool"])
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


def test_tool_schema_lookup_before_an_mcp_call_returns_allowed_schemas_with_x_mcp_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The header may be in a property; a tool that is denied to the client has no schema."""
    schema = SERVER.registry.get_tool("memory", "internal").parameters
    monkeypatch.setitem(schema["properties"]["action"], "x-mcp-header", "Action")
    assert look_up_schema("memory", "internal") == schema
    denied = min(set(SERVER.names("internal")) - set(SERVER.names("external")))
    schema = SERVER.registry.get_tool(denied, "internal").parameters
    monkeypatch.setitem(schema, "x-mcp-header", "Any")
    assert look_up_schema(denied, "internal") == schema
    assert look_up_schema(denied, "external") is None
