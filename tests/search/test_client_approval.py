"""Clients whose user approves each call that is not read-only, over real transports."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.consent.shop_clients import YES, Shop, fill_in_form, get_text

REFUND = {"name": "refund_order", "arguments": {"order_id": "A-1"}}
BOOK = {"name": "book_table", "arguments": {"day": "Monday"}}


class ApprovingUser:
    """A user with scripted answers who records the calls to approve."""

    def __init__(self, *answers: bool) -> None:
        self.requests: list[tuple[str, Any]] = []
        self._answers = [*answers]

    def approves(self, tool: str, arguments: Any) -> bool:
        self.requests.append((tool, arguments))
        return self._answers.pop(0)


async def run_calls(
    server: Any, mode: Any, user: ApprovingUser, *calls: Any
) -> list[Any]:
    """Return the instructions and the text of each call that is read-only or approved."""
    async with Client(server, mode=mode, elicitation_callback=fill_in_form) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*listed] == ["set_price", "search_tools", "call_found_tool"]
        texts: list[Any] = [client.instructions]
        for name, arguments in calls:
            hints = listed[name].annotations
            is_harmless = hints is not None and hints.read_only_hint
            if is_harmless or user.approves(name, arguments):
                result = await client.call_tool(name, arguments)
                texts.append(result.content[0].text)  # type: ignore[union-attr]
        return texts


@pytest.mark.parametrize(
    ("mode", "transport"),
    [
        ("auto", "stdio"),
        pytest.param("legacy", "stdio", marks=pytest.mark.slow),
        pytest.param("auto", "http", marks=pytest.mark.slow),
        pytest.param("legacy", "http", marks=pytest.mark.slow),
    ],
)
def test_mcp_client_prompts_its_user_before_each_call_to_call_found_tool(
    shop: Shop, mode: Literal["auto", "legacy"], transport: str
) -> None:
    """Calls of the tool `search_tools`, which is read-only, need no approval."""
    user = ApprovingUser(False, True, True)
    calls = [
        ("search_tools", {"query": "pay an order back"}),
        ("call_found_tool", REFUND),
        ("call_found_tool", REFUND),
        ("call_found_tool", BOOK),
    ]
    if transport == "http":
        with shop.serve_http() as server:
            texts = asyncio.run(run_calls(server.url, mode, user, *calls))
    else:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "generated.shop.mcp_server"],
            env=shop.environment,
            cwd=shop.root,
        )
        texts = asyncio.run(run_calls(command, mode, user, *calls))
    instructions, found, *done = texts
    start = "Beyond its list this server has 3 more tools: search_"
    assert instructions.startswith(start)
    file = shop.root / "generated/shop/tools/refund_order.json"
    definition = json.loads(file.read_text("utf-8"))["mcp"]
    assert json.loads(found)["tools"][0] == definition
    requests = [("call_found_tool", arguments) for arguments in (REFUND, REFUND, BOOK)]
    assert user.requests == requests
    assert done == shop.side_effects == ["refunded A-1 None", "booked Monday 3 inside"]
    assert shop.list_approvals("tool", "question") == [
        ("refund_order", "confirm"),
        ("book_table", "seats"),
        ("book_table", "question_2"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_call_found_tool_request_state_is_rejected_for_other_arguments(
    shop: Shop, transport: str
) -> None:
    reserve = {"name": "reserve", "arguments": {"day": "Monday"}}
    (shop.location / "done.closed").touch()
    with shop.connect_stateless(transport) as counter:
        first = counter.get_input_request("call_found_tool", reserve)
        assert [*first["inputRequests"]] == ["confirm"]
        state = first["requestState"]
        # The state of one call is invalid for a call with other arguments.
        other = {**reserve, "arguments": {"day": "Sunday"}}
        answer = {"requestState": state, "inputResponses": {"confirm": YES}}
        assert "error" in counter.call("call_found_tool", other, **answer)
        second = counter.call("call_found_tool", reserve, **answer)["result"]
        seats = {"action": "accept", "content": {"seats": 2}}
        answer = {"inputResponses": {"question_2": seats}}
        answer["requestState"] = second["requestState"]
        reserved = counter.call("call_found_tool", reserve, **answer)
        assert get_text(reserved) == "reserved Monday 2"
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        rows = connection.execute("SELECT tool, outcome FROM calls").fetchall()
    assert rows == [("reserve", "asked"), ("reserve", "asked"), ("reserve", "ok")]
