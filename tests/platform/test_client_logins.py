"""Logins of the SDK's client at the clinic's servers, and rejected attacks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.consent.shop_clients import YES, HttpHandshakeClient, get_text
from tests.http.serving import Response, Server, run_server
from tests.oauth.agent import Browser, run_agent
from tests.platform.clinic_runs import MONDAY, Clinic
from tests.platform.logins import PEOPLE, Logins, start_logins
from tests.platform.test_clients import AutomaticUser, Mode
from tests.platform.test_logins import REFUND, read_ledger
from tests.ports import find_free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clinic(clinic_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    """Return a clinic that all tests share, because its servers start slowly."""
    place = tmp_path_factory.mktemp("clinic")
    url = f"sqlite:///{place / 'clinic.sqlite3'}"
    made = Clinic(clinic_project, place, url, pace=0.05)
    made.make_tables()
    return made


@pytest.fixture(scope="module")
def people() -> Iterator[Logins]:
    """Start the OAuth issuer of `PEOPLE` for servers on a port of their own."""
    with start_logins(f"http://127.0.0.1:{find_free_port()}") as found:
        found.server.people = PEOPLE
        yield found


@pytest.fixture(scope="module")
def running_server(clinic: Clinic, people: Logins) -> Iterator[Server]:
    """Run `python -m clinic_tools.practice.mcp_server --http`."""
    env = {**clinic.environment, **people.environment}
    port = people.public.rpartition(":")[2]
    with run_server(
        "--port", port, package="clinic_tools.practice", root=clinic.project, env=env
    ) as server:
        yield server
        assert server.stop() == 0
        # Each token begins with an encoded JSON object.
        assert "eyJ" not in server.log


async def _log_in_and_step_up(people: Logins, mode: Mode) -> None:
    url, person = f"{people.public}/mcp/", AutomaticUser()
    browser = Browser("ben")
    before = len(people.server.requests)
    options = {"mode": mode, "elicitation_callback": person}
    async with run_agent(url, browser, **options) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert "whoami" in listed and "refund_visit" not in listed
        result = await client.call_tool("whoami", {})
        assert result.structured_content == {"user": "ben", "name": "Ben", "ward": None}
        assert [page["scope"] for page in browser.requests] == ["staff"]
        amount = {"cents": 1_000, "currency": "EUR"}
        paid = await client.call_tool("refund_visit", {**REFUND, "amount": amount})
        assert not paid.is_error, paid
        assert person.asked == 1
        # The user granted one more scope and confirmed the tool's call.
        scopes = [page["scope"] for page in browser.requests]
        assert scopes == ["staff", "staff billing"]
        with pytest.raises(MCPError, match="Unknown tool: my_visits"):
            await client.call_tool("my_visits", {})
    assert {page["resource"] for page in browser.requests} == {url}
    assert "/register" in people.server.requests[before:]
    refused = Browser("mia")
    async with run_agent(url, refused, **options) as client:
        with pytest.raises(MCPError, match="the call needs the scope billing"):
            await client.call_tool("refund_visit", REFUND)
    assert len(refused.requests) == 2


def test_mcp_client_logs_in_by_oauth_and_requests_more_scopes_for_a_refund(
    clinic: Clinic, people: Logins, running_server: Server
) -> None:
    left = clinic.cents_left()
    for mode in ("auto", "legacy"):
        asyncio.run(_log_in_and_step_up(people, mode))
    assert clinic.cents_left() == left - 2_000
    refunds = [row for row in read_ledger(clinic) if row[0] == "refund_visit"]
    # A call that lacked a scope is not recorded.
    assert {(user, outcome) for _, user, outcome in refunds} == {
        ("ben", "ok"),
        ("ben", "asked"),
    }


def test_mcp_http_session_cannot_be_used_by_other_users_or_oauth_clients(
    clinic: Clinic, people: Logins, running_server: Server
) -> None:
    left = clinic.cents_left()
    url = f"{people.public}/mcp/"
    ben = HttpHandshakeClient(url, headers=people.headers("ben", client_id="agent"))
    refund = {**REFUND, "amount": {"cents": 1_000, "currency": "EUR"}}
    number = ben.start_call("refund_visit", refund)
    request = ben.read_question()
    thieves = [
        people.headers("ann", client_id="agent"),
        people.headers("ben", client_id="another"),
        people.headers("ben"),
    ]
    for headers in thieves:
        thief = HttpHandshakeClient(url, headers=headers)
        own = thief.session
        assert own is not None and own != ben.session
        # Attempts with the attacker's own session and with the stolen session.
        for session in (own, ben.session):
            thief.session = session
            thief.answer(request, YES)
            cancel = {"requestId": number, "reason": "mine"}
            cancelled = {"method": "notifications/cancelled", "params": cancel}
            status = thief.send(cancelled)
            assert status == (404 if session == ben.session else 202)
        call = thief.start_call("whoami", {})
        assert "Session not found" in get_text(thief.read_response(call))
        with pytest.raises(OSError, match="404"):
            thief.open_request("DELETE")
    assert clinic.cents_left() == left
    # A new token of the same user and client continues the session.
    ben.headers = people.headers("ben", client_id="agent", jti="new")
    ben.answer(request, YES)
    assert "left" in get_text(ben.read_response(number))
    assert clinic.cents_left() == left - 1_000


@pytest.mark.parametrize("modern", [False, True])
def test_mcp_tool_call_over_http_cannot_be_cancelled_over_another_connection(
    modern: bool, clinic: Clinic, people: Logins, running_server: Server
) -> None:
    """Requests with the same call id or progress token have no effect on it."""
    began = clinic.events.count("export begun")
    found: list[Response] = []

    def ask(user: str, method: str, params: dict[str, Any] | None = None) -> Response:
        token = people.token(user)
        return running_server.request(
            "/mcp/", method, params, token=token, modern=modern
        )

    def export() -> None:
        days = {"first": MONDAY, "last": "2026-12-02"}
        meta = {"progressToken": "mine"}
        params = {"name": "export_visits", "arguments": days, "_meta": meta}
        found.append(ask("ann", "tools/call", params))

    thread = Thread(target=export)
    thread.start()
    clinic.wait_for(lambda: clinic.events.count("export begun") > began)
    for user in ("ben", "ann"):
        ask(user, "notifications/cancelled", {"requestId": 1, "reason": "mine"})
        ask(user, "notifications/progress", {"progressToken": "mine", "progress": 1})
    assert b"mine" not in ask("ben", "tools/list").body
    thread.join(60)
    (answer,) = found
    assert "of 10 days" in answer.message["result"]["content"][0]["text"]
    assert answer.body.count(b"notifications/progress") > 0
    assert "export stopped" not in "".join(clinic.events)
