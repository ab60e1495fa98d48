"""A connection that gets an HTTP error, loses its session, or whose server hangs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import Open, call, odd, until
from tests.external.servers.running import HttpServer
from tests.external.servers.upstream import Reply, Upstream, lost
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import connection, session
from toolcast_runtime.external.connection_states import TRANSITIONS, Event, State

Start = Callable[..., Upstream]
Proxied = Callable[..., Registry]


@pytest.fixture
def upstream() -> Iterator[Start]:
    started: list[Upstream] = []

    def start(is_modern: bool = False) -> Upstream:
        started.append(Upstream(is_modern))
        return started[-1]

    yield start
    for server in started:
        server.end()


@pytest.fixture
def proxied(opened: Open, tmp_path: Path) -> Proxied:
    """A registry of proxied tools of a server `up`."""

    def make(server: ExternalServer, *names: str) -> Registry:
        specs = [definition(name, proxy="up", timeout=10) for name in names]
        return Registry(Package(tmp_path, *specs).load(), providers=[opened(server)])

    return make


def at(server: Upstream | HttpServer, **options: Any) -> ExternalServer:
    return ExternalServer("up", url=server.url, is_proxied=True, **options)


async def fetch(registry: Registry) -> ToolResponse:
    return await registry.call_tool("fetch", {})


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage().removeprefix("external server up: ")
        for record in caplog.records
        if record.levelno >= logging.WARNING
    ]


def test_each_state_can_be_left_and_reached() -> None:
    """The table has every state on both sides, and closing is possible in each."""
    assert {state for state, _ in TRANSITIONS} == set(TRANSITIONS.values()) == {*State}
    for state in State:
        assert TRANSITIONS[state, Event.CLOSED] is State.NEW
        assert any(event is Event.FAILED for s, event in TRANSITIONS if s is state)


LOST = {
    "json-rpc error": lost(404),
    "python": lost(404, -32600),
    "no body": Reply(404),
    "text": Reply(404, "Unknown session", (("Content-Type", "text/plain"),)),
    "page": Reply(404, "<h1>no</h1>", (("Content-Type", "text/html"),)),
    "method not found": lost(404, -32601, "Method not found"),
    "400 with a code": lost(400, -32000, "Bad Request: No valid session ID provided"),
    "400 without a code": Reply(400, "Bad Request: No valid session ID provided"),
    "not initialized": lost(400, -32000, "Bad Request: Server not initialized"),
}


@pytest.mark.parametrize("reply", LOST.values(), ids=LOST)
async def test_call_with_lost_session_is_repeated_in_new_session(
    upstream: Start, proxied: Proxied, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    server = upstream()
    server.unknown_session = reply
    registry = proxied(at(server), "fetch")
    for expected_calls in (1, 2, 3):
        assert (await fetch(registry)).result == "hello"
        assert server.calls == expected_calls
        server.sessions.clear()
    assert warnings(caplog) == []


async def test_lost_session_at_status_200_is_replaced_without_repeating_the_call(
    upstream: Start, proxied: Proxied
) -> None:
    """Nothing but the HTTP status shows that the call did not run."""
    server = upstream()
    server.unknown_session = lost(200)
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    server.sessions.clear()
    assert "Session not found" in str((await fetch(registry)).error)
    assert (await fetch(registry)).result == "hello"


async def test_parallel_calls_with_lost_session_share_one_new_session(
    upstream: Start, proxied: Proxied
) -> None:
    server = upstream()
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    server.sessions.clear()
    answers = await asyncio.gather(*(fetch(registry) for _ in range(10)))
    assert [answer.result for answer in answers] == ["hello"] * 10
    assert [method for method, _ in server.requests].count("initialize") == 2


async def test_call_is_repeated_only_once(upstream: Start, proxied: Proxied) -> None:
    """A balancer that sends each request to another server loses every session."""
    server = upstream()
    server.replies = [lost(404)] * 99
    answer = await fetch(proxied(at(server), "fetch"))
    assert (
        answer.error
        == (
            "the tool's server rejected the request: HTTP 404 Not Found: Session not found"
        )
        or answer.error == "the tool's server rejected the request: Session not found"
    )
    assert [method for method, _ in server.requests].count("tools/call") == 2


@pytest.mark.parametrize("code", [-32000, -32001, -32042, -32099])
async def test_server_error_of_a_tool_keeps_the_session(
    upstream: Start, proxied: Proxied, code: int
) -> None:
    server = upstream()
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    error = {"code": code, "message": "the printer is off"}
    body = json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error})
    for status in (200, 400):
        server.replies = [Reply(status, body)]
        answer = await fetch(registry)
        assert answer.error == (
            "the tool's server rejected the request: the printer is off"
        )
    assert [method for method, _ in server.requests].count("initialize") == 1


async def test_listed_tools_stay_offered_when_the_session_is_lost(
    upstream: Start, opened: Open
) -> None:
    server = upstream()
    tools = opened(ExternalServer("up", url=server.url))
    assert (await call(tools, "fetch")).result == "hello"
    server.sessions.clear()
    assert (await call(tools, "fetch")).result == "hello"
    assert [tool.name for tool in await tools.list_tools()] == ["fetch"]


async def test_refresh_of_a_list_with_lost_session_opens_a_new_one(
    upstream: Start, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_REFRESH_INTERVAL_S", 0.05)
    monkeypatch.setattr(connection, "_LIST_INTERVAL_S", 0.01)
    server = upstream()
    tools = opened(ExternalServer("up", url=server.url))
    await tools.list_tools()
    server.sessions.clear()
    await until(lambda: len(server.sessions) == 1)
    assert (await call(tools, "fetch")).result == "hello"


@pytest.mark.parametrize("words", [("--sessions",), ()], ids=["2025", "2026"])
async def test_restarted_python_server_answers_the_next_call(
    opened: Open, personal_http: Callable[..., HttpServer], words: tuple[str, ...]
) -> None:
    """The official SDK's server, with sessions (2025-11-25) and without (2026-07-28)."""
    server = personal_http(*words)
    tools = opened(ExternalServer("personal", url=server.url))
    for _ in range(3):
        assert (await call(tools, "lists", action="list_lists")).success
        server.end()
        server.start()


FAILURES = {
    "400": (Reply(400, "no"), "HTTP 400 Bad Request: no"),
    "401": (Reply(401, '{"error": "expired"}'), 'HTTP 401 Unauthorized: {"error": "ex'),
    "403": (
        Reply(403, "", (("WWW-Authenticate", 'Bearer scope="files"'),)),
        'HTTP 403 Forbidden: Bearer scope="files"',
    ),
    "429": (
        Reply(429, "slow down", (("Retry-After", "3"),)),
        "HTTP 429 Too Many Requests: slow down; retry after 3 s",
    ),
    "429 until": (
        Reply(429, "", (("Retry-After", "Sat, 28 Nov 2026 20:00:00 GMT"),)),
        "HTTP 429 Too Many Requests; retry after Sat, 28 Nov 2026 20:00:00 GMT",
    ),
    "429 at once": (
        Reply(429, "", (("Retry-After", ""),)),
        "HTTP 429 Too Many Requests",
    ),
    "500": (Reply(500), "HTTP 500 Internal Server Error"),
    "500 of JSON-RPC": (lost(500, -32603, "boom"), "Internal Server Error: boom"),
    "502": (
        Reply(502, "<h1>nginx</h1>", (("Content-Type", "text/html"),)),
        "HTTP 502 Bad Gateway",
    ),
    "503": (
        lost(503, -32000, "Starting\x1b[2J"),
        "HTTP 503 Service Unavailable: Starting",
    ),
    "529": (Reply(529, "overloaded"), "HTTP 529: overloaded"),
}


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
@pytest.mark.parametrize(("reply", "expected"), FAILURES.values(), ids=FAILURES)
async def test_http_error_is_in_the_response_and_logged_once(
    upstream: Start,
    proxied: Proxied,
    reply: Reply,
    expected: str,
    is_modern: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = upstream(is_modern)
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    server.replies = [reply]
    error = str((await fetch(registry)).error)
    assert error.startswith("the tool's server rejected the request: HTTP ")
    assert expected in error and "\x1b" not in error
    assert ("retry after" in error) == ("retry after" in expected)
    (line,) = warnings(caplog)
    assert line.startswith("the call of fetch failed: HTTP ") and expected in line
    assert "\x1b" not in line
    assert (await fetch(registry)).result == "hello"


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_renewed_token_is_read_after_401(
    upstream: Start,
    proxied: Proxied,
    is_modern: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = upstream(is_modern)
    file = tmp_path / "token"
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    registry = proxied(
        at(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    for token in ("first-token", "second-token", "third-token"):
        file.write_text(f"{token}\n")
        server.token = token
        answers = await asyncio.gather(*(fetch(registry) for _ in range(3)))
        assert [answer.result for answer in answers] == ["hello"] * 3
    # The new token stays: no request is sent twice for it.
    before = len(server.requests)
    await fetch(registry)
    assert server.requests[before:] == [("tools/call", "third-token")]


async def test_expired_token_is_reported_until_it_is_renewed(
    upstream: Start,
    proxied: Proxied,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = upstream()
    server.token = "first-token"
    monkeypatch.setenv("UP_TOKEN", "first-token")
    registry = proxied(
        at(server, headers={"Authorization": "Bearer ${UP_TOKEN:-}"}), "fetch"
    )
    await fetch(registry)
    server.token = "second-token"
    before = len(server.requests)
    answer = await fetch(registry)
    assert answer.error == (
        "the tool's server rejected the request: HTTP 401 Unauthorized: Bearer"
        ' error="invalid_token"'
    )
    assert len(server.requests) == before + 1, "the same token is not sent again"
    assert len(warnings(caplog)) == 1
    monkeypatch.setenv("UP_TOKEN", "second-token")
    assert (await fetch(registry)).result == "hello"


async def test_token_that_is_refused_at_the_start_is_reported_to_callers(
    upstream: Start,
    proxied: Proxied,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = upstream()
    server.token = "right-token"
    monkeypatch.setenv("UP_TOKEN", "wrong-token")
    registry = proxied(
        at(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    answer = await fetch(registry)
    assert answer.error == (
        "the external server `up` of this tool cannot be reached now: HTTP 401"
        ' Unauthorized: Bearer error="invalid_token"'
    )
    assert "not connected: HTTP 401 Unauthorized" in caplog.text
    monkeypatch.setenv("UP_TOKEN", "right-token")
    async with asyncio.timeout(10):
        while not (await fetch(registry)).success:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("content", ["token", "\ufefftoken", " token\r\n", "token\n\n"])
async def test_file_of_a_variable_is_read_without_white_space_and_byte_order_mark(
    upstream: Start,
    proxied: Proxied,
    content: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = upstream()
    server.token = "token"
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8", newline="")
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    headers = {"Authorization": "Bearer ${UP_TOKEN}"}
    assert (await fetch(proxied(at(server, headers=headers), "fetch"))).success


@pytest.mark.parametrize(
    "value", ["secret\nX-Other: 1", "secret\x00", "s\u00e9cret", "\u200bs"]
)
async def test_invalid_header_is_named_and_its_value_is_not_logged(
    upstream: Start,
    proxied: Proxied,
    value: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also after HTTP 401, where the session goes on."""
    server = upstream()
    server.token = "first-token"
    file = tmp_path / "token"
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    registry = proxied(
        at(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    file.write_text("first-token")
    assert (await fetch(registry)).success
    server.token = "second-token"
    file.write_text(value, encoding="utf-8")
    assert "HTTP 401" in str((await fetch(registry)).error)
    file.write_text("second-token")
    assert (await fetch(registry)).success
    file.write_text(value, encoding="utf-8")
    assert not (
        await fetch(proxied(at(server, headers={"X": "a ${UP_TOKEN}"}), "fetch"))
    ).success
    assert (
        "the header X has a line break or a character outside of ASCII" in caplog.text
    )
    assert "secret" not in caplog.text and "s\u00e9cret" not in caplog.text


@pytest.mark.parametrize("content", [None, "", "   \n", "x" * 100_000])
async def test_unreadable_file_of_a_variable_is_named(
    upstream: Start,
    proxied: Proxied,
    content: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    headers = {"Authorization": "Bearer ${UP_TOKEN:-none}"}
    assert not (await fetch(proxied(at(upstream(), headers=headers), "fetch"))).success
    assert "the file that UP_TOKEN_FILE names is empty or cannot be read" in caplog.text


@pytest.mark.parametrize("is_proxied", [True, False], ids=["proxied", "listed"])
async def test_hanging_stdio_server_is_restarted_after_two_timeouts(
    opened: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_proxied: bool,
) -> None:
    monkeypatch.setattr(session, "_PING_TIMEOUT_S", 0.5)
    server = odd("freezing", name="up", is_proxied=is_proxied, call_timeout=0.5)
    tools = opened(server)
    # A call of `echo` may take as long as the start of the server.
    timeouts = {"echo": 10, "freeze": 0.5} if is_proxied else {"own": 0.5}
    specs = [definition(n, proxy="up", timeout=t) for n, t in timeouts.items()]
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    for _ in range(2):
        assert "0.5 s" in str((await registry.call_tool("freeze", {})).error)
    await until(lambda: "2 calls and a ping got no answer" in caplog.text)
    async with asyncio.timeout(15):
        while (await registry.call_tool("echo", {"text": "b"})).result != "b":
            await asyncio.sleep(0.05)
    assert caplog.text.count("it is restarted") == 1


FREEZES = {
    "asleep": "newest",
    "stopped": "well",
    "deaf": "newest",
    "with a child": "well",
    "half a line": "newest",
    "noisy": "well",
    "busy": "newest",
}


@pytest.mark.slow
@pytest.mark.parametrize(("how", "mode"), FREEZES.items(), ids=FREEZES)
async def test_server_is_restarted_however_often_and_in_whatever_way_it_hangs(
    opened: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    how: str,
    mode: str,
) -> None:
    """The calls come at once or one by one, and may be too long for the server's pipe."""
    monkeypatch.setattr(session, "_PING_TIMEOUT_S", 0.5)
    tools = opened(odd(mode, name="up", is_proxied=True))
    timeouts = {"answer": 20, "freeze": 0.5, "echo": 0.5}
    specs = [definition(n, proxy="up", timeout=t) for n, t in timeouts.items()]
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])

    def has_restarted(times: int) -> bool:
        return caplog.text.count("it is restarted") == times

    content = [{"type": "text", "text": "a"}]
    result = {"resultType": "complete", "content": content}
    for number in (1, 2):
        answer = await registry.call_tool("answer", {"result": result})
        assert answer.result == "a"
        calls = [
            ("freeze", how),
            *[("echo", "x" * 300_000)] * (3 if number == 1 else 1),
        ]
        pending = [registry.call_tool(name, {"text": text}) for name, text in calls]
        if number == 1:
            failed = await asyncio.gather(*pending)
        else:
            failed = [await call for call in pending]
        assert not any(answer.success for answer in failed)
        await until(partial(has_restarted, number))
    async with asyncio.timeout(20):
        while not (await registry.call_tool("answer", {"result": result})).success:
            await asyncio.sleep(0.05)


async def test_server_that_answers_pings_is_not_restarted(
    opened: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Only one tool hangs; the server does not even know `ping`."""
    # The other calls may take as long as the start of the server.
    specs = [definition("hang", proxy="up", timeout=0.3)]
    specs += [definition(name, proxy="up", timeout=10) for name in ("echo", "secret")]
    tools = opened(odd("well", name="up", is_proxied=True))
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    first = (await registry.call_tool("secret", {})).success
    await asyncio.gather(*(registry.call_tool("hang", {}) for _ in range(6)))
    assert first and (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "restarted" not in caplog.text and "not connected" not in caplog.text


async def test_stdio_server_error_32000_keeps_the_connection(
    opened: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The SDK uses this code for a closed connection, and servers for errors of their own."""
    specs = [definition(n, proxy="up") for n in ("answer", "echo")]
    tools = opened(odd("well", name="up", is_proxied=True))
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    error = {"error": {"code": -32000, "message": "the printer is off"}}
    answer = await registry.call_tool("answer", error)
    assert answer.error == "the tool's server rejected the request: the printer is off"
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "not connected" not in caplog.text
