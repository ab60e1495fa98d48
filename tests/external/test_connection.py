"""Connections to external servers: states, logged changes and responses, with a fake session."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.waiting import wait_until_async
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import connection as connection_module
from toolcast_runtime.external import external_tools
from toolcast_runtime.external import session as session_module
from toolcast_runtime.external.connection import Connection
from toolcast_runtime.external.listing import Lock
from toolcast_runtime.external.request_errors import RequestRefusedError

Connect = Callable[..., Connection]


def entry(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **fields}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


LINK = {"type": "resource_link", "uri": "a:b", "name": "b"}
INF = float("inf")
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}


class FakeSession:
    """A session with configurable definitions, progress reports and call result."""

    instructions = None

    def __init__(self) -> None:
        self.definitions: list[dict[str, Any]] = []
        self.result: Any = {"content": []}
        self.wait_count = 0
        self.reports: list[Any] = []
        self.is_lost = False
        self._changed = asyncio.Event()

    async def list_tools(self) -> list[dict[str, Any]]:
        return self.definitions

    async def list_other_lists(self) -> dict[str, Any]:
        return {}

    async def wait_for_change(self, _: float) -> None:
        self.wait_count += 1
        await self._changed.wait()
        self._changed.clear()

    def change(self, *definitions: dict[str, Any]) -> None:
        self.definitions = [*definitions]
        self._changed.set()

    def describe_loss(self) -> str:
        return "it went away"

    def lose(self) -> None:
        self.is_lost = True
        self._changed.set()

    async def call(self, name: str, arguments: Any, report_progress: Any) -> Any:
        for report in self.reports:
            await report_progress(*report)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
async def connect(
    monkeypatch: pytest.MonkeyPatch,
    session: FakeSession,
    caplog: pytest.LogCaptureFixture,
) -> AsyncIterator[Connect]:
    """Return a function that creates connections to the session's server."""
    caplog.set_level(logging.INFO, "toolcast")
    connections: list[Connection] = []

    @asynccontextmanager
    async def open_session(*_: Any) -> AsyncIterator[FakeSession]:
        yield session

    monkeypatch.setattr(session_module, "open_session", open_session)
    monkeypatch.setattr(connection_module, "_LIST_INTERVAL_S", 0.0)

    def make(lock: Lock | None = None, **settings: Any) -> Connection:
        server = ExternalServer("far", is_locked=lock is not None, **settings)
        connections.append(Connection(server, frozenset(), lambda: None, lock))
        return connections[-1]

    yield make
    for connection in connections:
        await connection.close()


def log_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    messages = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return [line.removeprefix("external server far: ") for line in messages]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError(), "a timeout passed"),
        (TimeoutError("no list within 3 s"), "no list within 3 s"),
        (OSError("gone"), "OSError: gone"),
    ],
)
async def test_external_server_whose_list_fails_is_logged_with_the_reason(
    connect: Connect,
    session: FakeSession,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    reason: str,
) -> None:
    async def fail() -> Any:
        raise error

    session.list_tools = fail  # type: ignore[method-assign]
    await connect().start()
    (line,) = log_lines(caplog)
    assert line.startswith(f"not connected: {reason}; next attempt in ")


async def test_external_server_connection_is_unused_then_up_then_down(
    connect: Connect, session: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    session.definitions = [entry("a"), entry("b")]
    connection = connect(prefix="p_")
    assert (connection.state, connection.has_settled) == ("unused", False)
    assert dict(connection.tools) == {}
    await connection.start()
    assert (connection.state, connection.has_settled) == ("up", True)
    assert [*connection.tools] == ["p_a", "p_b"]
    assert log_lines(caplog) == ["connected; it offers 2 tools"]
    session.lose()
    await wait_until_async(lambda: connection.state == "down")
    await wait_until_async(lambda: bool(caplog.records))
    assert dict(connection.tools) == {}
    assert connection.all_names == {"p_a", "p_b"}
    (line,) = log_lines(caplog)
    logged, _, delay = line.partition("; next attempt in ")
    assert logged == "not connected: it went away; its 2 tools are not offered"
    assert 0.5 <= float(delay.removesuffix(" s")) <= 1.0
    assert (await connection.call("p_a", {}, None)).error == (
        "the external server `far` of this tool cannot be reached now"
    )


@pytest.mark.parametrize("count", [10, 11])
async def test_at_most_ten_omitted_external_tools_are_logged_and_only_once(
    connect: Connect, session: FakeSession, caplog: pytest.LogCaptureFixture, count: int
) -> None:
    omitted_rest = "; and 1 more" if count == 11 else ""
    wrong = [{"name": f"w{n}"} for n in range(count)]
    session.definitions = wrong
    connection = connect()
    await connection.start()
    problem = "has an `inputSchema` whose `type` is not `object`"
    logged = "; ".join(f"`w{n}` {problem}" for n in range(10))
    omissions = f"tools that are not offered: {logged}{omitted_rest}"
    assert log_lines(caplog) == ["connected; it offers 0 tools", omissions]
    session.change(*wrong, entry("a"))
    await wait_until_async(lambda: "a" in connection.tools)
    assert log_lines(caplog) == []
    wait_count = session.wait_count
    session.change(entry("a"))
    await wait_until_async(lambda: session.wait_count > wait_count)
    assert log_lines(caplog) == []


async def test_changed_external_tool_definitions_are_logged_with_tool_names(
    connect: Connect, session: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    session.definitions = [entry(f"t{n}") for n in range(12)]
    connection = connect()
    await connection.start()
    log_lines(caplog)
    changed = [entry(f"t{n}", description="x" * (n > 0)) for n in range(12)]
    session.change(*changed[:2], *session.definitions[2:])
    await wait_until_async(lambda: connection.tools["t1"].description == "x")
    assert log_lines(caplog) == ["the definitions of these tools changed: t0, t1"]
    session.change(*changed)
    await wait_until_async(lambda: connection.tools["t11"].description == "x")
    names = ", ".join(f"t{n}" for n in range(2, 12))
    assert log_lines(caplog) == [f"the definitions of these tools changed: {names}"]


@pytest.mark.parametrize(
    ("on_change", "count"), [("refuse", 10), ("refuse", 11), ("log", 10), ("log", 11)]
)
async def test_at_most_ten_differences_from_a_servers_lock_file_are_logged(
    connect: Connect,
    session: FakeSession,
    caplog: pytest.LogCaptureFixture,
    on_change: str,
    count: int,
) -> None:
    """The lock file contains the reviewed tool list."""
    verb = "is not offered" if on_change == "refuse" else None
    session.definitions = [entry("a"), *(entry(f"n{n}") for n in range(count))]
    connection = connect(Lock([entry("a")]), on_change=on_change)
    await connection.start()
    assert len(connection.tools) == (1 if verb else count + 1)
    help_ = "help: run `toolcast lock far` for details"
    hint = f"is not in the lock, risky; it {verb or 'is offered anyway'}; {help_}"
    changes = [f"`n{n}` {hint}" for n in range(10)] + ["1 more changes"] * (count - 10)
    expected = [f"differs from its lock: {change}" for change in changes]
    expected.append(f"connected; it offers {len(connection.tools)} tools")
    assert log_lines(caplog) == expected


@pytest.mark.parametrize(
    ("answer", "result", "error", "content"),
    [
        ({"content": []}, "", None, None),
        ({"content": [text("a")]}, "a", None, 1),
        ({"content": [LINK]}, [LINK], None, 1),
        ({"content": [text("a"), text("b")]}, "a\nb", None, 2),
        ({"structuredContent": {"x": 1}, "content": [text("a")]}, {"x": 1}, None, 1),
        ({"isError": True}, None, "the tool failed", None),
        ({"isError": True, "content": [text("no")]}, None, "no", None),
        (
            {"isError": True, "structuredContent": {"x": "é"}},
            {"x": "é"},
            '{"x": "é"}',
            1,
        ),
        ({"isError": True, "content": [text("x" * 4_001)]}, None, "x" * 4_000, None),
        ({"isError": True, "content": [text("no"), IMAGE]}, None, "no", 2),
        (
            {"structuredContent": INF},
            None,
            "the tool's result has the number inf",
            None,
        ),
        (RequestRefusedError("no\x1b[1m"), None, "no", None),
    ],
)
async def test_mcp_call_result_sets_the_tool_response_result_error_and_content(
    connect: Connect,
    session: FakeSession,
    answer: Any,
    result: Any,
    error: Any,
    content: Any,
) -> None:
    """Without structured content, the joined text is the result, or the error."""
    session.definitions, session.result = [entry("a")], answer
    response = await connect().call("a", {}, None)
    assert response.result == result
    if isinstance(answer, Exception):
        assert response.error is not None and response.error.startswith("no")
    else:
        assert response.error == error
        assert response.content in (None, answer.get("content"), [text(error)])
    assert (None if response.content is None else len(response.content)) == content


async def test_external_call_with_invalid_arguments_or_result_returns_an_error(
    connect: Connect, session: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    """A result marked as an error is not validated."""
    schema = {"type": "object", "required": ["x"]}
    session.definitions = [{"name": "a", "inputSchema": schema, "outputSchema": schema}]
    connection = connect()
    assert (await connection.call("b", {}, None)).error == "unknown tool `b`"
    refused = await connection.call("a", {}, None)
    assert refused.error == "the arguments of `a` are not valid:\n- `x` is required"
    log_lines(caplog)
    session.result = {"structuredContent": {"y": 1}, "content": []}
    invalid = await connection.call("a", {"x": 1}, None)
    assert invalid.error == "the tool's result does not match its declared schema"
    assert log_lines(caplog) == ["the result of a: `x` is required"]
    session.result["isError"] = True
    failed = await connection.call("a", {"x": 1}, None)
    assert (failed.result, failed.error) == (None, '{"y": 1}')
    session.result = {"structuredContent": {"x": 1}, "content": []}
    assert (await connection.call("a", {"x": 1}, None)).result == {"x": 1}


async def test_external_tool_progress_is_passed_to_the_callback(
    connect: Connect, session: FakeSession
) -> None:
    """Messages are escaped, and an exception of the callback does not fail the call."""
    session.definitions = [entry("a")]
    session.reports = [(1.0,), (2.0, 3.0, "é\n"), (float("nan"),)]
    session.reports.append((4.0, None, "x" * 4_001))
    reports: list[Any] = []

    def report_progress(progress: float, total: Any, message: Any) -> None:
        if progress != progress:
            raise ValueError
        reports.append((progress, total, message))

    await connect().call("a", {}, report_progress)
    assert reports[:2] == [(1.0, None, None), (2.0, 3.0, reports[1][2])]
    assert "\n" not in reports[1][2] and reports[1][2].startswith("é")
    assert len(reports) == 3


def test_external_server_messages_hide_previous_environment_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A value that contains another one is hidden as a whole."""
    server = ExternalServer("far", env={"TOKEN": "${TOKEN}"})
    connection = Connection(server, frozenset(), lambda: None)
    for value in ("s3cret-longer", "s3cret"):
        monkeypatch.setenv("TOKEN", value)
        connection._resolve()
    assert connection._redact("s3cret-longer, s3cret") == "[hidden], [hidden]"


@pytest.mark.parametrize(
    ("settings", "ping_counts"),
    [({"command": "x"}, (0, 1, 1, 2)), ({"url": "https://a.example"}, (0, 0))],
)
async def test_stdio_server_is_pinged_after_every_second_timeout_in_a_row(
    connect: Connect,
    session: FakeSession,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    ping_counts: tuple[int, ...],
) -> None:
    """A server over HTTP is not pinged, because it has no process to restart."""
    session.definitions = [entry("a")]
    connection = connect(**settings)
    await connection.start()
    pinged: list[Any] = []

    async def ping(session: Any) -> None:
        pinged.append(session)

    monkeypatch.setattr(connection, "_restart_if_hanging", ping)
    for count in ping_counts:
        connection.handle_timeout()
        await asyncio.sleep(0)
        assert len(pinged) == count
    # A response to a call separates two timeouts.
    connection.handle_timeout()
    assert (await connection.call("a", {}, None)).error is None
    connection.handle_timeout()
    await asyncio.sleep(0)
    assert len(pinged) == ping_counts[-1]


@pytest.mark.parametrize(("seconds_left", "count"), [(None, 0), (60.0, 0), (-1.0, 1)])
def test_cancelled_external_call_counts_as_a_timeout_only_after_its_deadline(
    seconds_left: float | None, count: int
) -> None:
    timeouts: list[str] = []
    connection: Any = SimpleNamespace(handle_timeout=lambda: timeouts.append("a"))
    deadline = None if seconds_left is None else time.monotonic() + seconds_left
    context: Any = SimpleNamespace(deadline=deadline)
    with (
        pytest.raises(asyncio.CancelledError),
        external_tools._count_timeout(connection, context),
    ):
        raise asyncio.CancelledError
    assert len(timeouts) == count


async def test_external_tool_call_without_an_answer_times_out(
    connect: Connect, session: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    session.definitions = [entry("a")]
    connection = connect(call_timeout=0.02)
    await connection.start()

    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    session.call = never  # type: ignore[method-assign]
    assert (await connection.call("a", {}, None)).error == (
        "the tool did not answer within 0.02 s"
    )
    assert "no answer to a call of a within 0.02 s" in caplog.text
