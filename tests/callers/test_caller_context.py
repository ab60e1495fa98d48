"""Call context in handlers: caller, request id and headers, in threads and in the loop."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp.servers import ERAS, MODERN, meta
from tests.runtime.packages import Package, definition
from toolcast_runtime import Caller, Registry, calling_as
from toolcast_runtime.core.access import Client
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp import McpServer

HANDLERS = "tests.callers.handlers"
MIA = Caller("mia", {"tenant": "shop"}, frozenset())


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    tools = [
        definition(name, handler=f"{HANDLERS}:{name}")
        for name in ("in_thread", "in_loop")
    ]
    guarded = definition("guarded", handler=f"{HANDLERS}:guarded", permission="billing")
    clients = {"desk": Client("*", permissions=("billing",))}
    tools_package = Package(tmp_path, *tools, guarded).load()
    return Registry(tools_package, handlers=HANDLERS, clients=clients)


@pytest.mark.parametrize("tool", ["in_thread", "in_loop"])
def test_calling_as_sets_the_caller_in_the_handlers_call_context(
    registry: Registry, tool: str
) -> None:
    with calling_as(MIA):
        result = registry.call_tool_sync(tool, {}, "desk").result
    assert result == {
        "tool": tool,
        "client": "desk",
        "user": "mia",
        "claims": {"tenant": "shop"},
        "headers": {},
        "request_id": None,
        "session": None,
        "is_in_time": True,
    }
    assert registry.call_tool_sync(tool, {}, "desk").result["user"] is None


def test_tool_with_a_permission_is_unknown_to_a_caller_without_it(
    registry: Registry,
) -> None:
    assert "guarded" in registry.names("desk")
    with calling_as(MIA):
        assert registry.names("desk") == ("in_loop", "in_thread")
        refused = registry.call_tool_sync("guarded", {}, "desk")
        assert refused.error == "unknown tool `guarded`"
    with calling_as(Caller("ann", permissions=frozenset({"billing"}))):
        assert registry.call_tool_sync("guarded", {}, "desk").result["user"] == "ann"


def test_callers_permission_does_not_list_a_tool_that_the_client_may_not_use(
    tmp_path: Path,
) -> None:
    """The client is the configured program; the caller is its user."""
    tools = Package(tmp_path, definition("guarded", permission="billing")).load()
    registry = Registry(tools, clients={"desk": Client("*")})
    with calling_as(Caller("ann", permissions=frozenset({"billing"}))):
        assert registry.names("desk") == ()


def test_langchain_tool_passes_the_caller_to_the_handler(registry: Registry) -> None:
    tool = LangChainTools(registry).get("in_loop", "desk")
    with calling_as(MIA):
        assert json.loads(tool.invoke({}))["user"] == "mia"


@pytest.mark.parametrize("tool", ["in_thread", "in_loop"])
@pytest.mark.parametrize("version", ERAS)
def test_mcp_http_request_passes_its_id_and_configured_headers_to_the_handler(
    registry: Registry, tool: str, version: str
) -> None:
    settings = HttpSettings(
        (Endpoint("/mcp/", "desk", "NONE"),), "NONE", "NONE", headers=("X-Tenant",)
    )
    server = McpServer(registry, name="shop", client="desk", http=settings)
    response = asyncio.run(_send_request(server, tool, version))
    result = json.loads(response["result"]["content"][0]["text"])
    assert result["headers"] == {"x-tenant": "north"}
    assert (result["request_id"], result["user"]) == (7, None)


async def _send_request(server: McpServer, tool: str, version: str) -> Any:
    assert server.http is not None
    app = build_http_app(
        server, ListenSettings.from_environment(server.http, "127.0.0.1", {})
    )
    params: dict[str, Any] = {"name": tool, "arguments": {}}
    if version == MODERN:
        params["_meta"] = meta()
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    headers = {
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": tool,
        "accept": "application/json, text/event-stream",
        "x-tenant": "north",
        "x-other": "not configured",
    }
    async with app.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1"
        ) as client:
            response = await client.post("/mcp/", json=body, headers=headers)
    text = response.text
    if text.startswith("event:") or "\ndata:" in text:
        text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
    return json.loads(text)
