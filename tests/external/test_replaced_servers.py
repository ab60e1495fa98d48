"""Servers that restart with another protocol version or lose a session during a call."""

from __future__ import annotations

import json

import pytest

from tests.external.servers.upstream import Reply
from tests.external.test_recovery import (
    LOST_SESSION_REPLIES,
    Make,
    Start,
    fetch,
    proxy,
    read_warnings,
    settings,
    start_upstream,
)

__all__ = ["proxy", "start_upstream"]


@pytest.mark.rows(4)
@pytest.mark.parametrize(
    "reply", LOST_SESSION_REPLIES.values(), ids=LOST_SESSION_REPLIES
)
@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_call_succeeds_after_server_restarts_with_another_mcp_version(
    start_upstream: Start,
    proxy: Make,
    is_modern: bool,
    reply: Reply,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = start_upstream(is_modern)
    server.unknown_session = reply
    registry = proxy(settings(server), "fetch")
    for is_modern_now in (is_modern, not is_modern, is_modern):
        server.is_modern = is_modern_now
        server.sessions.clear()
        assert (await fetch(registry)).result == "hello"
    assert (server.calls, read_warnings(caplog)) == (3, [])


@pytest.mark.parametrize("code", [-32602, -32603, -32020, -32042])
async def test_tool_error_from_stateless_mcp_server_does_not_repeat_server_discover(
    start_upstream: Start, proxy: Make, code: int
) -> None:
    """MCP 2026-07-28 sends ordinary errors with the HTTP status 400 or 404."""
    server = start_upstream(is_modern=True)
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    error = {"code": code, "message": "no such printer"}
    body = json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error})
    for status in (400, 404):
        server.replies = [Reply(status, body)] * 2
        assert "no such printer" in str((await fetch(registry)).error)
        server.replies.clear()
    assert [method for method, _ in server.requests].count("server/discover") == 1


@pytest.mark.parametrize("stream", [": hi\n\n", "id: 1\nretry: 1\ndata:\n\n", ""])
async def test_mcp_session_lost_during_a_call_is_replaced_without_repeating_the_call(
    start_upstream: Start, proxy: Make, stream: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The call may have run already."""
    server = start_upstream()
    registry = proxy(settings(server), "fetch")
    await fetch(registry)
    server.ends_sessions = True
    server.replies = [Reply(200, stream, (("Content-Type", "text/event-stream"),))]
    assert "SSE stream ended" in str((await fetch(registry)).error)
    assert (await fetch(registry)).result == "hello"
    assert (server.calls, read_warnings(caplog)) == (2, [])
