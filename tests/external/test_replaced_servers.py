"""A server that restarts with another protocol version, or loses its session during a call."""

from __future__ import annotations

import json

import pytest

from tests.external.servers.upstream import Reply
from tests.external.test_recovery import (
    LOST,
    Proxied,
    Start,
    at,
    fetch,
    proxied,
    upstream,
    warnings,
)

__all__ = ["proxied", "upstream"]


@pytest.mark.parametrize("reply", LOST.values(), ids=LOST)
@pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])
async def test_server_that_restarts_with_another_protocol_version_is_called(
    upstream: Start,
    proxied: Proxied,
    is_modern: bool,
    reply: Reply,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = upstream(is_modern)
    server.unknown_session = reply
    registry = proxied(at(server), "fetch")
    for is_modern_now in (is_modern, not is_modern, is_modern):
        server.is_modern = is_modern_now
        server.sessions.clear()
        assert (await fetch(registry)).result == "hello"
    assert (server.calls, warnings(caplog)) == (3, [])


@pytest.mark.parametrize("code", [-32602, -32603, -32020, -32042])
async def test_error_of_a_stateless_server_is_not_a_lost_version(
    upstream: Start, proxied: Proxied, code: int
) -> None:
    """MCP 2026-07-28 sends ordinary errors with the HTTP status 400 or 404."""
    server = upstream(is_modern=True)
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    error = {"code": code, "message": "no such printer"}
    body = json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error})
    for status in (400, 404):
        server.replies = [Reply(status, body)] * 2
        assert "no such printer" in str((await fetch(registry)).error)
        server.replies.clear()
    assert [method for method, _ in server.requests].count("server/discover") == 1


@pytest.mark.parametrize("stream", [": hi\n\n", "id: 1\nretry: 1\ndata:\n\n", ""])
async def test_session_that_is_lost_during_a_call_is_replaced_without_a_delay(
    upstream: Start, proxied: Proxied, stream: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The call may have run, so that it is not repeated."""
    server = upstream()
    registry = proxied(at(server), "fetch")
    await fetch(registry)
    server.ends_sessions = True
    server.replies = [Reply(200, stream, (("Content-Type", "text/event-stream"),))]
    assert "SSE stream ended" in str((await fetch(registry)).error)
    assert (await fetch(registry)).result == "hello"
    assert (server.calls, warnings(caplog)) == (2, [])
