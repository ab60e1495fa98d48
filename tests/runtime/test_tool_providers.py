"""Remote tools come after the local ones, under the same access."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import (
    CallContext,
    Registry,
    ToolError,
    ToolResponse,
    UnknownClientError,
    UnknownToolError,
    current_call,
)
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.definitions.tool import Tool, ToolFilter


def tool(name: str, *, timeout: float = 60.0, always: bool = False) -> Tool:
    definition = {"name": name, "inputSchema": {"type": "object"}}
    return Tool(
        name, f"The tool {name}.", "", definition, timeout=timeout, always=always
    )


class Shelf:
    """A provider that remembers what it was asked."""

    def __init__(self, *tools: Tool) -> None:
        self.shelf = {tool.name: tool for tool in tools}
        self.asked: list[str] = []
        self.calls: list[tuple[str, Mapping[str, Any], str | None]] = []
        self.reserved: set[str] = set()
        self.closed = False

    has_always_tools = True

    def reserve_names(self, names: Collection[str]) -> None:
        self.reserved.update(names)

    def can_provide(self, name: str) -> bool:
        return name in self.shelf

    def is_available_to(self, name: str, client: str | None) -> bool:
        return name != "secret" or client == "internal"

    async def list_tools(self, wanted: ToolFilter) -> list[Tool]:
        return list(self.shelf.values())

    async def find_tool(self, name: str) -> Tool | None:
        self.asked.append(name)
        return self.shelf.get(name)

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        assert current_call() is context
        self.calls.append((tool.name, arguments, context.client))
        if tool.name == "slow":
            await asyncio.sleep(60)
        if tool.name == "broken":
            raise ConnectionError("password=hunter2")
        if tool.name == "strict":
            raise ToolError("not today")
        return ToolResponse({"from": tool.name})

    async def close(self) -> None:
        self.closed = True


CLIENTS = {
    "internal": Client(allow="*"),
    "external": Client(allow=("memory", "calendar"), deny=("email",)),
}
REQUEST = {"type": "object", "required": ["user_request"]}
LOCAL = (
    definition("memory", order=1, clients=["internal", "external"], always=True),
    definition(
        "smarthome",
        order=2,
        clients=["internal"],
        mcp={"name": "smarthome", "inputSchema": REQUEST},
        renamed_from=["house"],
    ),
)


Make = Callable[..., Registry]


@pytest.fixture
def registry(tmp_path: Path) -> Make:
    tools = Package(tmp_path, *LOCAL).load()
    return lambda *shelves: Registry(tools, clients=CLIENTS, providers=shelves)


def names(tools: Any) -> list[str]:
    return [tool["name"] for tool in tools]


def test_lists_have_local_tools_first_then_each_provider_s(registry: Make) -> None:
    both = registry(Shelf(tool("calendar"), tool("email")), Shelf(tool("email")))
    listed = both.get_mcp_tools_sync("internal")
    assert names(listed) == ["memory", "smarthome", "calendar", "email"]
    assert names(both.get_mcp_tools_sync("external")) == ["memory", "calendar"]


def test_a_local_name_wins_a_clash_also_for_those_who_may_not_have_it(
    registry: Make,
) -> None:
    shelf = Shelf(tool("smarthome"), tool("calendar"))
    platform = registry(shelf)
    assert names(platform.get_mcp_tools_sync("internal")).count("smarthome") == 1
    response = platform.call_tool_sync("smarthome", {}, "internal")
    assert "`user_request` is required" in (response.error or "")
    refused = platform.call_tool_sync("smarthome", {}, "external")
    assert refused.error == "unknown tool `smarthome`"
    assert not shelf.asked and not shelf.calls


def test_a_provider_is_called_with_what_the_caller_sent(registry: Make) -> None:
    shelf = Shelf(tool("calendar"))
    arguments = {"b": None, "a": [1, {"c": 1.0}]}
    response = registry(shelf).call_tool_sync("calendar", arguments, "external")
    assert response.result == {"from": "calendar"}
    assert shelf.calls == [("calendar", arguments, "external")]


def test_a_tool_that_the_client_may_not_have_is_not_even_looked_for(
    registry: Make,
) -> None:
    shelf = Shelf(tool("email"))
    platform = registry(shelf)
    response = platform.call_tool_sync("email", {}, "external")
    assert response.error == "unknown tool `email`"
    with pytest.raises(UnknownToolError):
        platform.get_openai_tools_by_names_sync(["email"], "external")
    for client in ("nobody", None):
        assert "client" in (platform.call_tool_sync("email", {}, client).error or "")
        with pytest.raises(UnknownClientError):
            platform.get_openai_tools_sync(client)
    assert shelf.asked == []


def test_remote_tools_are_always_or_routed_as_they_say(registry: Make) -> None:
    platform = registry(Shelf(tool("calendar"), tool("clock", always=True)))
    always = platform.get_always_tools_sync("internal")
    assert [t["function"]["name"] for t in always] == ["memory", "clock"]
    catalog = platform.get_routed_tools_catalog_sync("internal")
    assert list(catalog) == ["smarthome", "calendar"]


def test_failures_of_a_provider_are_answers_without_its_secrets(registry: Make) -> None:
    platform = registry(
        Shelf(tool("slow", timeout=0.05), tool("broken"), tool("strict"))
    )
    slow = platform.call_tool_sync("slow", {}, "internal")
    assert slow.error == "the tool did not answer within 0.05 s"
    broken = platform.call_tool_sync("broken", {}, "internal").error or ""
    assert "incident" in broken and "hunter2" not in broken
    assert platform.call_tool_sync("strict", {}, "internal").error == "not today"


async def test_a_registry_closes_its_providers(registry: Make) -> None:
    shelf = Shelf()
    await registry(shelf).close()
    assert shelf.closed


async def test_sync_wrappers_answer_also_where_a_loop_runs(registry: Make) -> None:
    shelf = Shelf(tool("calendar"))
    response = registry(shelf).call_tool_sync("calendar", {}, "internal")
    assert response.success


def test_a_provider_learns_which_names_are_taken(registry: Make) -> None:
    shelf = Shelf()
    registry(shelf)
    assert shelf.reserved == {"memory", "smarthome", "house"}


def test_a_provider_learns_which_names_are_reserved(tmp_path: Path) -> None:
    shelf = Shelf()
    tools = Package(tmp_path, *LOCAL).load()
    Registry(tools, providers=(shelf,), reserved_names=("gone",))
    assert "gone" in shelf.reserved
