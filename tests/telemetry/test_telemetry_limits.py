"""How long what is told may be, and how finely durations are told."""

from __future__ import annotations

import logging
import os
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import metrics

from toolcast_runtime.core.calls import call_telemetry
from toolcast_runtime.core.calls.call_telemetry import log_call
from toolcast_runtime.core.context import Caller
from toolcast_runtime.telemetry import log_lines, mcp_requests
from toolcast_runtime.telemetry.log_lines import StderrHandler


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("look", "look"),
        ("a:b/c@d+e.f-1", "a:b/c@d+e.f-1"),
        ("a" * 128, "a" * 128),
        ("a b", '"a b"'),
        ('a"b', '"a\\"b"'),
        ("é", '"é"'),
    ],
)
def test_a_line_of_a_call_has_short_texts_as_they_are(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    told: str,
) -> None:
    caplog.set_level(logging.INFO, "toolcast.calls")
    clock = SimpleNamespace(perf_counter=lambda: 3.1234567)
    monkeypatch.setattr(call_telemetry, "time", clock)
    log_call(tool, "ok", 1.0, None, Caller(request_id=7), "not told")
    [record] = caplog.records
    line = f"tool={told} outcome=ok seconds=2.123457 request_id=7"
    assert record.getMessage() == line
    fields: Any = record
    assert (fields.seconds, fields.request_id, fields.user) == (2.123457, "7", None)
    assert record.lineno == 0


def test_a_long_text_is_cut_to_128_characters(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolcast.calls")
    log_call("a" * 129, "ok", 1.0, None, Caller())
    fields: Any = caplog.records[0]
    assert "a" * 129 not in fields.getMessage()
    assert 120 < len(fields.tool) <= 140
    assert fields.request_id is None


def test_durations_are_told_in_steps_that_people_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    meter = SimpleNamespace(create_histogram=lambda *a, **k: made.append((a, k)))
    monkeypatch.setattr(metrics, "get_meter", lambda _: meter)
    mcp_requests._get_duration_histogram.__wrapped__("session")
    [((name,), settings)] = made
    assert (name, settings["unit"]) == ("mcp.server.session.duration", "s")
    steps = "0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 30 60 120 300"
    found = settings["explicit_bucket_boundaries_advisory"]
    assert [*found] == [float(step) for step in steps.split()]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lines to a pipe that is ready as often as the test says, and how long that may take."""
    read, write = os.pipe()
    handler = StderrHandler(write)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    world = SimpleNamespace(ready=[], waited=[], handler=handler, read=read)

    def select(_r: Any, writing: Any, _x: Any, patience: float) -> Any:
        world.waited.append(patience)
        is_ready = world.ready.pop(0) if world.ready else True
        return [], (writing if is_ready else ()), []

    monkeypatch.setattr(log_lines, "select", SimpleNamespace(select=select))
    yield world
    os.close(read)
    os.close(write)


def _say(lines: Any, *texts: str) -> None:
    for text in texts:
        told = ("t", logging.INFO, __file__, 0, text, (), None)
        lines.handler.emit(logging.LogRecord(*told))


def test_only_the_first_line_that_nobody_reads_is_waited_for(lines: Any) -> None:
    _say(lines, "one")
    lines.ready = [False, False]
    _say(lines, "two", "three", "four", "five")
    told = "INFO one\nWARNING 2 log lines were dropped: stderr was not read\n"
    assert os.read(lines.read, 1_000).decode() == f"{told}INFO four\nINFO five\n"
    assert lines.waited == [0.1, 0.1, 0, 0, 0.1]


def test_a_line_that_breaks_off_is_no_part_of_the_next(
    lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_MAX_WRITE_BYTES", 6)
    lines.ready = [True, False, False, False]
    _say(lines, "torn", "lost", "lost too", "whole")
    told = "WARNING 3 log lines were dropped: stderr was not read\nINFO whole\n"
    assert os.read(lines.read, 1_000).decode() == f"INFO t\n{told}"
    lines.ready = [False]
    _say(lines, "lost", "whole again")
    found = os.read(lines.read, 1_000).decode()
    assert found.startswith("WARNING 1 log lines"), "nothing was torn"


def test_ids_of_strangers_are_cut_to_128_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    tracer = SimpleNamespace(
        start_span=lambda name, **given: made.append((name, given))
    )
    monkeypatch.setattr(mcp_requests.trace, "get_tracer", lambda _: tracer)
    ctx: Any = SimpleNamespace(
        method="tools/call",
        request_id="r" * 200,
        request=SimpleNamespace(headers={"mcp-session-id": "s" * 200}),
        meta=None,
    )
    mcp_requests.ObservedRequest(ctx, {"a": "b"}, {"gen_ai.tool.name": "look"})
    ctx.method, ctx.request_id, ctx.request = "made/up", None, None
    mcp_requests.ObservedRequest(ctx, {}, {})
    (name, given), (other, nothing) = made
    assert (name, other) == ("tools/call look", "_OTHER")
    assert given["attributes"] == {
        "a": "b",
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "jsonrpc.request.id": "r" * 128,
        "mcp.session.id": "s" * 128,
    }
    assert nothing["attributes"] == {"mcp.method.name": "_OTHER"}
    assert given["links"] == nothing["links"] == []
