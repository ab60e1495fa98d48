"""A call in several rounds: what a client sends again, leaves out, or mixes up."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.consent.counters import YES, ModernCounter, Shop, said

MONDAY = {"day": "Monday"}
SEATS = {"action": "accept", "content": {"seats": 2}}
PLACE = {"action": "accept", "content": {"place": "garden"}}


def sent(
    counter: ModernCounter, tool: str, state: str, **answers: Any
) -> dict[str, Any]:
    """The whole answer to a call that brings state and answers."""
    return counter.call(tool, MONDAY, requestState=state, inputResponses=answers)


def asks(answer: dict[str, Any]) -> tuple[list[str], str]:
    """The names of what a call needs, and its state."""
    result = answer["result"]
    assert result["resultType"] == "input_required", answer
    return list(result["inputRequests"]), result["requestState"]


@pytest.mark.slow
def test_rounds_are_used_once(shop: Shop) -> None:
    with shop.modern("stdio") as counter:
        first = counter.asked("book_table", MONDAY)["requestState"]
        names, second = asks(sent(counter, "book_table", first, seats=SEATS))
        assert names == ["question_2"]
        again = said(sent(counter, "book_table", first, seats=SEATS))
        assert "has already been used" in again
        assert said(sent(counter, "book_table", second, question_2=PLACE)) == (
            "booked Monday 2 garden"
        )
        again = said(sent(counter, "book_table", second, question_2=PLACE))
        assert "has already been used" in again
    assert len(shop.done) == 1


@pytest.mark.slow
def test_what_is_left_out_is_asked_again(shop: Shop) -> None:
    """Another name, an answer to what was answered, or none: the open question stays."""
    with shop.modern("stdio") as counter:
        state = counter.asked("book_table", MONDAY)["requestState"]
        names, state = asks(sent(counter, "book_table", state, other=SEATS))
        assert names == ["seats"]
        names, state = asks(sent(counter, "book_table", state, seats=SEATS))
        other = {"action": "accept", "content": {"seats": 8}}
        names, state = asks(sent(counter, "book_table", state, seats=other))
        assert names == ["question_2"]
        ended = said(sent(counter, "book_table", state, question_2=PLACE))
        # The first answer counts; later ones to the same question are not read.
        assert ended == "booked Monday 2 garden"


def test_a_handler_that_asks_less_the_next_time_works_once(shop: Shop) -> None:
    """State with answers but without an open question is no ticket for many calls."""
    with shop.modern("stdio") as counter:
        state = counter.asked("reserve", MONDAY)["requestState"]
        _, state = asks(sent(counter, "reserve", state, confirm=YES))
        _, state = asks(sent(counter, "reserve", state, question_2=SEATS))
        (shop.location / "done.closed").touch()
        read = [said(sent(counter, "reserve", state)) for _ in range(3)]
    assert read[0] == "reserved Monday 2" and len(shop.done) == 1
    assert all("has already been used" in text for text in read[1:])


@pytest.mark.slow
def test_a_ledger_that_cannot_be_written_puts_no_question(shop: Shop) -> None:
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with shop.modern("stdio") as counter:
        for tool in ("book_table", "refund_order"):
            arguments = MONDAY if tool == "book_table" else {"order_id": "A-1"}
            read = said(counter.call(tool, arguments))
            assert "the ledger cannot be written" in read
    assert shop.done == []


@pytest.mark.slow
def test_the_ledger_tells_each_round(shop: Shop) -> None:
    with shop.modern("stdio") as counter:
        state = counter.asked("reserve", MONDAY)["requestState"]
        sent(counter, "reserve", state, confirm={"action": "decline"})
        state = counter.asked("reserve", MONDAY)["requestState"]
        (shop.location / "done.closed").touch()
        _, state = asks(sent(counter, "reserve", state, confirm=YES))
        sent(counter, "reserve", state, question_2=SEATS)
    with closing(sqlite3.connect(shop.location / "ledger.sqlite3")) as connection:
        rows = connection.execute("SELECT outcome FROM calls ORDER BY id").fetchall()
    assert [outcome for (outcome,) in rows] == [
        "asked",
        "declined",
        "asked",
        "asked",
        "ok",
    ]
    assert shop.approvals("question", "action") == [
        ("confirm", "decline"),
        ("confirm", "accept"),
        ("question_2", "accept"),
    ]
