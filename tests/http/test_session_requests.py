"""Which requests are of a session, which begin one, and which stand alone."""

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

OLD = (b"mcp-protocol-version", b"2025-06-18")
NEW = (b"mcp-protocol-version", b"2026-07-28")
KEPT = (b"mcp-session-id", b"s1")


class Manager:
    """Answers requests with its name, or with another status."""

    def __init__(self, name: str, log: list[Any], status: int = 200) -> None:
        self.name = name
        self.log = log
        self.status = status
        self.more = False
        self.waits: asyncio.Event | None = None

    async def handle_request(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        self.log.append((self.name, scope["method"], body))
        if self.waits is not None and scope["method"] == "POST":
            await self.waits.wait()
        await send({"type": "http.response.start", "status": self.status})
        await send({"type": "http.response.body", "more_body": self.more})


class Served:
    """Sessions, and what was asked of whom."""

    def __init__(self, status: int = 200) -> None:
        self.log: list[Any] = []
        self.sent: list[int] = []
        self.kept = Manager("kept", self.log, status)
        alone: Any = Manager("alone", self.log)
        kept: Any = self.kept
        self.sessions = Sessions(kept, alone)

    async def ask(self, value: Any, *headers: Any, method: str = "POST") -> list[Any]:
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
    ("value", "headers", "asked"),
    [
        (CALL, [], "alone"),
        (CALL, [KEPT], "kept"),
        (CALL, [KEPT, OLD], "kept"),
        (CALL, [KEPT, NEW], "alone"),
        ({"method": "notifications/x"}, [KEPT], "kept"),
        ({"id": 1, "result": {}}, [KEPT], "kept"),
        (b"{", [KEPT], "kept"),
        (initialize({}), [], "kept"),
        (initialize({"form": {}}), [OLD], "kept"),
        (initialize({"form": {}, "url": {}}), [], "kept"),
        (initialize({"url": {}}), [], "alone"),
        (initialize(None), [], "alone"),
        (initialize({}), [NEW], "alone"),
        (initialize({}, "other/initialize"), [], "alone"),
        ({"method": "x", "params": ["initialize", "elicitation"]}, [], "alone"),
        ({"method": "initialize", "params": ["elicitation"]}, [], "alone"),
        ({**initialize({}), "params": {"capabilities": ["elicitation"]}}, [], "alone"),
        ({"method": "initialize", "params": {"capabilities": {}}}, [], "alone"),
    ],
)
async def test_a_request_is_of_a_session_or_stands_alone(
    value: Any, headers: list[Any], asked: str
) -> None:
    served = Served()
    assert await served.ask(value, *headers) == [asked]
    assert served.sent == [200]
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    assert served.log[0][2] == body


async def test_where_there_is_no_room_for_a_session_it_is_answered_without() -> None:
    served = Served(503)
    assert await served.ask(initialize({})) == ["kept", "alone"]
    assert served.sent == [200]
    assert served.log[1][2] == json.dumps(initialize({})).encode()


async def test_only_a_session_is_deleted() -> None:
    served = Served()
    assert await served.ask(b"", KEPT, method="DELETE") == ["kept"]
    assert await served.ask(b"", method="DELETE") == ["kept"]
    assert await served.ask(b"", KEPT, NEW, method="DELETE") == ["kept"]
    assert served.sent == [200, 405, 405]


async def test_a_call_whose_answer_nobody_reads_to_its_end_is_cancelled() -> None:
    served = Served()
    served.kept.more = True
    await served.ask({**CALL, "id": "x"}, KEPT)
    _, cancelled = served.log
    assert cancelled[:2] == ("kept", "POST")
    assert json.loads(cancelled[2]) == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "x", "reason": "its connection was closed"},
    }


async def test_calls_of_sessions_are_bounded_and_waited_for() -> None:
    served = Served()
    served.kept.waits = asyncio.Event()
    await served.sessions.wait_for_calls()
    calls = [asyncio.create_task(served.ask(CALL, KEPT)) for _ in range(100)]
    while len(served.log) < 100:
        await asyncio.sleep(0)
    assert (await served.ask(CALL, KEPT))[-1] == "alone"
    served.kept.waits.set()
    await served.sessions.wait_for_calls()
    assert served.sent == [200] * 101
    await asyncio.gather(*calls)
    assert (await served.ask(CALL, KEPT))[-1] == "kept"


async def test_calls_that_do_not_end_are_waited_for_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served()
    served.kept.waits = asyncio.Event()
    call = asyncio.create_task(served.ask(CALL, KEPT))
    while not served.log:
        await asyncio.sleep(0)
    waited: list[float] = []

    async def wait(calls: set[Any], timeout: float) -> None:
        assert calls == {call}
        waited.append(timeout)

    monkeypatch.setattr(module, "asyncio", SimpleNamespace(wait=wait))
    await served.sessions.wait_for_calls()
    assert waited == [1.0]
    served.kept.waits.set()
    monkeypatch.undo()
    await call


@pytest.mark.parametrize(
    ("variable", "stateless"), [("TOY_STATE_KEY", [True, False]), (None, [True])]
)
def test_two_hundred_sessions_are_kept_where_a_person_may_be_asked(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, stateless: list[bool]
) -> None:
    """And of requests without one nothing is kept; hosts are the guard's matter."""
    made: list[Any] = []

    def manager(sdk: Any, **settings: Any) -> Any:
        made.append(SimpleNamespace(**settings, handle_request=None))
        return made[-1]

    monkeypatch.setattr(app, "StreamableHTTPSessionManager", manager)
    server = replace(SERVER, external=False, state_key_variable=variable)
    assert server.http is not None
    listening = ListenSettings.from_environment(
        replace(server.http, max_body=77), "127.0.0.1", {}
    )
    app.build_http_app(server, listening)
    assert {one.max_request_body_size for one in made} == {77}
    assert {one.max_sessions for one in made} == {200}
    security = {one.security_settings.enable_dns_rebinding_protection for one in made}
    assert security == {False}
    assert [one.stateless for one in made] == stateless * len(server.http.endpoints)


async def test_a_call_that_is_ended_ends_its_session() -> None:
    served = Served()
    served.kept.waits = asyncio.Event()
    call = asyncio.create_task(served.ask(CALL, KEPT))
    while not served.log:
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [one[:2] for one in served.log] == [("kept", "POST"), ("kept", "DELETE")]
    assert served.sent == []
