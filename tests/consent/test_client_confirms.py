"""Confirmation by clients with `client_confirms`, which prompt the user themselves."""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

import httpx
import pytest

from tests.consent.shop_clients import Shop
from tests.mcp.servers import LEGACY
from toolcast_runtime import Registry
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings

TOKEN = "t" * 32


def call_tool(client: str, tool: str, token: str | None, **arguments: Any) -> str:
    """Return the text that a handshake client receives over HTTP with this token."""
    server = importlib.import_module("generated.shop.mcp_server").SERVER
    environment = {} if token is None else {"SHOP_TOKEN_PHONE": token}
    listening = ListenSettings.from_environment(server.http, "127.0.0.1", environment)
    app = build_http_app(server, listening)
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LEGACY,
        **({} if token is None else {"Authorization": f"Bearer {token}"}),
    }
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    async def answer() -> str:
        transport = httpx.ASGITransport(app)
        async with (
            app.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
        ):
            path = f"/mcp/{client}/"
            return (await http.post(path, json=message, headers=headers)).text

    text = asyncio.run(answer())
    (line,) = [x[5:] for x in text.splitlines() if x.startswith("data:") and "{" in x]
    return str(json.loads(line)["result"]["content"][0]["text"])


def test_client_call_with_client_confirms_runs_and_is_recorded(
    registry: Registry, shop: Shop
) -> None:
    """Such a client asks the user itself; it calls over HTTP with its token."""
    text = call_tool("phone", "refund_order", TOKEN, order_id="A-1")
    assert text == "refunded A-1 None" and len(shop.side_effects) == 1
    approvals = shop.list_approvals("client", "tool", "action")
    assert approvals == [("phone", "refund_order", "client")]


def test_client_confirms_setting_does_not_answer_handler_questions(
    registry: Registry, shop: Shop
) -> None:
    """The call is refused, because the connection has no elicitation."""
    text = call_tool("phone", "book_table", TOKEN, day="Monday")
    assert "no user can be asked over this connection" in text
    assert shop.side_effects == []


@pytest.mark.parametrize("client", ["phone", "other"])
def test_client_confirms_has_no_effect_without_the_setting_or_the_clients_token(
    registry: Registry, shop: Shop, client: str
) -> None:
    """Without its token the caller is unknown, and other clients must ask the user."""
    text = call_tool(client, "refund_order", None, order_id="A-1")
    assert "no user can be asked over this connection" in text
    assert shop.side_effects == []


def test_client_confirms_has_no_effect_in_process_and_over_stdio(
    registry: Registry, shop: Shop
) -> None:
    """Calls in the process and over stdio have no token, so they are refused."""
    response = registry.call_tool_sync("refund_order", {"order_id": "A-1"}, "phone")
    assert "no user can be asked here" in (response.error or "")
    with shop.serve_stdio(LEGACY, "--client", "phone", capabilities={}) as server:
        answer = server.call("refund_order", {"order_id": "A-1"})["result"]
    assert answer["isError"] and shop.side_effects == []


def test_tools_that_always_require_confirmation_have_meta_requires_user_interaction(
    registry: Registry,
) -> None:
    """Tools that always require confirmation have `anthropic/requiresUserInteraction`."""
    meta = {tool.name: tool.definition.get("_meta") for tool in registry.local_tools}
    assert meta == {
        "refund_order": {"anthropic/requiresUserInteraction": True},
        "reserve": {"anthropic/requiresUserInteraction": True},
        # Only some calls need confirmation, and the client cannot know which.
        "set_price": None,
        "book_table": None,
    }
