"""Replicas of a server: what one has asked another knows, and each answer counts once."""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.consent.counters import CAN, YES, Shop, said
from tests.mcp.servers import LEGACY, MODERN, meta
from toolcast_runtime import Registry
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings

OLD, NEW = "o" * 32, "n" * 32
ORDER = {"order_id": "7"}
Call = Callable[..., Awaitable[dict[str, Any]]]
Replica = Callable[[str], AbstractAsyncContextManager[Call]]


@pytest.fixture
def replica(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Replica:
    """Begins one of several servers with its keys, and gives what calls it."""
    served = importlib.import_module("generated.shop.mcp_server").SERVER

    @asynccontextmanager
    async def begun(keys: str) -> AsyncIterator[Call]:
        monkeypatch.setenv("SHOP_STATE_KEY", keys)
        listening = ListenSettings.from_environment(served.http, "127.0.0.1")
        app = build_http_app(served, listening, is_one_of_several=True)
        transport = httpx.ASGITransport(app)
        base = "http://127.0.0.1"
        async with (
            app.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=base) as client,
        ):

            async def call(era: str = MODERN, **more: Any) -> dict[str, Any]:
                can = meta(**{"io.modelcontextprotocol/clientCapabilities": CAN})
                params = {"name": "refund_order", "arguments": ORDER, **more}
                if era == MODERN:
                    params["_meta"] = can
                return await posted(client, era, "tools/call", params)

            yield call

    return begun


async def posted(
    client: httpx.AsyncClient, era: str, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
        "Mcp-Method": method,
        "Mcp-Name": str(params["name"]),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    text = (await client.post("/mcp/", json=message, headers=headers)).text
    found: dict[str, Any] = json.loads(text[text.index("{") :])
    return found


async def state_of(call: Call) -> str:
    """What a call is given that has to be made again with an answer."""
    result = (await call())["result"]
    assert result["resultType"] == "input_required", result
    return str(result["requestState"])


async def answered(call: Call, state: str) -> str:
    """What a caller reads who brings a yes."""
    return said(await call(requestState=state, inputResponses={"confirm": YES}))


async def test_an_answer_may_go_to_another_replica_and_counts_once(
    replica: Replica, shop: Shop
) -> None:
    async with replica(OLD) as one, replica(OLD) as other:
        state = await state_of(one)
        assert await answered(other, state) == "refunded 7 None"
        assert "has already been used" in await answered(one, state)
    assert len(shop.done) == 1


async def test_keys_change_while_people_are_asked(replica: Replica, shop: Shop) -> None:
    """Every replica gets the new key behind the old one, then before it, then alone."""
    async with (
        replica(OLD) as first,
        replica(f"{OLD} {NEW}") as second,
        replica(f"{NEW}\n{OLD}\n") as third,
        replica(NEW) as last,
    ):
        steps = [(first, second), (second, first), (second, third), (third, second)]
        steps += [(third, last), (last, third)]
        for asks, takes in steps:
            assert await answered(takes, await state_of(asks)) == "refunded 7 None"
        for asks, refuses in ((first, last), (last, first)):
            answer = await refuses(requestState=await state_of(asks))
            assert "requestState" in answer["error"]["message"]
    assert len(shop.done) == len(steps)


async def test_the_older_era_is_told_that_no_replica_keeps_its_session(
    replica: Replica, shop: Shop
) -> None:
    async with replica(OLD) as call:
        assert "or a server of one process" in said(await call(LEGACY))
    assert shop.done == []
