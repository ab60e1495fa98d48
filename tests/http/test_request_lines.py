"""The line that a request has in the log, and what the guard does with what is large."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from tests.http.test_http_pieces import HOST, piece
from toolcast_runtime.http import app
from toolcast_runtime.http.fairness import Turns
from toolcast_runtime.http.request_limits import ADMITTED, AllowedHosts, Guard
from toolcast_runtime.mcp.sdk_server import CALLED_KEY


@pytest.mark.parametrize(
    ("found", "status", "level", "kind"),
    [
        ({}, 200, "INFO", True),
        ({ADMITTED: True}, 200, "INFO", False),
        ({ADMITTED: True}, None, "INFO", False),
        # It has a line of its own.
        ({ADMITTED: True, CALLED_KEY: True}, 1, "DEBUG", False),
        ({CALLED_KEY: True}, 399, "DEBUG", True),
        ({CALLED_KEY: True}, 400, "INFO", True),
        ({CALLED_KEY: True}, None, "INFO", True),
    ],
)
async def test_a_request_has_a_line(
    monkeypatch: pytest.MonkeyPatch,
    found: dict[str, Any],
    status: int | None,
    level: str,
    kind: bool,
) -> None:
    told: list[Any] = []
    logger = SimpleNamespace(
        isEnabledFor=lambda _: True,
        log=lambda *given, extra: told.append((given, extra)),
    )
    monkeypatch.setattr(app, "_logger", logger)
    now = iter([2.0, 3.5004996])
    monkeypatch.setattr(app, "time", SimpleNamespace(perf_counter=lambda: next(now)))
    sent: list[Any] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if status is not None:
            await send({"type": "http.response.start", "status": status})
            await send({"type": "http.response.body", "status": 599})

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope = {"type": "http", "method": "POST", "path": "/mcp", **found}
    await app._AccessLog(answer, "desk")(scope, None, send)  # type: ignore[arg-type]
    assert len(sent) == (0 if status is None else 2)
    [((number, text, *words), extra)] = told
    what = "no answer" if status is None else status
    assert text % tuple(words) == f"POST /mcp {what} in 1500.5 ms"
    assert logging.getLevelName(number) == level
    assert (extra["client"], extra["status"]) == ("desk", status or 0)
    # Those of who was let in are all told, of others one of a kind a second.
    assert (extra["kind"] is not None) is kind


class _Noted(Turns):
    def __init__(self) -> None:
        super().__init__()
        self.waited: list[str] = []

    async def wait(self) -> None:
        self.waited.append("a turn")

    async def run_in_thread(self, work: Any) -> Any:
        self.waited.append("a thread")
        return work()


async def _guarded(body: bytes, answers: list[dict[str, Any]]) -> _Noted:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        for message in answers:
            await send(message)

    async def receive() -> Any:
        return piece(body)

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    turns = _Noted()
    hosts = AllowedHosts(["a"])
    guard = Guard(answer, hosts, None, "tests", ("POST",), 50_000, turns)
    scope = {"type": "http", "method": "POST", "headers": [HOST]}
    await guard(scope, receive, send)
    assert sent == answers
    return turns


@pytest.mark.parametrize(
    ("size", "waited"), [(10_000, []), (10_001, ["a thread", "a turn"])]
)
async def test_a_large_body_is_looked_at_in_a_thread(
    size: int, waited: list[str]
) -> None:
    turns = await _guarded(b'"' + b"a" * (size - 2) + b'"', [])
    assert turns.waited == waited


@pytest.mark.parametrize(("size", "waited"), [(262_144, []), (262_145, ["a turn"])])
async def test_a_large_part_of_an_answer_waits_for_its_turn(
    size: int, waited: list[str]
) -> None:
    start = {"type": "http.response.start", "status": 202}
    part = {"type": "http.response.body", "body": b"a" * size}
    turns = await _guarded(b"{}", [start, part])
    assert turns.waited == waited


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"[" * 200, None),
        (b"[" * 201, "the body has more than 200 levels of nesting"),
        (b"[" + b"1," * 4_998 + b"1]", None),
        (b"[" + b"1," * 9_998 + b"1]", None),
        (b"[" + b"1," * 9_999 + b"1]", "the body has more than 10,000 values"),
    ],
)
async def test_what_is_deep_or_crowded_is_no_message(
    body: bytes, problem: str | None
) -> None:
    sent: list[Any] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        sent.append("taken")

    async def receive() -> Any:
        return piece(body)

    async def send(message: Any) -> None:
        sent.append(message)

    hosts = AllowedHosts(["a"])
    guard = Guard(answer, hosts, None, "tests", ("POST",), 50_000, _Noted())
    await guard({"type": "http", "method": "POST", "headers": [HOST]}, receive, send)
    if problem is None:
        assert sent == ["taken"]
    else:
        assert sent[0]["status"] == 400
        assert json.loads(sent[1]["body"]) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": problem},
        }
