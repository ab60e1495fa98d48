"""Logins of the SDK's client at the clinic's servers, and rejected attacks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.consent.shop_clients import YES, HttpHandshakeClient, get_text
from tests.http.serving import Response, Server, rpc, run_server
from tests.oauth.agent import Browser, run_agent
from tests.oauth.forged import (
    make_unsigned,
    sign_by_hand,
    sign_with_other_key,
    sign_with_public_key,
)
from tests.platform.clinic_runs import MONDAY, Clinic
from tests.platform.logins import PEOPLE, Logins, start_logins
from tests.platform.test_clients import AutomaticUser, Mode
from tests.platform.test_logins import REFUND, read_ledger
from tests.ports import find_free_port

pytestmark = pytest.mark.slow
Forged = Callable[[Logins, str], str]
AT = "/.well-known/oauth-protected-resource/mcp/"
# The invalid part of each token, and the reason in the challenge.
REFUSED: dict[str, tuple[Forged, str]] = {
    "issuer": (lambda p, to: p.token("ben", iss="https://x.example"), "another issuer"),
    "audience": (
        lambda p, to: p.token("ben", aud="https://x.example"),
        "another audience",
    ),
    "another endpoint": (lambda p, to: p.token("ada"), "another audience"),
    "unsigned": (
        lambda p, to: make_unsigned(p.server, to),
        "algorithm is not accepted",
    ),
    "public key": (
        lambda p, to: sign_with_public_key(p.server, to),
        "algorithm is not accepted",
    ),
    "kid": (lambda p, to: sign_by_hand(p.server, to, {"kid": "two"}), "unknown key"),
    "key": (lambda p, to: sign_with_other_key(p.server, to), "signature is not valid"),
    "expired": (lambda p, to: p.token("ben", exp=int(time.time()) - 60), "has expired"),
    "not yet": (
        lambda p, to: p.token("ben", nbf=int(time.time()) + 60),
        "not valid yet",
    ),
}


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


@contextmanager
def run_uvicorn(clinic: Clinic, people: Logins, port: int) -> Iterator[Server]:
    """Run `uvicorn clinic_tools.practice.mcp_server:app`."""
    app = "clinic_tools.practice.mcp_server:app"
    env = {**os.environ, **clinic.environment, **people.environment}
    env["PRACTICE_ALLOWED_HOSTS"] = "127.0.0.1"
    log = clinic.location / f"uvicorn-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", app, "--port", str(port)],
            cwd=clinic.project,
            env=env,
            stdout=out,
            stderr=out,
        )
        try:
            clinic.wait_for(lambda: "Uvicorn running" in log.read_text())
            running_server = Server(process, port)
            yield running_server
            # uvicorn ends with the signal after everything is closed.
            assert running_server.stop() == -signal.SIGTERM
        finally:
            process.kill()
            process.wait()
    running_server.lines.append(log.read_bytes())


async def _log_in_and_step_up(people: Logins, mode: Mode, **more: Any) -> None:
    url, person = f"{people.public}/mcp/", AutomaticUser()
    browser = Browser("ben")
    before = len(people.server.requests)
    options = {"mode": mode, "elicitation_callback": person, **more}
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
        assert [page["scope"] for page in browser.requests] == [
            "staff",
            "staff billing",
        ]
        with pytest.raises(MCPError, match="Unknown tool: my_visits"):
            await client.call_tool("my_visits", {})
    assert {page["resource"] for page in browser.requests} == {url}
    asked = people.server.requests[before:]
    assert ("/register" in asked) is ("metadata_url" not in more)
    refused = Browser("mia")
    async with run_agent(url, refused, **options) as client:
        with pytest.raises(MCPError, match="the call needs the scope billing"):
            await client.call_tool("refund_visit", REFUND)
    assert len(refused.requests) == 2


def _assert_invalid_tokens_are_rejected(people: Logins, running_server: Server) -> None:
    to = f"{people.public}/mcp/"
    metadata = f'resource_metadata="{people.public}{AT}"'
    for what, (forged, why) in REFUSED.items():
        token = forged(people, to)
        for modern in (False, True):
            answer = running_server.request(
                "/mcp/", "tools/list", token=token, modern=modern
            )
            challenge = answer.headers["www-authenticate"]
            assert answer.status == 401, what
            assert 'error="invalid_token"' in challenge and why in challenge, what
            assert 'scope="staff"' in challenge and metadata in challenge
    for modern in (False, True):
        nobody = running_server.request("/mcp/", "tools/list", modern=modern)
        assert nobody.status == 401
        assert "error" not in nobody.headers["www-authenticate"]
        short = people.token("ben", scope="billing records")
        without = running_server.request(
            "/mcp/", "tools/list", token=short, modern=modern
        )
        challenge = without.headers["www-authenticate"]
        assert without.status == 403 and 'error="insufficient_scope"' in challenge
        assert 'scope="billing records staff"' in challenge and metadata in challenge
        good = people.token("ben")
        assert (
            running_server.request("/mcp/", "ping", token=good, modern=False).status
            == 200
        )
        query = running_server.request(
            f"/mcp/?access_token={good}", "ping", modern=modern
        )
        assert query.status == 400
        assert running_server.send("/mcp/", method="GET").status == 401
        bearer = {"authorization": f"Bearer {good}"}
        # Streams cannot be resumed: an answer belongs to one connection.
        resumed = running_server.send(
            "/mcp/", b"", {**bearer, "last-event-id": "1"}, "GET"
        )
        assert resumed.status == 405


def test_mcp_client_logs_in_by_oauth_and_requests_more_scopes_for_a_refund(
    clinic: Clinic, people: Logins, running_server: Server
) -> None:
    left = clinic.cents_left()
    for mode in ("auto", "legacy"):
        asyncio.run(_log_in_and_step_up(people, mode))
    assert clinic.cents_left() == left - 2_000
    refunds = [row for row in read_ledger(clinic) if row[0] == "refund_visit"]
    # A call that lacked a scope is not read_ledger.
    assert {(user, outcome) for _, user, outcome in refunds} == {
        ("ben", "ok"),
        ("ben", "asked"),
    }


def test_mcp_http_server_rejects_invalid_access_tokens_with_a_www_authenticate_challenge(
    people: Logins, running_server: Server
) -> None:
    _assert_invalid_tokens_are_rejected(people, running_server)
    running_server.wait_for_log("rejected a token: the token has expired")


def test_oauth_login_with_a_client_metadata_url_works_for_an_mcp_server_under_uvicorn(
    clinic: Clinic,
) -> None:
    """The client is identified by the URL of its metadata and does not register."""
    left = clinic.cents_left()
    port = find_free_port()
    with start_logins(f"http://127.0.0.1:{port}") as people:
        people.server.people = PEOPLE
        people.server.takes_client_metadata = True
        with run_uvicorn(clinic, people, port) as running_server:
            url = "https://agent.example/client.json"
            asyncio.run(_log_in_and_step_up(people, "auto", metadata_url=url))
            _assert_invalid_tokens_are_rejected(people, running_server)
    assert clinic.cents_left() == left - 1_000


def test_confirmation_can_be_answered_once_at_another_mcp_server_process_only_by_its_user(
    clinic: Clinic, people: Logins
) -> None:
    """The user can have a newer token."""
    can: dict[str, Any] = {
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}
    }
    refund = {**REFUND, "amount": {"cents": 500, "currency": "EUR"}}
    left = clinic.cents_left()

    def pay(at: Server, headers: dict[str, str], **answer: Any) -> dict[str, Any]:
        params = {"name": "refund_visit", "arguments": refund, "_meta": can, **answer}
        body, head = rpc("tools/call", params, modern=True)
        return at.send("/mcp/", body, {**head, **headers}).message

    with (
        run_uvicorn(clinic, people, find_free_port()) as first,
        run_uvicorn(clinic, people, find_free_port()) as second,
    ):
        asked = pay(first, people.headers("ben"))["result"]
        (question,) = asked["inputRequests"]
        answer = {
            "requestState": asked["requestState"],
            "inputResponses": {question: YES},
        }
        for thief in ("ann", "mia"):
            for at in (first, second):
                stolen = pay(at, people.headers(thief), **answer)
                # Mia's request already fails because of the missing scope.
                assert "error" in stolen, stolen
        assert clinic.cents_left() == left
        paid = pay(second, people.headers("ben", jti="new"), **answer)
        assert paid["result"]["structuredContent"]["refunded"] == refund["amount"]
        again = [pay(at, people.headers("ben"), **answer) for at in (first, second)]
        assert all("structuredContent" not in each["result"] for each in again)
    assert clinic.cents_left() == left - 500


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
