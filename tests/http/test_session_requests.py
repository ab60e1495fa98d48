"""Which requests are of a session, which begin one, and which stand alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from toolcast_runtime.serve.http import sessions as module
from toolcast_runtime.serve.http.sessions import Sessions

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


async def test_calls_of_sessions_are_bounded_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_CALLS", 2)
    served = Served()
    served.kept.waits = asyncio.Event()
    await served.sessions.ended()
    calls = [asyncio.create_task(served.ask(CALL, KEPT)) for _ in range(2)]
    while len(served.log) < 2:
        await asyncio.sleep(0)
    assert (await served.ask(CALL, KEPT))[-1] == "alone"
    served.kept.waits.set()
    await served.sessions.ended()
    assert served.sent == [200, 200, 200]
    await asyncio.gather(*calls)
    assert (await served.ask(CALL, KEPT))[-1] == "kept"


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
