"""Limits of telemetry: lengths in logs and spans, dropped lines and histogram buckets."""

from __future__ import annotations

import logging
import os
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.calls import call_telemetry
from toolcast_runtime.core.calls.call_telemetry import log_call
from toolcast_runtime.core.context import Caller
from toolcast_runtime.telemetry import log_lines, mcp_requests
from toolcast_runtime.telemetry.log_lines import StderrHandler


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("look", "look"),
        ("a:b/c@d+e.f-1", "a:b/c@d+e.f-1"),
        ("a" * 128, "a" * 128),
        ("a b", '"a b"'),
        ('a"b', '"a\\"b"'),
        ("é", '"é"'),
    ],
)
def test_call_log_line_quotes_a_tool_name_only_if_it_has_special_characters(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    expected: str,
) -> None:
    caplog.set_level(logging.INFO, "toolcast.calls")
    clock = SimpleNamespace(perf_counter=lambda: 3.1234567)
    monkeypatch.setattr(call_telemetry, "time", clock)
    log_call(tool, "ok", 1.0, None, Caller(request_id=7), "no details")
    [record] = caplog.records
    line = f"tool={expected} outcome=ok seconds=2.123457 request_id=7"
    assert record.getMessage() == line
    fields: Any = record
    assert (fields.seconds, fields.request_id, fields.user) == (2.123457, "7", None)
    assert record.lineno == 0


def test_tool_name_above_128_characters_is_truncated_in_the_call_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "toolcast.calls")
    log_call("a" * 129, "ok", 1.0, None, Caller())
    fields: Any = caplog.records[0]
    assert "a" * 129 not in fields.getMessage()
    assert 120 < len(fields.tool) <= 140
    assert fields.request_id is None


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield a log handler on a pipe with scripted readiness; record wait timeouts."""
    read, write = os.pipe()
    handler = StderrHandler(write)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    pipe = SimpleNamespace(ready=[], timeouts=[], handler=handler, read=read)

    def select(_r: Any, writing: Any, _x: Any, timeout: float) -> Any:
        pipe.timeouts.append(timeout)
        is_ready = pipe.ready.pop(0) if pipe.ready else True
        return [], (writing if is_ready else ()), []

    monkeypatch.setattr(log_lines, "select", SimpleNamespace(select=select))
    yield pipe
    os.close(read)
    os.close(write)


def _log(pipe: Any, *texts: str) -> None:
    for text in texts:
        fields = ("t", logging.INFO, __file__, 0, text, (), None)
        pipe.handler.emit(logging.LogRecord(*fields))


def test_logging_lines_to_a_full_stderr_waits_only_for_the_first(pipe: Any) -> None:
    _log(pipe, "one")
    pipe.ready = [False, False]
    _log(pipe, "two", "three", "four", "five")
    expected = "INFO one\nWARNING 2 log lines were dropped: stderr was not read\n"
    assert os.read(pipe.read, 1_000).decode() == f"{expected}INFO four\nINFO five\n"
    assert pipe.timeouts == [0.1, 0.1, 0, 0, 0.1]


def test_log_line_that_stderr_took_only_partly_is_ended_before_the_next_line(
    pipe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_MAX_WRITE_BYTES", 6)
    pipe.ready = [True, False, False, False]
    _log(pipe, "torn", "lost", "lost too", "whole")
    expected = "WARNING 3 log lines were dropped: stderr was not read\nINFO whole\n"
    assert os.read(pipe.read, 1_000).decode() == f"INFO t\n{expected}"
    pipe.ready = [False]
    _log(pipe, "lost", "whole again")
    text = os.read(pipe.read, 1_000).decode()
    assert text.startswith("WARNING 1 log lines"), "no line was written partially"


def test_log_line_is_written_to_a_descriptor_that_cannot_be_polled(
    pipe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where `select` accepts only sockets."""

    def select(*_: Any) -> Any:
        raise OSError

    monkeypatch.setattr(log_lines, "select", SimpleNamespace(select=select))
    _log(pipe, "one", "two")
    assert os.read(pipe.read, 1_000) == b"INFO one\nINFO two\n"


def test_request_and_session_ids_in_span_attributes_are_truncated_to_128_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    created: list[Any] = []
    tracer = SimpleNamespace(
        start_span=lambda name, **more: created.append((name, more))
    )
    monkeypatch.setattr(mcp_requests.trace, "get_tracer", lambda _: tracer)
    request = SimpleNamespace(headers={"mcp-session-id": "s" * 200})
    ctx: Any = SimpleNamespace(
        method="tools/call", request_id="r" * 200, request=request, meta=None
    )
    mcp_requests.ObservedRequest(ctx, {"a": "b"}, {"gen_ai.tool.name": "look"})
    ctx.method, ctx.request_id, ctx.request = "made/up", None, None
    mcp_requests.ObservedRequest(ctx, {}, {})
    (name, options), (other_name, other_options) = created
    assert (name, other_name) == ("tools/call look", "_OTHER")
    assert options["attributes"] == {
        "a": "b",
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "jsonrpc.request.id": "r" * 128,
        "mcp.session.id": "s" * 128,
    }
    assert other_options["attributes"] == {"mcp.method.name": "_OTHER"}
    assert options["links"] == other_options["links"] == []
