"""Log messages of handlers that the official client receives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast
from unittest.mock import AsyncMock

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.session import ServerSession

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, current_call
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.mcp import McpServer, client_request
from toolcast_runtime.mcp.client_request import MAX_BURST, MAX_CHARACTERS, McpRequest

MODULE = "tests.served.test_log_messages"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert"]
Mode = Literal["auto", "legacy"]
MODES: list[Mode] = ["auto", "legacy"]


async def each_level(levels: list[str]) -> str:
    for level in levels:
        current_call().log(level, f"at {level}")  # type: ignore[arg-type]
    return "done"


def from_thread() -> str:
    call = current_call()
    call.log("info", "worker")
    thread = threading.Thread(target=call.log, args=("info", "thread"))
    thread.start()
    thread.join()
    return "done"


async def many(count: int) -> str:
    call = current_call()
    for number in range(count):
        call.log("info", f"message {number}")
    await call.request.flush()  # type: ignore[union-attr]
    return "done"


async def odd(text: str, size: int) -> str:
    call = current_call()
    call.log("error", text * size)
    call.request.send_log("error", {"text": text * size})  # type: ignore[union-attr]
    return "done"


async def failing() -> str:
    current_call().log("warning", "before")
    raise ValueError("no")


async def wrong(level: str) -> str:
    for arguments in ((level, "text"), ("info", 3)):
        try:
            current_call().log(*arguments)  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            message = str(error)
            if arguments[0] == level:
                first = message
    return f"{first}; {message}"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    properties = {name: {} for name in ("levels", "count", "text", "size", "level")}
    schema = {"type": "object", "properties": properties}
    definitions = []
    for name in ("each_level", "from_thread", "many", "odd", "failing", "wrong"):
        mcp = {"name": name, "inputSchema": schema}
        definitions.append(definition(name, handler=f"{MODULE}:{name}", mcp=mcp))
    yield Registry(Package(tmp_path, *definitions).load(), handlers=MODULE)


async def call_logged(
    registry: Registry,
    mode: Mode,
    tool: str,
    arguments: dict[str, Any] | None = None,
    level: types.LoggingLevel | None = "debug",
) -> tuple[types.CallToolResult, list[tuple[str, Any]]]:
    """Return the result of a call, and the messages that the client got before it."""
    messages: list[tuple[str, Any]] = []

    async def receive(params: types.LoggingMessageNotificationParams) -> None:
        messages.append((params.level, params.data))

    server = McpServer(registry, name="demo").build()
    log_level = level if mode == "auto" else None
    async with Client(
        server, mode=mode, logging_callback=receive, log_level=log_level
    ) as client:
        if mode == "legacy" and level is not None:
            with pytest.warns(match="logging capability"):
                await client.set_logging_level(level)
        result = await client.call_tool(tool, arguments or {})
        return result, list(messages)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", ["debug", "warning", "emergency"])
async def test_handler_log_sends_mcp_messages_from_the_clients_level_upward(
    registry: Registry, mode: Mode, level: types.LoggingLevel
) -> None:
    arguments = {"levels": LEVELS}
    _, messages = await call_logged(registry, mode, "each_level", arguments, level)
    expected = LEVELS[LEVELS.index(level) :] if level in LEVELS else []
    assert messages == [(name, f"at {name}") for name in expected]


async def test_handler_log_to_a_client_without_a_level_depends_on_the_mcp_version(
    registry: Registry,
) -> None:
    """Up to 2025-11-25 all messages are sent; 2026-07-28 forbids them."""
    arguments = {"levels": ["debug"]}
    _, sent = await call_logged(registry, "legacy", "each_level", arguments, None)
    assert sent == [("debug", "at debug")]
    _, sent = await call_logged(registry, "auto", "each_level", arguments, None)
    assert sent == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("from_thread", [("info", "worker"), ("info", "thread")]),
        ("failing", [("warning", "before")]),
    ],
)
async def test_log_messages_from_threads_and_before_a_failure_reach_the_mcp_client(
    registry: Registry, mode: Mode, tool: str, expected: list[tuple[str, str]]
) -> None:
    result, messages = await call_logged(registry, mode, tool)
    assert (messages, result.is_error) == (expected, tool == "failing")


@pytest.mark.parametrize("mode", MODES)
async def test_handler_log_messages_above_the_burst_limit_are_dropped_with_a_warning(
    registry: Registry, mode: Mode
) -> None:
    arguments = {"count": MAX_BURST + 1000}
    _, messages = await call_logged(registry, mode, "many", arguments)
    assert MAX_BURST <= len(messages) <= MAX_BURST + 100
    assert messages[0] == ("info", "message 0")
    assert messages[-1][0] == "warning"
    assert "log messages were dropped" in messages[-1][1]


def make_request(session: Any) -> McpRequest:
    """Return a request of a client whose session sends its log messages."""
    session._connection.state = {}
    context: Any = SimpleNamespace(
        protocol_version="2025-11-25", meta=None, request_id=1, session=session
    )
    return McpRequest(context, cast(Any, None))


async def test_log_messages_to_a_client_that_does_not_read_are_dropped_at_the_call_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_request, "_SEND_TIMEOUT_S", 0.01)
    session = AsyncMock()
    session.send_notification = lambda *_, **__: asyncio.Event().wait()
    request = make_request(session)
    request.send_log("info", "unread")
    await request.end()
    assert request._sender is not None
    await asyncio.wait({request._sender}, timeout=5)
    assert request._sender.cancelled()


async def test_log_messages_after_a_pause_reach_the_client_during_the_call() -> None:
    session = AsyncMock()
    request = make_request(session)
    for count in (1, 2):
        request.send_log("info", "working")
        for _ in range(5):
            await asyncio.sleep(0)
        assert session.send_notification.await_count == count


async def test_request_may_send_500_log_messages_at_once_and_then_50_per_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here the client receives each message before the next one is sent."""
    clock = SimpleNamespace(now=100.0)
    fake_time = SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr(client_request, "time", fake_time)
    request = make_request(AsyncMock())

    def count_allowed() -> int:
        return sum(iter(request._take_allowance, False))

    assert count_allowed() == 500
    clock.now += 2
    assert count_allowed() == 100
    clock.now += 1000
    assert count_allowed() == 500
    waits: list[float | None] = []

    async def record_wait(timeout: float | None) -> None:
        waits.append(timeout)

    monkeypatch.setattr(request, "_wait_until_sent", record_wait)
    await request.end()
    (warning,) = request._waiting
    assert warning.data == "3 log messages were dropped: too many at once"
    assert waits == [1.0]


@pytest.mark.parametrize("text", ["a", "ü", "\x00", '"', "lüng", ""])
async def test_handler_log_sends_any_text_and_cuts_it_at_the_length_limit(
    registry: Registry, text: str
) -> None:
    """Of a long object, the start of its JSON text is sent."""
    size = MAX_CHARACTERS if text == "lüng" else 1
    arguments = {"text": text, "size": size}
    _, messages = await call_logged(registry, "auto", "odd", arguments)
    assert messages[0][1] == (text if size == 1 else messages[0][1])
    assert len(messages[0][1]) == min(len(text) * size, MAX_CHARACTERS)
    start = f'{{"text": "{text * size}'[: MAX_CHARACTERS - 1]
    assert messages[1][1] == ({"text": text} if size == 1 else f"{start}…")


async def test_log_message_that_cannot_be_sent_does_not_fail_the_call(
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The error is logged once, with its traceback."""
    fail = AsyncMock(side_effect=ConnectionError("closed"))
    monkeypatch.setattr(ServerSession, "send_notification", fail)
    result, _ = await call_logged(registry, "auto", "each_level", {"levels": LEVELS})
    assert not result.is_error
    (record,) = caplog.records
    assert record.exc_info is not None and "closed" in str(record.exc_info[1])


def test_handler_log_has_no_effect_outside_an_mcp_server() -> None:
    CallContext("odd").log("info", "text")


async def test_handler_log_raises_for_unknown_levels_and_texts_that_are_not_strings(
    registry: Registry,
) -> None:
    level = {"level": "trace"}
    result, messages = await call_logged(registry, "legacy", "wrong", level)
    assert "`level` must be one of debug, info" in str(result.content)
    assert "`text` must be a string" in str(result.content)
    assert messages == []
