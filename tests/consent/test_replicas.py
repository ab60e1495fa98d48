"""Replicas of a server: they share rounds and accept each answer once."""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.consent.shop_clients import ELICITATION, YES, Shop, get_text
from tests.mcp.servers import LEGACY, MODERN, meta
from toolcast_runtime import Registry
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings

OLD, NEW = "o" * 32, "n" * 32
ORDER = {"order_id": "7"}
Call = Callable[..., Awaitable[dict[str, Any]]]
StartReplica = Callable[[str], AbstractAsyncContextManager[Call]]


@pytest.fixture
def start_replica(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> StartReplica:
    """Return a context manager that starts a replica and yields a function to call it."""
    served = importlib.import_module("generated.shop.mcp_server").SERVER

    @asynccontextmanager
    async def enter_replica(keys: str) -> AsyncIterator[Call]:
        monkeypatch.setenv("SHOP_STATE_KEY", keys)
        listening = ListenSettings.from_environment(served.http, "127.0.0.1")
        app = build_http_app(served, listening, is_one_of_several=True)
        transport = httpx.ASGITransport(app)
        base = "http://127.0.0.1"
        async with (
            app.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=base) as client,
        ):

            async def call(version: str = MODERN, **extra: Any) -> dict[str, Any]:
                params = {"name": "refund_order", "arguments": ORDER, **extra}
                if version == MODERN:
                    key = "io.modelcontextprotocol/clientCapabilities"
                    params["_meta"] = meta(**{key: ELICITATION})
                return await post_message(client, version, "tools/call", params)

            yield call

    return enter_replica


async def post_message(
    client: httpx.AsyncClient, version: str, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": method,
        "Mcp-Name": str(params["name"]),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    text = (await client.post("/mcp/", json=message, headers=headers)).text
    response: dict[str, Any] = json.loads(text[text.index("{") :])
    return response


async def request_state(call: Call) -> str:
    """Return the state of a call that requires an answer."""
    result = (await call())["result"]
    assert result["resultType"] == "input_required", result
    return str(result["requestState"])


async def answer_call(call: Call, state: str) -> str:
    """Return the text of a call that is repeated with an approval."""
    return get_text(await call(requestState=state, inputResponses={"confirm": YES}))


async def test_mcp_answer_sent_to_another_replica_is_accepted_once(
    start_replica: StartReplica, shop: Shop
) -> None:
    async with start_replica(OLD) as first, start_replica(OLD) as second:
        state = await request_state(first)
        assert await answer_call(second, state) == "refunded 7 None"
        assert "has already been used" in await answer_call(first, state)
    assert len(shop.side_effects) == 1


async def test_mcp_replicas_accept_answers_to_open_questions_during_state_key_rotation(
    start_replica: StartReplica, shop: Shop
) -> None:
    """Replicas accept the new key second, then first, then as their only key."""
    async with (
        start_replica(OLD) as first,
        start_replica(f"{OLD} {NEW}") as second,
        start_replica(f"{NEW}\n{OLD}\n") as third,
        start_replica(NEW) as last,
    ):
        steps = [(first, second), (second, first), (second, third), (third, second)]
        steps += [(third, last), (last, third)]
        for asking, answering in steps:
            text = await answer_call(answering, await request_state(asking))
            assert text == "refunded 7 None"
        for asking, rejecting in ((first, last), (last, first)):
            answer = await rejecting(requestState=await request_state(asking))
            assert "requestState" in answer["error"]["message"]
    assert len(shop.side_effects) == len(steps)


async def test_mcp_replica_refuses_2025_calls_that_need_confirmation(
    start_replica: StartReplica, shop: Shop
) -> None:
    """Only a server with one process has sessions, as the error states."""
    async with start_replica(OLD) as call:
        assert "or a server of one process" in get_text(await call(LEGACY))
    assert shop.side_effects == []
