"""The official SDK's client answers questions over each transport and protocol version."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.consent.shop_clients import Shop, fill_in_form

CONNECTIONS = [("auto", "stdio"), ("legacy", "stdio"), ("legacy", "http")]


async def decline(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="decline")


def call_tools(
    shop: Shop, mode: Any, transport: str, callback: Any, *calls: Any
) -> list[str]:
    """Return the text of each call, in order through one connection."""

    async def run(server: Any) -> list[str]:
        async with Client(server, mode=mode, elicitation_callback=callback) as client:
            results = [await client.call_tool(*call) for call in calls]
            return [str(result.content[0].text) for result in results]

    if transport == "http":
        with shop.serve_http() as server:
            return asyncio.run(run(server.url))
    options: Any = {"args": ["-m", "generated.shop.mcp_server"], "cwd": shop.root}
    options |= {"command": sys.executable, "env": shop.environment}
    return asyncio.run(run(StdioServerParameters(**options)))


REFUND = ("refund_order", {"order_id": "A-1"})
BOOK = ("book_table", {"day": "Monday"})


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "transport"), CONNECTIONS)
def test_mcp_sdk_client_confirms_and_fills_in_forms_and_each_answer_is_recorded(
    shop: Shop, mode: str, transport: str
) -> None:
    expected = ["refunded A-1 None", "booked Monday 3 inside"]
    assert call_tools(shop, mode, transport, fill_in_form, REFUND, BOOK) == expected
    assert shop.side_effects == expected
    assert shop.list_approvals("question", "action") == [
        ("confirm", "accept"),
        ("seats", "accept"),
        ("question_2", "accept"),
    ]


# The attacks on confirmations cover the other combinations without the SDK's client.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "transport", "callback"),
    [
        ("auto", "stdio", decline),
        ("legacy", "stdio", None),
        ("legacy", "http", decline),
    ],
)
def test_mcp_sdk_client_that_declines_or_cannot_elicit_runs_no_handler(
    shop: Shop, mode: str, transport: str, callback: Any
) -> None:
    error = "has to ask the user first" if callback is None else "the user declined"
    texts = call_tools(shop, mode, transport, callback, REFUND, BOOK)
    assert all(error in text for text in texts)
    assert shop.side_effects == []
