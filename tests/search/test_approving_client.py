"""A client that asks its person before each call that may do harm, over real transports."""

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


class Person:
    """Says yes or no to calls, one by one, and knows what was asked."""

    def __init__(self, *answers: bool) -> None:
        self.asked: list[tuple[str, Any]] = []
        self._answers = [*answers]

    def approves(self, tool: str, arguments: Any) -> bool:
        self.asked.append((tool, arguments))
        return self._answers.pop(0)


async def works(server: Any, mode: Any, person: Person, *calls: Any) -> list[Any]:
    """What the calls give to a client that lets its person decide about each but reading ones."""
    async with Client(server, mode=mode, elicitation_callback=fill_in_form) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*listed] == ["set_price", "search_tools", "call_found_tool"]
        read: list[Any] = [client.instructions]
        for name, arguments in calls:
            hints = listed[name].annotations
            is_harmless = hints is not None and hints.read_only_hint
            if is_harmless or person.approves(name, arguments):
                result = await client.call_tool(name, arguments)
                read.append(result.content[0].text)  # type: ignore[union-attr]
        return read


@pytest.mark.parametrize(
    ("mode", "transport"),
    [
        ("auto", "stdio"),
        pytest.param("legacy", "stdio", marks=pytest.mark.slow),
        pytest.param("auto", "http", marks=pytest.mark.slow),
        pytest.param("legacy", "http", marks=pytest.mark.slow),
    ],
)
def test_each_found_call_is_approved_by_itself(
    shop: Shop, mode: Literal["auto", "legacy"], transport: str
) -> None:
    person = Person(False, True, True)
    calls = [
        ("search_tools", {"query": "pay an order back"}),
        ("call_found_tool", REFUND),
        ("call_found_tool", REFUND),
        ("call_found_tool", BOOK),
    ]
    if transport == "http":
        with shop.serve_http() as server:
            read = asyncio.run(works(server.url, mode, person, *calls))
    else:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "generated.shop.mcp_server"],
            env=shop.environment,
            cwd=shop.root,
        )
        read = asyncio.run(works(command, mode, person, *calls))
    told, found, *done = read
    assert told.startswith("Beyond its list this server has 3 more tools: search_")
    definition = json.loads(
        (shop.root / "generated/shop/tools/refund_order.json").read_text("utf-8")
    )
    assert json.loads(found)["tools"][0] == definition["mcp"]
    assert person.asked == [("call_found_tool", one) for one in (REFUND, REFUND, BOOK)]
    assert done == shop.side_effects == ["refunded A-1 None", "booked Monday 3 inside"]
    assert shop.list_approvals("tool", "question") == [
        ("refund_order", "confirm"),
        ("book_table", "seats"),
        ("book_table", "question_2"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_rounds_of_a_question_are_those_of_the_found_call(
    shop: Shop, transport: str
) -> None:
    reserve = {"name": "reserve", "arguments": {"day": "Monday"}}
    (shop.location / "done.closed").touch()
    with shop.connect_stateless(transport) as counter:
        first = counter.get_input_request("call_found_tool", reserve)
        assert [*first["inputRequests"]] == ["confirm"]
        state = first["requestState"]
        # What was asked about one call is no answer to another one.
        other = {**reserve, "arguments": {"day": "Sunday"}}
        given = {"requestState": state, "inputResponses": {"confirm": YES}}
        assert "error" in counter.call("call_found_tool", other, **given)
        second = counter.call("call_found_tool", reserve, **given)["result"]
        seats = {"action": "accept", "content": {"seats": 2}}
        given = {
            "requestState": second["requestState"],
            "inputResponses": {"question_2": seats},
        }
        assert get_text(counter.call("call_found_tool", reserve, **given)) == (
            "reserved Monday 2"
        )
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        rows = connection.execute("SELECT tool, outcome FROM calls").fetchall()
    assert rows == [("reserve", "asked"), ("reserve", "asked"), ("reserve", "ok")]
