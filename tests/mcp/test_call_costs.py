"""What one call over HTTP may look at: its own tool, whatever else the toolset has."""

from __future__ import annotations

from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime import Registry


@pytest.mark.parametrize(
    "tool", [*SERVER.registry.list_names_in("mcp"), "no_such_tool"]
)
def test_a_call_does_not_go_through_the_other_tools(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = SERVER.build("internal").get_tool_input_schema
    assert lookup is not None

    def names(*_: Any) -> None:
        raise AssertionError("a call went through all tools")

    for lister in ("tools", "names", "list_tools"):
        monkeypatch.setattr(Registry, lister, names)
    # No schema here asks for a header, so there is none to compare headers with.
    assert lookup(tool) is None
    assert lookup(tool) is None


def test_the_schema_of_a_call_is_given_where_it_asks_for_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = SERVER.registry.get_tool("memory", "internal").parameters
    action = schema["properties"]["action"]
    monkeypatch.setitem(action, "x-mcp-header", "Action")
    asked = SERVER.build("internal").get_tool_input_schema
    assert asked is not None
    assert asked("memory") == schema


def test_a_client_is_not_shown_the_schema_of_a_tool_that_it_may_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = set(SERVER.names("internal"))
    kept = sorted(everything - set(SERVER.names("external")))
    assert kept
    schema = SERVER.registry.get_tool(kept[0], "internal").parameters
    monkeypatch.setitem(schema, "x-mcp-header", "Any")
    for client, given in (("internal", schema), ("external", None)):
        asked = SERVER.build(client).get_tool_input_schema
        assert asked is not None
        assert asked(kept[0]) == given
