"""Routing of MCP requests to a session or to the sessionless manager."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime.http import app
from toolcast_runtime.http import sessions as module
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.http.sessions import Sessions

HANDSHAKE = (b"mcp-protocol-version", b"2025-06-18")
STATELESS = (b"mcp-protocol-version", b"2026-07-28")
SESSION = (b"mcp-session-id", b"s1")


class Manager:
    """A session manager that logs its name and request bodies."""

    def __init__(self, name: str, log: list[Any], status: int = 200) -> None:
        self.name = name
        self.log = log
        self.status = status
        self.more = False
        self.may_respond: asyncio.Event | None = None

    async def handle_request(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        self.log.append((self.name, scope["method"], body))
        if self.may_respond is not None and scope["method"] == "POST":
            await self.may_respond.wait()
        await send({"type": "http.response.start", "status": self.status})
        await send({"type": "http.response.body", "more_body": self.more})


class RoutedSessions:
    """`Sessions` over two managers, with the log of the requests that each received."""

    def __init__(self, status: int = 200) -> None:
        self.log: list[Any] = []
        self.sent: list[int] = []
        self.session = Manager("session", self.log, status)
        sessionless: Any = Manager("sessionless", self.log)
        session: Any = self.session
        self.sessions = Sessions(session, sessionless)

    async def request(
        self, value: Any, *headers: Any, method: str = "POST"
    ) -> list[Any]:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.sent.append(message["status"])

        scope = {"type": "http", "method": method, "headers": [*headers]}
        await self.sessions(scope, receive, send)
        return [name for name, *_ in self.log]


def initialize(elicitation: Any, method: str = "initialize") -> dict[str, Any]:
    capabilities = {"elicitation": elicitation}
    return {"method": method, "id": 1, "params": {"capabilities": capabilities}}


CALL = {"id": 1, "method": "tools/call"}


@pytest.mark.parametrize(
    ("value", "headers", "manager"),
    [
        (CALL, [], "sessionless"),
        (CALL, [SESSION], "session"),
        (CALL, [SESSION, HANDSHAKE], "session"),
        (CALL, [SESSION, STATELESS], "sessionless"),
        ({"method": "notifications/x"}, [SESSION], "session"),
        ({"id": 1, "result": {}}, [SESSION], "session"),
        (b"{", [SESSION], "session"),
        (initialize({}), [], "session"),
        (initialize({"form": {}}), [HANDSHAKE], "session"),
        (initialize({"form": {}, "url": {}}), [], "session"),
        (initialize({"url": {}}), [], "sessionless"),
        (initialize(None), [], "sessionless"),
        (initialize({}), [STATELESS], "sessionless"),
        (initialize({}, "other/initialize"), [], "sessionless"),
        ({"method": "x", "params": ["initialize", "elicitation"]}, [], "sessionless"),
        ({"method": "initialize", "params": ["elicitation"]}, [], "sessionless"),
        (
            {**initialize({}), "params": {"capabilities": ["elicitation"]}},
            [],
            "sessionless",
        ),
        ({"method": "initialize", "params": {"capabilities": {}}}, [], "sessionless"),
    ],
)
async def test_mcp_request_is_routed_by_session_id_version_and_elicitation_support(
    value: Any, headers: list[Any], manager: str
) -> None:
    """Sessions receive requests with a session id and handshakes for form elicitation."""
    routed = RoutedSessions()
    assert await routed.request(value, *headers) == [manager]
    assert routed.sent == [200]
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    assert routed.log[0][2] == body


async def test_mcp_initialize_is_answered_without_session_if_none_is_free() -> None:
    routed = RoutedSessions(503)
    assert await routed.request(initialize({})) == ["session", "sessionless"]
    assert routed.sent == [200]
    assert routed.log[1][2] == json.dumps(initialize({})).encode()


async def test_http_delete_without_session_or_in_stateless_mcp_version_gets_405() -> (
    None
):
    routed = RoutedSessions()
    assert await routed.request(b"", SESSION, method="DELETE") == ["session"]
    assert await routed.request(b"", method="DELETE") == ["session"]
    assert await routed.request(b"", SESSION, STATELESS, method="DELETE") == ["session"]
    assert routed.sent == [200, 405, 405]


async def test_mcp_session_call_is_cancelled_if_its_response_is_not_fully_read() -> (
    None
):
    routed = RoutedSessions()
    routed.session.more = True
    await routed.request({**CALL, "id": "x"}, SESSION)
    _, cancelled = routed.log
    assert cancelled[:2] == ("session", "POST")
    assert json.loads(cancelled[2]) == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "x", "reason": "its connection was closed"},
    }


async def test_at_most_100_mcp_session_calls_run_and_shutdown_waits_for_them() -> None:
    """Further calls go to the sessionless manager."""
    routed = RoutedSessions()
    routed.session.may_respond = asyncio.Event()
    await routed.sessions.wait_for_calls()
    calls = [asyncio.create_task(routed.request(CALL, SESSION)) for _ in range(100)]
    while len(routed.log) < 100:
        await asyncio.sleep(0)
    assert (await routed.request(CALL, SESSION))[-1] == "sessionless"
    routed.session.may_respond.set()
    await routed.sessions.wait_for_calls()
    assert routed.sent == [200] * 101
    await asyncio.gather(*calls)
    assert (await routed.request(CALL, SESSION))[-1] == "session"


async def test_http_server_shutdown_waits_one_second_for_session_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routed = RoutedSessions()
    routed.session.may_respond = asyncio.Event()
    call = asyncio.create_task(routed.request(CALL, SESSION))
    while not routed.log:
        await asyncio.sleep(0)
    waited: list[float] = []

    async def wait(calls: set[Any], timeout: float) -> None:
        assert calls == {call}
        waited.append(timeout)

    monkeypatch.setattr(module, "asyncio", SimpleNamespace(wait=wait))
    await routed.sessions.wait_for_calls()
    assert waited == [1.0]
    routed.session.may_respond.set()
    monkeypatch.undo()
    await call


@pytest.mark.parametrize(
    ("variable", "stateless"), [("TOY_STATE_KEY", [True, False]), (None, [True])]
)
def test_mcp_session_manager_needs_a_state_key_and_allows_200_sessions(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, stateless: list[bool]
) -> None:
    """Each manager uses the server's body limit; the guard checks hosts."""
    managers: list[Any] = []

    def create_manager(sdk: Any, **settings: Any) -> Any:
        managers.append(SimpleNamespace(**settings, handle_request=None))
        return managers[-1]

    monkeypatch.setattr(app, "StreamableHTTPSessionManager", create_manager)
    server = replace(SERVER, external=False, state_key_variable=variable)
    assert server.http is not None
    listening = ListenSettings.from_environment(
        replace(server.http, max_body=77), "127.0.0.1", {}
    )
    app.build_http_app(server, listening)
    assert {m.max_request_body_size for m in managers} == {77}
    assert {m.max_sessions for m in managers} == {200}
    settings = [m.security_settings for m in managers]
    assert {s.enable_dns_rebinding_protection for s in settings} == {False}
    assert [m.stateless for m in managers] == stateless * len(server.http.endpoints)


async def test_cancelling_an_mcp_call_deletes_its_session() -> None:
    routed = RoutedSessions()
    routed.session.may_respond = asyncio.Event()
    call = asyncio.create_task(routed.request(CALL, SESSION))
    while not routed.log:
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    methods = [(manager, method) for manager, method, _ in routed.log]
    assert methods == [("session", "POST"), ("session", "DELETE")]
    assert routed.sent == []
