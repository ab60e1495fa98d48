"""Sessions of MCP 2025 clients: questions end with their connection or session."""

from __future__ import annotations

import socket
import time
import urllib.request
from typing import Any

import pytest

from tests.consent.shop_clients import (
    YES,
    HttpHandshakeClient,
    Shop,
    StdioHandshakeClient,
    call_handshake_http,
)
from tests.mcp.servers import LEGACY
from tests.waiting import wait_until

pytestmark = pytest.mark.slow
ORDER = {"order_id": "A-1", "amount": 25}
REFUSED = "no user can be asked over this connection"


def test_stdio_mcp_server_with_open_elicitation_ends_when_stdin_closes(
    shop: Shop,
) -> None:
    """It does not wait for its grace period, and the call has an error."""
    with shop.serve_stdio(LEGACY, "--client", "desk", "--grace", "60") as server:
        client = StdioHandshakeClient(server)
        number = client.start_call("refund_order", ORDER)
        client.read_question()
        begin = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - begin < 20
        assert "the client did not return the user's answer" in client.read_text(number)
    assert shop.side_effects == []


def test_mcp_http_session_requires_a_client_with_form_elicitation(shop: Shop) -> None:
    """Clients without it have no session, and their confirmed calls are refused."""
    with shop.serve_http() as server:
        assert HttpHandshakeClient(server.url).session is not None
        capabilities: list[Any] = [{"url": {}}, True, None, []]
        for declared in ({}, *({"elicitation": value} for value in capabilities)):
            assert HttpHandshakeClient(server.url, declared).session is None
        assert REFUSED in call_handshake_http(server, "refund_order", **ORDER)
        assert shop.side_effects == []


def test_mcp_elicitation_is_answered_only_in_its_own_session(shop: Shop) -> None:
    """Answers from other, invented, missing and other endpoints' sessions are ignored."""
    with shop.serve_http() as server:
        owner = HttpHandshakeClient(server.url)
        stranger = HttpHandshakeClient(server.url)
        number = owner.start_call("refund_order", ORDER)
        request = owner.read_question()
        stranger.answer(request, YES)
        for session in ("0" * 32, "", None, str(owner.session)[:-1]):
            stranger.session = session
            stranger.answer(request, YES)
        other_endpoint = HttpHandshakeClient(f"{server.url}/other")
        other_endpoint.session = owner.session
        assert other_endpoint.send({"id": request["id"], "result": YES}) == 404
        assert shop.side_effects == []
        owner.answer(request, {"action": "decline"})
        assert "the user declined" in owner.read_text(number)


def test_closed_mcp_http_connection_cancels_the_call_and_its_elicitation(
    shop: Shop,
) -> None:
    """A later answer has no effect, and the session accepts further calls."""
    with shop.serve_http() as server:
        client = HttpHandshakeClient(server.url)
        number = client.start_call("refund_order", ORDER)
        request = client.read_question()
        # The reading thread blocks in the stream, so the socket is shut down instead.
        connection = client.streams[number].fp.raw._sock
        connection.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: "outcome=cancelled" in server.log)
        client.answer(request, YES)
        second = client.start_call("refund_order", ORDER)
        client.answer(client.read_question(), {"action": "decline"})
        assert "the user declined" in client.read_text(second)
        assert shop.side_effects == []


def test_deleted_mcp_http_session_accepts_no_elicitation_answers(shop: Shop) -> None:
    """Requests with its ID are rejected; a new session works."""
    with shop.serve_http() as server:
        client = HttpHandshakeClient(server.url)
        client.start_call("refund_order", ORDER)
        request = client.read_question()
        with client.open_request("DELETE") as response:
            assert response.status == 200
        assert client.send({"id": request["id"], "result": YES}) == 404
        rejected = client.start_call("refund_order", ORDER)
        assert "Session not found" in client.read_text(rejected)
        client.session = None
        new_client = HttpHandshakeClient(server.url)
        number = new_client.start_call("refund_order", ORDER)
        new_client.answer(new_client.read_question(), YES)
        assert new_client.read_text(number) == "refunded A-1 25"
        assert shop.side_effects == ["refunded A-1 25"]


def test_mcp_server_limits_open_elicitations_and_sessions(shop: Shop) -> None:
    """Calls above the limit are refused; a client above the limit has no session."""
    with shop.serve_http() as server:
        health = server.url.removesuffix("/mcp") + "/health"
        client = HttpHandshakeClient(server.url)
        calls = [client.start_call("refund_order", ORDER) for _ in range(100)]
        requests = [client.read_question() for _ in calls]
        with urllib.request.urlopen(health, timeout=5) as response:
            assert response.status == 200
        assert REFUSED in client.call_for_text("refund_order", ORDER)
        for request in requests:
            client.answer(request, {"action": "cancel"})
        for call in calls:
            assert "closed the question" in client.read_text(call)
        sessions = [HttpHandshakeClient(server.url).session for _ in range(200)]
        assert sessions.count(None) == 1
        assert shop.side_effects == []


def test_mcp_server_with_two_workers_has_no_sessions_and_refuses_confirmed_calls(
    shop: Shop,
) -> None:
    with shop.serve_http("--workers", "2", package="generated.shop") as server:
        client = HttpHandshakeClient(server.url)
        assert client.session is None
        assert REFUSED in client.call_for_text("refund_order", ORDER)
        assert shop.side_effects == []


def test_mcp_server_shutdown_cancels_open_elicitations(shop: Shop) -> None:
    """Shutdown completes without waiting for the answers or abandoning the calls."""
    with shop.serve_http("--grace", "1") as server:
        HttpHandshakeClient(server.url).start_call("refund_order", ORDER)
        client = HttpHandshakeClient(server.url)
        client.start_call("refund_order", ORDER)
        client.read_question()
        started = time.monotonic()
    # Without cancellation the server would wait 600 s for the answers.
    assert time.monotonic() - started < 60
    wait_until(lambda: "Application shutdown complete" in server.log)
    assert "gave up" not in server.log
    assert shop.side_effects == []
