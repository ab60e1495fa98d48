"""Recovery of connections after HTTP errors, lost sessions and expired tokens."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

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

StartServer = Callable[..., PersonalServer]
Fetch = Callable[[], Awaitable[ToolResponse]]


@pytest.fixture
def server() -> Iterator[Upstream]:
    """Run an upstream server, by default of MCP 2025-11-25."""
    upstream = Upstream()
    yield upstream
    upstream.stop()


@pytest.fixture
def make_fetch(
    server: Upstream, open_tools: Open, tmp_path: Path
) -> Callable[..., Fetch]:
    """Return a function that creates a registry and returns the call of its tool.

    The tool `fetch` is proxied to the server `up`, which gets these headers.
    """

    def make(**headers: str) -> Fetch:
        settings = {"url": server.url, "headers": headers}
        tools = open_tools(ExternalServer("up", is_proxied=True, **settings))
        spec = definition("fetch", proxy="up", timeout=10)
        registry = Registry(Package(tmp_path, spec).load(), providers=[tools])
        return lambda: registry.call_tool("fetch", {})

    return make


@pytest.fixture
def fetch(make_fetch: Callable[..., Fetch]) -> Fetch:
    """Return a function that calls the tool `fetch` with the token in UP_TOKEN."""
    return make_fetch(Authorization="Bearer ${UP_TOKEN:-}")


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
    server: Upstream, fetch: Fetch, caplog: pytest.LogCaptureFixture
) -> None:
    await fetch()
    for reply in LOST_SESSION_REPLIES:
        server.unknown_session = reply
        for expected_calls in (server.calls + 1, server.calls + 2):
            server.sessions.clear()
            assert (await fetch()).result == "hello", reply
            assert server.calls == expected_calls
    assert read_warnings(caplog) == []


async def test_call_succeeds_after_server_restarts_with_another_mcp_version(
    server: Upstream,
    make_fetch: Callable[..., Fetch],
    caplog: pytest.LogCaptureFixture,
) -> None:
    starts = [(reply, True) for reply in LOST_SESSION_REPLIES]
    starts.append((LOST_SESSION_REPLIES[0], False))
    for reply, is_modern in starts:
        server.unknown_session = reply
        fetch = make_fetch()
        for is_modern_now in (is_modern, not is_modern, is_modern):
            server.is_modern = is_modern_now
            server.sessions.clear()
            assert (await fetch()).result == "hello", reply
    assert (server.calls, read_warnings(caplog)) == (3 * len(starts), [])


async def test_mcp_session_lost_at_status_200_is_replaced_without_repeating_the_call(
    server: Upstream, fetch: Fetch
) -> None:
    """Only an HTTP error status shows that the call did not run."""
    server.unknown_session = make_session_error(200)
    await fetch()
    server.sessions.clear()
    assert "Session not found" in str((await fetch()).error)
    assert (await fetch()).result == "hello"


async def test_parallel_calls_with_lost_mcp_session_share_one_new_session(
    server: Upstream, fetch: Fetch
) -> None:
    await fetch()
    server.sessions.clear()
    answers = await asyncio.gather(*(fetch() for _ in range(10)))
    assert [answer.result for answer in answers] == ["hello"] * 10
    assert [method for method, _ in server.requests].count("initialize") == 2


async def test_call_with_lost_mcp_session_is_repeated_only_once(
    server: Upstream, fetch: Fetch
) -> None:
    """A load balancer that sends each request to another server loses every session."""
    server.replies = [make_session_error(404)] * 99
    answer = await fetch()
    assert answer.error == "the tool's server rejected the request: Session not found"
    assert [method for method, _ in server.requests].count("tools/call") == 2


def make_tool_error(status: int, code: int) -> Reply:
    error = {"code": code, "message": "the printer is off"}
    return Reply(status, json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error}))


async def test_tool_error_with_a_server_error_code_keeps_the_mcp_session(
    server: Upstream, fetch: Fetch
) -> None:
    await fetch()
    for code in (-32000, -32001, -32042, -32099):
        for status in (200, 400):
            server.replies = [make_tool_error(status, code)]
            assert (await fetch()).error == (
                "the tool's server rejected the request: the printer is off"
            )
    assert [method for method, _ in server.requests].count("initialize") == 1


async def test_tool_error_from_stateless_mcp_server_does_not_repeat_server_discover(
    server: Upstream, fetch: Fetch
) -> None:
    """MCP 2026-07-28 sends ordinary errors with the HTTP status 400 or 404."""
    server.is_modern = True
    await fetch()
    for code in (-32602, -32603, -32020, -32042):
        for status in (400, 404):
            server.replies = [make_tool_error(status, code)] * 2
            assert "the printer is off" in str((await fetch()).error)
    assert [method for method, _ in server.requests].count("server/discover") == 1


async def test_mcp_session_lost_during_a_call_is_replaced_without_repeating_the_call(
    server: Upstream, fetch: Fetch, caplog: pytest.LogCaptureFixture
) -> None:
    """The call may have run already."""
    await fetch()
    server.ends_sessions = True
    for stream in (": hi\n\n", "id: 1\nretry: 1\ndata:\n\n", ""):
        server.replies = [Reply(200, stream, (("Content-Type", "text/event-stream"),))]
        assert "SSE stream ended" in str((await fetch()).error)
        assert (await fetch()).result == "hello"
    assert (server.calls, read_warnings(caplog)) == (4, [])


async def test_external_tools_stay_offered_when_the_mcp_session_is_lost(
    server: Upstream, open_tools: Open
) -> None:
    tools = open_tools(ExternalServer("up", url=server.url))
    assert (await call_tool(tools, "fetch")).result == "hello"
    server.sessions.clear()
    assert (await call_tool(tools, "fetch")).result == "hello"
    assert [tool.name for tool in await tools.list_tools()] == ["fetch"]


async def test_tool_list_refresh_opens_a_new_session_only_if_the_session_is_lost(
    server: Upstream,
    open_tools: Open,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After another error, the tools are not offered until a later attempt succeeds."""
    monkeypatch.setattr(connection, "_REFRESH_INTERVAL_S", 0.05)
    monkeypatch.setattr(connection, "_LIST_INTERVAL_S", 0.01)
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
    open_tools: Open, start_personal_server: StartServer, args: tuple[str, ...]
) -> None:
    """The official SDK's server, with sessions (2025-11-25) and without (2026-07-28)."""
    server = start_personal_server(*args)
    tools = open_tools(ExternalServer("personal", url=server.url))
    assert (await call_tool(tools, "lists", action="list_lists")).success
    server.stop()
    server.start()
    assert (await call_tool(tools, "lists", action="list_lists")).success


BUSY = "429 Too Many Requests"
URL, DATE = "https://login.example/?a=1", "Sat, 28 Nov 2026 20:00:00 GMT"
HTTP_ERRORS = (
    (Reply(302, "", (("Location", URL),)), f"302 Found: redirect to {URL}"),
    (
        Reply(307, "x", (("Location", URL),)),
        f"307 Temporary Redirect: redirect to {URL}",
    ),
    (Reply(400, "no"), "400 Bad Request: no"),
    (Reply(401, '{"error": "expired"}'), '401 Unauthorized: {"error": "ex'),
    (Reply(403, "", (("WWW-Authenticate", "Bearer a"),)), "403 Forbidden: Bearer a"),
    (Reply(429, "slow", (("Retry-After", "3"),)), f"{BUSY}: slow; retry after 3 s"),
    (Reply(429, "", (("Retry-After", DATE),)), f"{BUSY}; retry after {DATE}"),
    (Reply(429, "", (("Retry-After", ""),)), BUSY),
    (Reply(500), "500 Internal Server Error"),
    (make_session_error(500, -32603, "boom"), "500 Internal Server Error: boom"),
    (Reply(502, "<h1>no</h1>", (("Content-Type", "text/html"),)), "502 Bad Gateway"),
    (make_session_error(503, 1, "Start\x1b[2J"), "503 Service Unavailable: Start"),
    (Reply(529, "overloaded"), "529: overloaded"),
)


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_external_server_http_error_is_returned_and_logged_once(
    server: Upstream, fetch: Fetch, is_modern: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server.is_modern = is_modern
    await fetch()
    for reply, expected in HTTP_ERRORS:
        caplog.clear()
        server.replies = [reply]
        error = str((await fetch()).error)
        assert error.startswith("the tool's server rejected the request: HTTP ")
        assert f"HTTP {expected}" in error and "\x1b" not in error
        assert ("retry after" in error) == ("retry after" in expected)
        (line,) = read_warnings(caplog)
        assert line.startswith("the call of fetch failed: HTTP ") and expected in line
        assert "\x1b" not in line
        assert (await fetch()).result == "hello"


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the file with the token that `fetch` sends."""
    monkeypatch.setenv("UP_TOKEN_FILE", str(tmp_path / "token"))
    return tmp_path / "token"


@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_external_server_token_file_is_read_again_after_http_401(
    server: Upstream, fetch: Fetch, is_modern: bool, token_file: Path
) -> None:
    server.is_modern = is_modern
    for token in ("first-token", "second-token", "third-token"):
        token_file.write_text(f"{token}\n")
        server.token = token
        answers = await asyncio.gather(*(fetch() for _ in range(3)))
        assert [answer.result for answer in answers] == ["hello"] * 3
    # The new token is kept: the next call needs one request only.
    before = len(server.requests)
    await fetch()
    assert server.requests[before:] == [("tools/call", "third-token")]


UNAUTHORIZED = 'HTTP 401 Unauthorized: Bearer error="invalid_token"'


async def test_expired_token_for_external_server_is_reported_until_it_is_renewed(
    server: Upstream, fetch: Fetch, token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.token = "first-token"
    token_file.write_text("first-token")
    await fetch()
    server.token = "second-token"
    before = len(server.requests)
    error = (await fetch()).error
    assert error == f"the tool's server rejected the request: {UNAUTHORIZED}"
    assert len(server.requests) == before + 1, "the same token is not sent again"
    assert len(read_warnings(caplog)) == 1
    token_file.write_text("second-token")
    assert (await fetch()).result == "hello"


async def test_external_server_token_refused_on_connection_is_reported_to_callers(
    server: Upstream, fetch: Fetch, token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.token = "right-token"
    token_file.write_text("wrong-token")
    unreachable = "the external server `up` of this tool cannot be reached now"
    assert (await fetch()).error == f"{unreachable}: {UNAUTHORIZED}"
    assert "not connected: HTTP 401 Unauthorized" in caplog.text
    token_file.write_text("right-token")
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while not (await fetch()).success:
            await asyncio.sleep(0.1)


async def test_invalid_header_after_http_401_is_logged_without_its_value(
    server: Upstream,
    make_fetch: Callable[..., Fetch],
    token_file: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also when the session is kept."""
    fetch = make_fetch(Authorization="Bearer ${UP_TOKEN}")
    server.token = "first-token"
    token_file.write_text("first-token")
    assert (await fetch()).success
    server.token = "second-token"
    token_file.write_text("secret\nX-Other: 1")
    assert "HTTP 401" in str((await fetch()).error)
    token_file.write_text("second-token")
    assert (await fetch()).success
    token_file.write_text("secret\nX-Other: 1")
    assert not (await make_fetch(X="a ${UP_TOKEN}")()).success
    assert (
        "the header X has a line break or a character outside of ASCII" in caplog.text
    )
    assert "secret" not in caplog.text
