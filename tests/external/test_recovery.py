"""Recovery of connections after HTTP errors, lost sessions and expired tokens."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import WAIT_TIMEOUT_S, Open, call_tool
from tests.external.servers.http_servers import PersonalServer
from tests.external.servers.upstream import Reply, Upstream, make_session_error
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry, ToolResponse
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import connection
from toolcast_runtime.external.connection_states import TRANSITIONS, Event, State

Start = Callable[..., Upstream]
Make = Callable[..., Registry]


@pytest.fixture
def start_upstream() -> Iterator[Start]:
    """Return a function that starts an `Upstream`, stopped after the test."""
    started: list[Upstream] = []

    def start(is_modern: bool = False) -> Upstream:
        started.append(Upstream(is_modern))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def proxy(open_tools: Open, tmp_path: Path) -> Make:
    """Return a function that creates a registry of proxied tools of a server `up`."""

    def make(server: ExternalServer, *names: str) -> Registry:
        specs = [definition(name, proxy="up", timeout=10) for name in names]
        return Registry(
            Package(tmp_path, *specs).load(), providers=[open_tools(server)]
        )

    return make


def settings(server: Upstream | PersonalServer, **options: Any) -> ExternalServer:
    return ExternalServer("up", url=server.url, is_proxied=True, **options)


async def fetch(registry: Registry) -> ToolResponse:
    return await registry.call_tool("fetch", {})


def read_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings, without those about servers of other tests.

    The background loop, which all connections of the process share, may still retry them.
    """
    messages = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    return [
        message.removeprefix("external server up: ")
        for message in messages
        if message.startswith("external server up: ")
        or not message.startswith("external server ")
    ]


def test_every_server_connection_state_is_reachable_and_can_be_closed() -> None:
    """Each state can fail, too; closing returns to the state `NEW`."""
    assert {state for state, _ in TRANSITIONS} == set(TRANSITIONS.values()) == {*State}
    for state in State:
        assert TRANSITIONS[state, Event.CLOSED] is State.NEW
        assert any(event is Event.FAILED for s, event in TRANSITIONS if s is state)


LOST_SESSION_REPLIES = (
    make_session_error(404),
    make_session_error(404, -32600),
    Reply(404),
    Reply(404, "Unknown session", (("Content-Type", "text/plain"),)),
    Reply(404, "<h1>no</h1>", (("Content-Type", "text/html"),)),
    make_session_error(404, -32601, "Method not found"),
    make_session_error(400, -32000, "Bad Request: No valid session ID provided"),
    Reply(400, "Bad Request: No valid session ID provided"),
    make_session_error(400, -32000, "Bad Request: Server not initialized"),
)


async def test_call_that_fails_with_lost_mcp_session_is_repeated_in_a_new_session(
    start_upstream: Start, proxy: Make, caplog: pytest.LogCaptureFixture
) -> None:
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    for reply in LOST_SESSION_REPLIES:
        server.unknown_session = reply
        for expected_calls in (server.calls + 1, server.calls + 2):
            server.sessions.clear()
            assert (await fetch(registry)).result == "hello", reply
            assert server.calls == expected_calls
    assert read_warnings(caplog) == []


async def test_call_succeeds_after_server_restarts_with_another_mcp_version(
    start_upstream: Start, proxy: Make, caplog: pytest.LogCaptureFixture
) -> None:
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    for reply in LOST_SESSION_REPLIES:
        server.unknown_session = reply
        for is_modern in (True, False):
            server.is_modern = is_modern
            server.sessions.clear()
            assert (await fetch(registry)).result == "hello", reply
    calls = 1 + 2 * len(LOST_SESSION_REPLIES)
    assert (server.calls, read_warnings(caplog)) == (calls, [])


async def test_mcp_session_lost_at_status_200_is_replaced_without_repeating_the_call(
    start_upstream: Start, proxy: Make
) -> None:
    """Only an HTTP error status shows that the call did not run."""
    server = start_upstream()
    server.unknown_session = make_session_error(200)
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    server.sessions.clear()
    assert "Session not found" in str((await fetch(registry)).error)
    assert (await fetch(registry)).result == "hello"


async def test_parallel_calls_with_lost_mcp_session_share_one_new_session(
    start_upstream: Start, proxy: Make
) -> None:
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    server.sessions.clear()
    answers = await asyncio.gather(*(fetch(registry) for _ in range(10)))
    assert [answer.result for answer in answers] == ["hello"] * 10
    assert [method for method, _ in server.requests].count("initialize") == 2


async def test_call_with_lost_mcp_session_is_repeated_only_once(
    start_upstream: Start, proxy: Make
) -> None:
    """A load balancer that sends each request to another server loses every session."""
    server = start_upstream()
    server.replies = [make_session_error(404)] * 99
    answer = await fetch(proxy(settings(server), "fetch"))
    assert answer.error == "the tool's server rejected the request: Session not found"
    assert [method for method, _ in server.requests].count("tools/call") == 2


def make_tool_error(status: int, code: int) -> Reply:
    error = {"code": code, "message": "the printer is off"}
    return Reply(status, json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error}))


async def test_tool_error_with_a_server_error_code_keeps_the_mcp_session(
    start_upstream: Start, proxy: Make
) -> None:
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    for code in (-32000, -32001, -32042, -32099):
        for status in (200, 400):
            server.replies = [make_tool_error(status, code)]
            assert (await fetch(registry)).error == (
                "the tool's server rejected the request: the printer is off"
            )
    assert [method for method, _ in server.requests].count("initialize") == 1


async def test_tool_error_from_stateless_mcp_server_does_not_repeat_server_discover(
    start_upstream: Start, proxy: Make
) -> None:
    """MCP 2026-07-28 sends ordinary errors with the HTTP status 400 or 404."""
    server = start_upstream(is_modern=True)
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    for code in (-32602, -32603, -32020, -32042):
        for status in (400, 404):
            server.replies = [make_tool_error(status, code)] * 2
            assert "the printer is off" in str((await fetch(registry)).error)
    assert [method for method, _ in server.requests].count("server/discover") == 1


async def test_mcp_session_lost_during_a_call_is_replaced_without_repeating_the_call(
    start_upstream: Start, proxy: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """The call may have run already."""
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    server.ends_sessions = True
    for stream in (": hi\n\n", "id: 1\nretry: 1\ndata:\n\n", ""):
        server.replies = [Reply(200, stream, (("Content-Type", "text/event-stream"),))]
        assert "SSE stream ended" in str((await fetch(registry)).error)
        assert (await fetch(registry)).result == "hello"
    assert (server.calls, read_warnings(caplog)) == (4, [])


async def test_external_tools_stay_offered_when_the_mcp_session_is_lost(
    start_upstream: Start, open_tools: Open
) -> None:
    server = start_upstream()
    tools = open_tools(ExternalServer("up", url=server.url))
    assert (await call_tool(tools, "fetch")).result == "hello"
    server.sessions.clear()
    assert (await call_tool(tools, "fetch")).result == "hello"
    assert [tool.name for tool in await tools.list_tools()] == ["fetch"]


async def test_tool_list_refresh_opens_a_new_session_only_if_the_session_is_lost(
    start_upstream: Start,
    open_tools: Open,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After another error, the tools are not offered until a later attempt succeeds."""
    monkeypatch.setattr(connection, "_REFRESH_INTERVAL_S", 0.05)
    monkeypatch.setattr(connection, "_LIST_INTERVAL_S", 0.01)
    server = start_upstream()
    tools = open_tools(ExternalServer("up", url=server.url))
    await tools.list_tools()
    server.sessions.clear()
    await wait_until_async(lambda: len(server.sessions) == 1)
    assert (await call_tool(tools, "fetch")).result == "hello"
    server.token = "new-token"
    await wait_until_async(lambda: tools.get_server_states() == {"up": "down"})
    assert read_warnings(caplog)[0].startswith(
        "not connected: the tool's server rejected the request: HTTP 401 Unauthorized"
    )


@pytest.mark.rows(1)
@pytest.mark.parametrize("args", [("--sessions",), ()], ids=["2025", "2026"])
async def test_restarted_mcp_sdk_server_answers_the_next_call(
    open_tools: Open,
    start_personal_server: Callable[..., PersonalServer],
    args: tuple[str, ...],
) -> None:
    """The official SDK's server, with sessions (2025-11-25) and without (2026-07-28)."""
    server = start_personal_server(*args)
    tools = open_tools(ExternalServer("personal", url=server.url))
    assert (await call_tool(tools, "lists", action="list_lists")).success
    for _ in range(2):
        server.stop()
        server.start()
        assert (await call_tool(tools, "lists", action="list_lists")).success


HTTP_ERRORS = (
    (
        Reply(302, "", (("Location", "https://login.example/?a=1"),)),
        "HTTP 302 Found: redirect to https://login.example/?a=1",
    ),
    (
        Reply(307, "moved", (("Location", "http://127.0.0.1:9/mcp"),)),
        "HTTP 307 Temporary Redirect: redirect to http://127.0.0.1:9/mcp",
    ),
    (Reply(400, "no"), "HTTP 400 Bad Request: no"),
    (Reply(401, '{"error": "expired"}'), 'HTTP 401 Unauthorized: {"error": "ex'),
    (
        Reply(403, "", (("WWW-Authenticate", 'Bearer scope="files"'),)),
        'HTTP 403 Forbidden: Bearer scope="files"',
    ),
    (
        Reply(429, "slow down", (("Retry-After", "3"),)),
        "HTTP 429 Too Many Requests: slow down; retry after 3 s",
    ),
    (
        Reply(429, "", (("Retry-After", "Sat, 28 Nov 2026 20:00:00 GMT"),)),
        "HTTP 429 Too Many Requests; retry after Sat, 28 Nov 2026 20:00:00 GMT",
    ),
    (Reply(429, "", (("Retry-After", ""),)), "HTTP 429 Too Many Requests"),
    (Reply(500), "HTTP 500 Internal Server Error"),
    (make_session_error(500, -32603, "boom"), "Internal Server Error: boom"),
    (
        Reply(502, "<h1>nginx</h1>", (("Content-Type", "text/html"),)),
        "HTTP 502 Bad Gateway",
    ),
    (
        make_session_error(503, -32000, "Starting\x1b[2J"),
        "HTTP 503 Service Unavailable: Starting",
    ),
    (Reply(529, "overloaded"), "HTTP 529: overloaded"),
)


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_external_server_http_error_is_returned_and_logged_once(
    start_upstream: Start,
    proxy: Make,
    is_modern: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = start_upstream(is_modern)
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    for reply, expected in HTTP_ERRORS:
        caplog.clear()
        server.replies = [reply]
        error = str((await fetch(registry)).error)
        assert error.startswith("the tool's server rejected the request: HTTP ")
        assert expected in error and "\x1b" not in error
        assert ("retry after" in error) == ("retry after" in expected)
        (line,) = read_warnings(caplog)
        assert line.startswith("the call of fetch failed: HTTP ") and expected in line
        assert "\x1b" not in line
        assert (await fetch(registry)).result == "hello"


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_external_server_token_file_is_read_again_after_http_401(
    start_upstream: Start,
    proxy: Make,
    is_modern: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = start_upstream(is_modern)
    file = tmp_path / "token"
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    registry = proxy(
        settings(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    for token in ("first-token", "second-token", "third-token"):
        file.write_text(f"{token}\n")
        server.token = token
        answers = await asyncio.gather(*(fetch(registry) for _ in range(3)))
        assert [answer.result for answer in answers] == ["hello"] * 3
    # The new token is kept: the next call needs one request only.
    before = len(server.requests)
    await fetch(registry)
    assert server.requests[before:] == [("tools/call", "third-token")]


async def test_expired_token_for_external_server_is_reported_until_it_is_renewed(
    start_upstream: Start,
    proxy: Make,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = start_upstream()
    server.token = "first-token"
    monkeypatch.setenv("UP_TOKEN", "first-token")
    registry = proxy(
        settings(server, headers={"Authorization": "Bearer ${UP_TOKEN:-}"}), "fetch"
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
    assert len(read_warnings(caplog)) == 1
    monkeypatch.setenv("UP_TOKEN", "second-token")
    assert (await fetch(registry)).result == "hello"


async def test_external_server_token_refused_on_connection_is_reported_to_callers(
    start_upstream: Start,
    proxy: Make,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = start_upstream()
    server.token = "right-token"
    monkeypatch.setenv("UP_TOKEN", "wrong-token")
    registry = proxy(
        settings(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    answer = await fetch(registry)
    assert answer.error == (
        "the external server `up` of this tool cannot be reached now: HTTP 401"
        ' Unauthorized: Bearer error="invalid_token"'
    )
    assert "not connected: HTTP 401 Unauthorized" in caplog.text
    monkeypatch.setenv("UP_TOKEN", "right-token")
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while not (await fetch(registry)).success:
            await asyncio.sleep(0.1)


async def test_invalid_header_after_http_401_is_logged_without_its_value(
    start_upstream: Start,
    proxy: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also when the session is kept."""
    server = start_upstream()
    server.token = "first-token"
    file = tmp_path / "token"
    monkeypatch.setenv("UP_TOKEN_FILE", str(file))
    registry = proxy(
        settings(server, headers={"Authorization": "Bearer ${UP_TOKEN}"}), "fetch"
    )
    file.write_text("first-token")
    assert (await fetch(registry)).success
    server.token = "second-token"
    file.write_text("secret\nX-Other: 1")
    assert "HTTP 401" in str((await fetch(registry)).error)
    file.write_text("second-token")
    assert (await fetch(registry)).success
    file.write_text("secret\nX-Other: 1")
    other_registry = proxy(settings(server, headers={"X": "a ${UP_TOKEN}"}), "fetch")
    assert not (await fetch(other_registry)).success
    assert (
        "the header X has a line break or a character outside of ASCII" in caplog.text
    )
    assert "secret" not in caplog.text
