"""What a connection tells of its server, and what its tools give, with a session of the test's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import connection as module
from toolcast_runtime.external import session as sessions
from toolcast_runtime.external.connection import Connection
from toolcast_runtime.external.listing import Lock
from toolcast_runtime.external.request_errors import RequestRefusedError

Open = Callable[..., Connection]


def defined(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


class Session:
    """Lists these tools, and answers calls with what it is given."""

    instructions = None

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.answer: Any = {"content": []}
        self.reports: list[Any] = []
        self.is_lost = False
        self._changed = asyncio.Event()

    async def list_tools(self) -> list[dict[str, Any]]:
        return self.listed

    async def list_other_lists(self) -> dict[str, Any]:
        return {}

    async def wait_for_change(self, _: float) -> None:
        await self._changed.wait()
        self._changed.clear()

    def change(self, *listed: dict[str, Any]) -> None:
        self.listed = [*listed]
        self._changed.set()

    def describe_loss(self) -> str:
        return "it went away"

    def lose(self) -> None:
        self.is_lost = True
        self._changed.set()

    async def call(self, own: str, arguments: Any, told: Any) -> Any:
        for report in self.reports:
            await told(*report)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
async def opened(
    monkeypatch: pytest.MonkeyPatch, session: Session, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Open]:
    """Makes connections to the session's server."""
    caplog.set_level(logging.INFO, "toolcast")
    made: list[Connection] = []

    @asynccontextmanager
    async def open_session(*_: Any) -> AsyncIterator[Session]:
        yield session

    monkeypatch.setattr(sessions, "open_session", open_session)
    monkeypatch.setattr(module, "_LIST_INTERVAL_S", 0.0)

    def make(lock: Lock | None = None, **settings: Any) -> Connection:
        server = ExternalServer("far", is_locked=lock is not None, **settings)
        made.append(Connection(server, frozenset(), lambda: None, lock))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.001)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return [line.removeprefix("external server far: ") for line in found]


async def test_a_connection_is_unused_up_or_down(
    opened: Open, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    session.listed = [defined("a"), defined("b")]
    one = opened(prefix="p_")
    assert (one.state, one.has_settled, dict(one.tools)) == ("unused", False, {})
    await one.start()
    assert (one.state, one.has_settled, [*one.tools]) == ("up", True, ["p_a", "p_b"])
    assert lines(caplog) == ["connected; it offers 2 tools"]
    session.lose()
    await until(lambda: one.state == "down")
    await until(lambda: bool(caplog.records))
    assert dict(one.tools) == {}
    assert one.all_names == {"p_a", "p_b"}
    (line,) = lines(caplog)
    told, _, delay = line.partition("; next attempt in ")
    assert told == "not connected: it went away; its 2 tools are not offered"
    assert 0.5 <= float(delay.removesuffix(" s")) <= 1.0
    assert (await one.call("p_a", {}, None)).error == (
        "the external server `far` of this tool cannot be reached now"
    )


@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, "; and 1 more")])
async def test_ten_tools_that_are_left_out_are_told_once(
    opened: Open,
    session: Session,
    caplog: pytest.LogCaptureFixture,
    count: int,
    more: str,
) -> None:
    wrong = [{"name": f"w{n}"} for n in range(count)]
    session.listed = wrong
    one = opened()
    await one.start()
    told = "; ".join(
        f"`w{n}` has an `inputSchema` whose `type` is not `object`" for n in range(10)
    )
    assert lines(caplog) == [
        "connected; it offers 0 tools",
        f"tools that are not offered: {told}{more}",
    ]
    session.change(*wrong, defined("a"))
    await until(lambda: "a" in one.tools)
    assert lines(caplog) == []
    session.change(defined("a"))
    await until(lambda: not session._changed.is_set())
    await asyncio.sleep(0.01)
    assert lines(caplog) == []


async def test_tools_that_say_something_else_are_told(
    opened: Open, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    session.listed = [defined(f"t{n}") for n in range(12)]
    one = opened()
    await one.start()
    lines(caplog)
    changed = [defined(f"t{n}", description="x" * (n > 0)) for n in range(12)]
    session.change(*changed[:2], *session.listed[2:])
    await until(lambda: one.tools["t1"].description == "x")
    assert lines(caplog) == ["the definitions of these tools changed: t0, t1"]
    session.change(*changed)
    await until(lambda: one.tools["t11"].description == "x")
    named = ", ".join(f"t{n}" for n in range(2, 12))
    assert lines(caplog) == [f"the definitions of these tools changed: {named}"]


@pytest.mark.parametrize(
    ("on_change", "verb"), [("refuse", "is not offered"), ("log", None)]
)
@pytest.mark.parametrize(("count", "more"), [(10, 0), (11, 1)])
async def test_ten_changes_against_a_lock_are_told(
    opened: Open,
    session: Session,
    caplog: pytest.LogCaptureFixture,
    on_change: str,
    verb: str | None,
    count: int,
    more: int,
) -> None:
    session.listed = [defined("a"), *(defined(f"n{n}") for n in range(count))]
    one = opened(Lock([defined("a")]), on_change=on_change)
    await one.start()
    assert len(one.tools) == (1 if verb else count + 1)
    told = lines(caplog)
    hint = (
        f"it {verb or 'is offered anyway'}; help: run `toolcast lock far` for details"
    )
    expected = [
        f"differs from its lock: `n{n}` is not in the lock, risky; {hint}"
        for n in range(10)
    ]
    expected += ["differs from its lock: 1 more changes"] * more
    assert told[: len(expected)] == expected
    assert told[len(expected) :] == [f"connected; it offers {len(one.tools)} tools"]


@pytest.mark.parametrize(
    ("answer", "result", "error", "content"),
    [
        ({"content": []}, "", None, None),
        ({"content": [{"type": "text", "text": "a"}]}, "a", None, 1),
        (
            {"content": [{"type": "text", "text": t} for t in "ab"]},
            "a\nb",
            None,
            2,
        ),
        (
            {"structuredContent": {"x": 1}, "content": [{"type": "text", "text": "a"}]},
            {"x": 1},
            None,
            1,
        ),
        ({"isError": True}, None, "the tool failed", None),
        (
            {"isError": True, "content": [{"type": "text", "text": "no"}]},
            None,
            "no",
            None,
        ),
        (
            {"isError": True, "structuredContent": {"x": "é"}},
            {"x": "é"},
            '{"x": "é"}',
            1,
        ),
        (
            {"isError": True, "content": [{"type": "text", "text": "x" * 4_001}]},
            None,
            "x" * 4_000,
            None,
        ),
        (
            {
                "isError": True,
                "content": [
                    {"type": "text", "text": "no"},
                    {"type": "image", "data": "", "mimeType": "image/png"},
                ],
            },
            None,
            "no",
            2,
        ),
        (
            {"structuredContent": float("inf")},
            None,
            "the tool's result has the number inf",
            None,
        ),
        (RequestRefusedError("no\x1b[1m"), None, "no", None),
    ],
)
async def test_an_answer_is_a_result_or_an_error(
    opened: Open, session: Session, answer: Any, result: Any, error: Any, content: Any
) -> None:
    session.listed, session.answer = [defined("a")], answer
    found = await opened().call("a", {}, None)
    assert found.result == result
    if isinstance(answer, Exception):
        assert found.error is not None and found.error.startswith("no")
    else:
        assert found.error == error
    assert (None if found.content is None else len(found.content)) == content


async def test_what_is_no_text_alone_is_the_result(
    opened: Open, session: Session
) -> None:
    link = {"type": "resource_link", "uri": "a:b", "name": "b"}
    session.listed, session.answer = [defined("a")], {"content": [link]}
    found = await opened().call("a", {}, None)
    assert found.result == found.content == [link]


async def test_calls_are_checked_on_both_sides(
    opened: Open, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "required": ["x"]}
    session.listed = [{"name": "a", "inputSchema": schema, "outputSchema": schema}]
    one = opened()
    assert (await one.call("b", {}, None)).error == "unknown tool `b`"
    refused = await one.call("a", {}, None)
    assert refused.error == "the arguments of `a` are not valid:\n- `x` is required"
    lines(caplog)
    session.answer = {"structuredContent": {"y": 1}, "content": []}
    refused = await one.call("a", {"x": 1}, None)
    assert refused.error == "the tool's result does not match its declared schema"
    assert lines(caplog) == ["the result of a: `x` is required"]
    session.answer = {"structuredContent": {"x": 1}, "content": []}
    assert (await one.call("a", {"x": 1}, None)).result == {"x": 1}


async def test_reports_are_passed_on(opened: Open, session: Session) -> None:
    session.listed = [defined("a")]
    session.reports = [
        (1.0,),
        (2.0, 3.0, "é\n"),
        (float("nan"),),
        (4.0, None, "x" * 4_001),
    ]
    told: list[Any] = []

    def report(progress: float, total: Any, message: Any) -> None:
        if progress != progress:
            raise ValueError
        told.append((progress, total, message))

    await opened().call("a", {}, report)
    assert told[:2] == [(1.0, None, None), (2.0, 3.0, told[1][2])]
    assert "\n" not in told[1][2] and told[1][2].startswith("é")
    assert len(told) == 3


async def test_a_call_has_its_time(
    opened: Open, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    session.listed = [defined("a")]
    one = opened(call_timeout=0.02)
    await one.start()

    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    session.call = never  # type: ignore[method-assign]
    assert (await one.call("a", {}, None)).error == (
        "the tool did not answer within 0.02 s"
    )
    assert "no answer to a call of a within 0.02 s" in caplog.text
