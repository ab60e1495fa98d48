"""A question ends with the connection that it was put over; who has a session over HTTP."""

from __future__ import annotations

import socket
import time
import urllib.request
from typing import Any

import pytest

from tests.consent.counters import (
    YES,
    HttpCounter,
    Shop,
    StdioCounter,
    legacy_over_http,
    said,
)
from tests.mcp.servers import LEGACY

pytestmark = pytest.mark.slow
ORDER = {"order_id": "A-1", "amount": 25}
REFUSED = "no user can be asked over this connection"


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_server_over_stdio_does_not_wait_for_who_has_left(shop: Shop) -> None:
    with shop.stdio(LEGACY, "--client", "desk", "--grace", "60") as server:
        counter = StdioCounter(server)
        number = counter.begin("refund_order", ORDER)
        counter.question()
        begin = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - begin < 20
        assert "the client did not return the user's answer" in said(
            counter.end(number)
        )
    assert shop.done == []


def test_only_a_client_that_can_ask_has_a_session(shop: Shop) -> None:
    with shop.http() as server:
        assert HttpCounter(server.url).session is not None
        mute: list[Any] = [{"url": {}}, True, None, []]
        for can in ({}, *({"elicitation": each} for each in mute)):
            assert HttpCounter(server.url, can).session is None
        assert REFUSED in legacy_over_http(server, "refund_order", **ORDER)
        assert shop.done == []


def test_a_question_belongs_to_its_session(shop: Shop) -> None:
    """Neither another session answers it, nor one that was thought up."""
    with shop.http() as server:
        asked, thief = HttpCounter(server.url), HttpCounter(server.url)
        number = asked.begin("refund_order", ORDER)
        request = asked.question()
        thief.answer(request, YES)
        for session in ("0" * 32, "", None, str(asked.session)[:-1]):
            thief.session = session
            thief.answer(request, YES)
        other = HttpCounter(f"{server.url}/other")
        other.session = asked.session
        assert other.send({"id": request["id"], "result": YES}) == 404
        assert shop.done == []
        asked.answer(request, {"action": "decline"})
        assert "the user declined" in said(asked.end(number))


def test_a_call_whose_connection_is_closed_is_over(shop: Shop) -> None:
    with shop.http() as server:
        counter = HttpCounter(server.url)
        number = counter.begin("refund_order", ORDER)
        request = counter.question()
        # Closed below the reader, which waits in it.
        connection = counter.streams[number].fp.raw._sock
        connection.shutdown(socket.SHUT_RDWR)
        wait_for(lambda: "outcome=cancelled" in server.log)
        counter.answer(request, YES)
        second = counter.begin("refund_order", ORDER)
        counter.answer(counter.question(), {"action": "decline"})
        assert "the user declined" in said(counter.end(second))
        assert shop.done == []


def test_a_session_that_is_deleted_takes_its_questions_along(shop: Shop) -> None:
    with shop.http() as server:
        counter = HttpCounter(server.url)
        counter.begin("refund_order", ORDER)
        request = counter.question()
        with counter.open("DELETE") as response:
            assert response.status == 200
        assert counter.send({"id": request["id"], "result": YES}) == 404
        gone = counter.begin("refund_order", ORDER)
        assert "Session not found" in said(counter.end(gone))
        counter.session = None
        again = HttpCounter(server.url)
        number = again.begin("refund_order", ORDER)
        again.answer(again.question(), YES)
        assert said(again.end(number)) == "refunded A-1 25"
        assert shop.done == ["refunded A-1 25"]


def test_who_finds_no_room_is_served_without_a_session(shop: Shop) -> None:
    with shop.http() as server:
        health = server.url.removesuffix("/mcp") + "/health"
        counter = HttpCounter(server.url)
        calls = [counter.begin("refund_order", ORDER) for _ in range(100)]
        requests = [counter.question() for _ in calls]
        with urllib.request.urlopen(health, timeout=5) as response:
            assert response.status == 200
        assert REFUSED in said(counter.end(counter.begin("refund_order", ORDER)))
        for request in requests:
            counter.answer(request, {"action": "cancel"})
        for call in calls:
            assert "closed the question" in said(counter.end(call))
        others = [HttpCounter(server.url).session for _ in range(200)]
        assert others.count(None) == 1
        assert shop.done == []


def test_several_processes_keep_no_session(shop: Shop) -> None:
    with shop.http("--workers", "2", package="generated.shop") as server:
        counter = HttpCounter(server.url)
        assert counter.session is None
        assert REFUSED in said(counter.end(counter.begin("refund_order", ORDER)))
        assert shop.done == []


def test_a_server_that_ends_gives_its_questions_up(shop: Shop) -> None:
    with shop.http("--grace", "1") as server:
        HttpCounter(server.url).begin("refund_order", ORDER)
        counter = HttpCounter(server.url)
        counter.begin("refund_order", ORDER)
        counter.question()
        began = time.monotonic()
    assert time.monotonic() - began < 5.5
    wait_for(lambda: "Application shutdown complete" in server.log)
    assert "gave up" not in server.log
    assert shop.done == []
