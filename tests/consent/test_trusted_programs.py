"""A client whose own program asks a person: it is believed over HTTP, with its token."""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

import httpx
import pytest

from tests.consent.counters import Shop
from tests.mcp.servers import LEGACY
from toolcast_runtime import Registry
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings

TOKEN = "t" * 32


def called(client: str, tool: str, token: str | None, **arguments: Any) -> str:
    """What a caller of the older era reads, as those of such programs are."""
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


def test_its_calls_are_let_through_and_kept(registry: Registry, shop: Shop) -> None:
    read = called("phone", "refund_order", TOKEN, order_id="A-1")
    assert read == "refunded A-1 None" and len(shop.done) == 1
    assert shop.approvals("client", "tool", "action") == [
        ("phone", "refund_order", "client")
    ]


def test_a_handlers_question_is_none_that_it_can_answer(
    registry: Registry, shop: Shop
) -> None:
    read = called("phone", "book_table", TOKEN, day="Monday")
    assert "no user can be asked over this connection" in read and shop.done == []


@pytest.mark.parametrize(("client", "token"), [("phone", None), ("other", None)])
def test_nobody_else_is_believed(
    registry: Registry, shop: Shop, client: str, token: str | None
) -> None:
    """Without its token nobody knows who calls, and other clients are asked."""
    read = called(client, "refund_order", token, order_id="A-1")
    assert "no user can be asked over this connection" in read and shop.done == []


def test_it_is_believed_over_http_alone(registry: Registry, shop: Shop) -> None:
    response = registry.call_tool_sync("refund_order", {"order_id": "A-1"}, "phone")
    assert "no user can be asked here" in (response.error or "")
    with shop.stdio(LEGACY, "--client", "phone", can={}) as server:
        answer = server.call("refund_order", {"order_id": "A-1"})["result"]
    assert answer["isError"] and shop.done == []


def test_clients_that_ask_by_themselves_are_told_to(registry: Registry) -> None:
    meta = {tool.name: tool.definition.get("_meta") for tool in registry.local_tools}
    assert meta == {
        "refund_order": {"anthropic/requiresUserInteraction": True},
        "reserve": {"anthropic/requiresUserInteraction": True},
        # Asked about some calls only, which such a client cannot know.
        "set_price": None,
        "book_table": None,
    }
