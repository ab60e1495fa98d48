"""Stateless MCP calls with several questions: repeated, missing and mismatched answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.consent.shop_clients import YES, Shop, StatelessClient, get_text

MONDAY = {"day": "Monday"}
SEATS = {"action": "accept", "content": {"seats": 2}}
PLACE = {"action": "accept", "content": {"place": "garden"}}


def send_answers(
    client: StatelessClient, tool: str, state: str, **answers: Any
) -> dict[str, Any]:
    """Return the response to a call with this state and these answers."""
    return client.call(tool, MONDAY, requestState=state, inputResponses=answers)


def read_requirements(response: dict[str, Any]) -> tuple[list[str], str]:
    """Return the names of the required questions, and the state."""
    result = response["result"]
    assert result["resultType"] == "input_required", response
    return list(result["inputRequests"]), result["requestState"]


@pytest.mark.slow
def test_stateless_mcp_call_accepts_the_answer_to_each_question_once(
    shop: Shop,
) -> None:
    with shop.connect_stateless("stdio") as client:
        first = client.get_input_request("book_table", MONDAY)["requestState"]
        response = send_answers(client, "book_table", first, seats=SEATS)
        names, second = read_requirements(response)
        assert names == ["question_2"]
        text = get_text(send_answers(client, "book_table", first, seats=SEATS))
        assert "has already been used" in text
        text = get_text(send_answers(client, "book_table", second, question_2=PLACE))
        assert text == "booked Monday 2 garden"
        text = get_text(send_answers(client, "book_table", second, question_2=PLACE))
        assert "has already been used" in text
    assert len(shop.side_effects) == 1


@pytest.mark.slow
def test_stateless_mcp_call_asks_again_for_a_missing_answer(shop: Shop) -> None:
    """An answer under another name counts as missing; a second answer is ignored."""
    with shop.connect_stateless("stdio") as client:
        state = client.get_input_request("book_table", MONDAY)["requestState"]
        response = send_answers(client, "book_table", state, other=SEATS)
        names, state = read_requirements(response)
        assert names == ["seats"]
        response = send_answers(client, "book_table", state, seats=SEATS)
        names, state = read_requirements(response)
        other = {"action": "accept", "content": {"seats": 8}}
        response = send_answers(client, "book_table", state, seats=other)
        names, state = read_requirements(response)
        assert names == ["question_2"]
        text = get_text(send_answers(client, "book_table", state, question_2=PLACE))
        # The first answer counts; later ones to the same question are not read.
        assert text == "booked Monday 2 garden"


def test_mcp_request_state_without_open_question_permits_only_one_call(
    shop: Shop,
) -> None:
    """The last run of the handler has one question less, so none is open."""
    with shop.connect_stateless("stdio") as client:
        state = client.get_input_request("reserve", MONDAY)["requestState"]
        response = send_answers(client, "reserve", state, confirm=YES)
        _, state = read_requirements(response)
        response = send_answers(client, "reserve", state, question_2=SEATS)
        _, state = read_requirements(response)
        (shop.location / "done.closed").touch()
        texts = [get_text(send_answers(client, "reserve", state)) for _ in range(3)]
    assert texts[0] == "reserved Monday 2" and len(shop.side_effects) == 1
    assert all("has already been used" in text for text in texts[1:])


@pytest.mark.slow
def test_stateless_mcp_call_with_unwritable_ledger_is_refused_without_question(
    shop: Shop,
) -> None:
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with shop.connect_stateless("stdio") as client:
        for tool in ("book_table", "refund_order"):
            arguments = MONDAY if tool == "book_table" else {"order_id": "A-1"}
            text = get_text(client.call(tool, arguments))
            assert "the ledger cannot be written" in text
    assert shop.side_effects == []


@pytest.mark.slow
def test_approval_ledger_records_each_stateless_mcp_call_answer(shop: Shop) -> None:
    with shop.connect_stateless("stdio") as client:
        state = client.get_input_request("reserve", MONDAY)["requestState"]
        send_answers(client, "reserve", state, confirm={"action": "decline"})
        state = client.get_input_request("reserve", MONDAY)["requestState"]
        (shop.location / "done.closed").touch()
        response = send_answers(client, "reserve", state, confirm=YES)
        _, state = read_requirements(response)
        send_answers(client, "reserve", state, question_2=SEATS)
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        rows = connection.execute("SELECT outcome FROM calls ORDER BY id").fetchall()
    outcomes = [outcome for (outcome,) in rows]
    assert outcomes == ["asked", "declined", "asked", "asked", "ok"]
    assert shop.list_approvals("question", "action") == [
        ("confirm", "decline"),
        ("confirm", "accept"),
        ("question_2", "accept"),
    ]
