"""Remote tools of providers: order, access, calls, errors and reserved names."""

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


def make_tool(name: str, *, timeout: float = 60.0, always: bool = False) -> Tool:
    definition = {"name": name, "inputSchema": {"type": "object"}}
    return Tool(name, f"A {name}.", "", definition, timeout=timeout, always=always)


class RecordingProvider:
    """Provider of tools that records lookups, calls and reserved names."""

    def __init__(self, *tools: Tool) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.lookups: list[str] = []
        self.calls: list[tuple[str, Mapping[str, Any], str | None]] = []
        self.reserved: set[str] = set()
        self.closed = False

    has_always_tools = True

    def reserve_names(self, names: Collection[str]) -> None:
        self.reserved.update(names)

    def can_provide(self, name: str) -> bool:
        return name in self.tools

    def is_available_to(self, name: str, client: str | None) -> bool:
        return name != "secret" or client == "internal"

    async def list_tools(self, wanted: ToolFilter) -> list[Tool]:
        return list(self.tools.values())

    async def find_tool(self, name: str) -> Tool | None:
        self.lookups.append(name)
        return self.tools.get(name)

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
def make_registry(tmp_path: Path) -> Make:
    tools = Package(tmp_path, *LOCAL).load()
    return lambda *providers: Registry(tools, clients=CLIENTS, providers=providers)


def get_names(tools: Any) -> list[str]:
    return [tool["name"] for tool in tools]


def test_registry_lists_local_tools_before_remote_tools(make_registry: Make) -> None:
    """Names of a previous provider are not listed again; denied tools are omitted."""
    first = RecordingProvider(make_tool("calendar"), make_tool("email"))
    registry = make_registry(first, RecordingProvider(make_tool("email")))
    names = get_names(registry.get_mcp_tools_sync("internal"))
    assert names == ["memory", "smarthome", "calendar", "email"]
    assert get_names(registry.get_mcp_tools_sync("external")) == ["memory", "calendar"]


def test_local_tool_hides_equally_named_remote_tool(make_registry: Make) -> None:
    """Clients without access to the local tool do not reach the remote tool either."""
    provider = RecordingProvider(make_tool("smarthome"), make_tool("calendar"))
    registry = make_registry(provider)
    names = get_names(registry.get_mcp_tools_sync("internal"))
    assert names.count("smarthome") == 1
    response = registry.call_tool_sync("smarthome", {}, "internal")
    assert "`user_request` is required" in (response.error or "")
    response = registry.call_tool_sync("smarthome", {}, "external")
    assert response.error == "unknown tool `smarthome`"
    assert not provider.lookups and not provider.calls


def test_provider_receives_unchanged_arguments_and_client(make_registry: Make) -> None:
    provider = RecordingProvider(make_tool("calendar"))
    arguments = {"b": None, "a": [1, {"c": 1.0}]}
    response = make_registry(provider).call_tool_sync("calendar", arguments, "external")
    assert response.result == {"from": "calendar"}
    assert provider.calls == [("calendar", arguments, "external")]


def test_denied_remote_tool_is_not_looked_up(make_registry: Make) -> None:
    """Denied tools are unknown tools, and unknown clients raise, without a provider lookup."""
    provider = RecordingProvider(make_tool("email"))
    registry = make_registry(provider)
    response = registry.call_tool_sync("email", {}, "external")
    assert response.error == "unknown tool `email`"
    with pytest.raises(UnknownToolError):
        registry.get_openai_tools_by_names_sync(["email"], "external")
    for client in ("unknown", None):
        assert "client" in (registry.call_tool_sync("email", {}, client).error or "")
        with pytest.raises(UnknownClientError):
            registry.get_openai_tools_sync(client)
    assert provider.lookups == []


def test_remote_tool_is_in_the_router_catalog_or_if_it_is_always_in_the_always_tools(
    make_registry: Make,
) -> None:
    tools = (make_tool("calendar"), make_tool("clock", always=True))
    registry = make_registry(RecordingProvider(*tools))
    always = registry.get_always_tools_sync("internal")
    assert [t["function"]["name"] for t in always] == ["memory", "clock"]
    catalog = registry.get_routed_tools_catalog_sync("internal")
    assert list(catalog) == ["smarthome", "calendar"]


def test_failed_remote_call_is_error_without_exception(make_registry: Make) -> None:
    """Timeouts and `ToolError` have their own texts; other exceptions an incident."""
    slow_tool = make_tool("slow", timeout=0.05)
    provider = RecordingProvider(slow_tool, make_tool("broken"), make_tool("strict"))
    registry = make_registry(provider)
    slow = registry.call_tool_sync("slow", {}, "internal")
    assert slow.error == "the tool did not answer within 0.05 s"
    broken = registry.call_tool_sync("broken", {}, "internal").error or ""
    assert "incident" in broken and "hunter2" not in broken
    assert registry.call_tool_sync("strict", {}, "internal").error == "not today"


async def test_registry_close_closes_its_providers(make_registry: Make) -> None:
    provider = RecordingProvider()
    await make_registry(provider).close()
    assert provider.closed


async def test_call_tool_sync_works_in_running_event_loop(make_registry: Make) -> None:
    provider = RecordingProvider(make_tool("calendar"))
    response = make_registry(provider).call_tool_sync("calendar", {}, "internal")
    assert response.success


def test_remote_tool_provider_receives_local_previous_and_reserved_names_as_reserved(
    tmp_path: Path,
) -> None:
    """Remote tools cannot have these names."""
    provider = RecordingProvider()
    tools = Package(tmp_path, *LOCAL).load()
    Registry(tools, providers=(provider,), reserved_names=("gone",))
    assert provider.reserved == {"memory", "smarthome", "house", "gone"}
