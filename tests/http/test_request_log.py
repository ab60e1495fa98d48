"""The access log line of a request, and the guard's treatment of large bodies."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from tests.http.test_partial_requests import HOST, body_message
from toolcast_runtime.http import app
from toolcast_runtime.http.fairness import Turns
from toolcast_runtime.http.request_limits import ADMITTED, AllowedHosts, Guard
from toolcast_runtime.mcp.sdk_server import CALLED_KEY


@pytest.mark.parametrize(
    ("scope_values", "status", "level", "kind"),
    [
        ({}, 200, "INFO", True),
        ({ADMITTED: True}, 200, "INFO", False),
        ({ADMITTED: True}, None, "INFO", False),
        # The call has a log line of its own.
        ({ADMITTED: True, CALLED_KEY: True}, 1, "DEBUG", False),
        ({CALLED_KEY: True}, 399, "DEBUG", True),
        ({CALLED_KEY: True}, 400, "INFO", True),
        ({CALLED_KEY: True}, None, "INFO", True),
    ],
)
async def test_access_log_line_has_method_path_status_and_duration(
    monkeypatch: pytest.MonkeyPatch,
    scope_values: dict[str, Any],
    status: int | None,
    level: str,
    kind: bool,
) -> None:
    """Requests whose call was logged are on level DEBUG unless they failed."""
    entries: list[Any] = []
    logger = SimpleNamespace(
        isEnabledFor=lambda _: True,
        log=lambda *arguments, extra: entries.append((arguments, extra)),
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

    scope = {"type": "http", "method": "POST", "path": "/mcp", **scope_values}
    await app._AccessLog(answer, "desk")(scope, None, send)  # type: ignore[arg-type]
    assert len(sent) == (0 if status is None else 2)
    [((number, text, *arguments), extra)] = entries
    outcome = "no answer" if status is None else status
    assert text % tuple(arguments) == f"POST /mcp {outcome} in 1500.5 ms"
    assert logging.getLevelName(number) == level
    assert (extra["client"], extra["status"]) == ("desk", status or 0)
    # Requests of admitted callers are all logged; others at most once a second per kind.
    assert (extra["kind"] is not None) is kind


class RecordingTurns(Turns):
    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []

    async def wait(self) -> None:
        self.waits.append("a turn")

    async def run_in_thread(self, work: Any) -> Any:
        self.waits.append("a thread")
        return work()


async def send_through_guard(
    body: bytes, answers: list[dict[str, Any]]
) -> RecordingTurns:
    """Send a body to an application that answers with these messages; return its turns."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        for message in answers:
            await send(message)

    async def receive() -> Any:
        return body_message(body)

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    turns = RecordingTurns()
    hosts = AllowedHosts(["a"])
    guard = Guard(answer, hosts, None, "tests", ("POST",), 50_000, turns)
    scope = {"type": "http", "method": "POST", "headers": [HOST]}
    await guard(scope, receive, send)
    assert sent == answers
    return turns


@pytest.mark.parametrize(
    ("size", "waits"), [(10_000, []), (10_001, ["a thread", "a turn"])]
)
async def test_http_body_over_10000_bytes_is_parsed_in_a_thread(
    size: int, waits: list[str]
) -> None:
    """It waits for a turn of the event loop."""
    turns = await send_through_guard(b'"' + b"a" * (size - 2) + b'"', [])
    assert turns.waits == waits


@pytest.mark.parametrize(("size", "waits"), [(262_144, []), (262_145, ["a turn"])])
async def test_http_response_part_over_256_kibibytes_waits_for_an_event_loop_turn(
    size: int, waits: list[str]
) -> None:
    start = {"type": "http.response.start", "status": 202}
    part = {"type": "http.response.body", "body": b"a" * size}
    turns = await send_through_guard(b"{}", [start, part])
    assert turns.waits == waits


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
async def test_json_body_over_200_levels_or_10000_values_is_an_invalid_request(
    body: bytes, problem: str | None
) -> None:
    sent: list[Any] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        sent.append("accepted")

    async def receive() -> Any:
        return body_message(body)

    async def send(message: Any) -> None:
        sent.append(message)

    hosts = AllowedHosts(["a"])
    guard = Guard(answer, hosts, None, "tests", ("POST",), 50_000, RecordingTurns())
    await guard({"type": "http", "method": "POST", "headers": [HOST]}, receive, send)
    if problem is None:
        assert sent == ["accepted"]
    else:
        assert sent[0]["status"] == 400
        assert json.loads(sent[1]["body"]) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": problem},
        }
