"""The official SDK's client, whose person answers: one path of the author, both eras."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.consent.counters import Shop, filled_in

WAYS: list[tuple[Literal["auto", "legacy"], str]] = [
    ("auto", "stdio"),
    ("legacy", "stdio"),
    ("legacy", "http"),
]


async def decline(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="decline")


def called(
    shop: Shop,
    mode: Literal["auto", "legacy"],
    transport: str,
    person: Any,
    *calls: Any,
) -> list[str]:
    """What the calls give, one after the other, through one connection."""

    async def run(server: Any) -> list[str]:
        async with Client(server, mode=mode, elicitation_callback=person) as client:
            results = [await client.call_tool(*call) for call in calls]
            return [str(result.content[0].text) for result in results]

    if transport == "http":
        with shop.http() as server:
            return asyncio.run(run(server.url))
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "generated.shop.mcp_server"],
        env=shop.environment,
        cwd=shop.root,
    )
    return asyncio.run(run(command))


REFUND = ("refund_order", {"order_id": "A-1"})
BOOK = ("book_table", {"day": "Monday"})


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "transport"), WAYS)
def test_a_person_answers(
    shop: Shop, mode: Literal["auto", "legacy"], transport: str
) -> None:
    expected = ["refunded A-1 None", "booked Monday 3 inside"]
    assert called(shop, mode, transport, filled_in, REFUND, BOOK) == expected
    assert shop.done == expected
    assert shop.approvals("question", "action") == [
        ("confirm", "accept"),
        ("seats", "accept"),
        ("question_2", "accept"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "transport"), WAYS)
@pytest.mark.parametrize("person", [decline, None])
def test_no_person_says_yes(
    shop: Shop, mode: Literal["auto", "legacy"], transport: str, person: Any
) -> None:
    why = "has to ask the user first" if person is None else "the user declined"
    read = called(shop, mode, transport, person, REFUND, BOOK)
    assert all(why in text for text in read)
    assert shop.done == []
