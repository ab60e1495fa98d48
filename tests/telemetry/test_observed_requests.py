"""Measured durations of MCP requests and sessions, with a fake clock."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp import MCPError
from opentelemetry import metrics
from pydantic import ValidationError

from toolcast_runtime.telemetry import mcp_requests
from toolcast_runtime.telemetry.mcp_requests import ObservedRequests

# Requests are measured only if this module is imported.
assert metrics
SERVER: Any = SimpleNamespace(
    mcp_prompts=object(),
    prompts=lambda client: [SimpleNamespace(name="greet")],
    registry=SimpleNamespace(resolve=lambda name: "note" if name == "memo" else name),
    has_tool=lambda name: name == "note",
)
Measurements = list[tuple[str, float, dict[str, str]]]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(mcp_requests, "time", clock)
    return clock


@pytest.fixture
def measurements(
    monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> Measurements:
    """Return the recorded values: histogram, seconds and attributes."""
    recorded: Measurements = []

    def get_histogram(histogram: str) -> Any:
        return SimpleNamespace(record=lambda *args: recorded.append((histogram, *args)))

    monkeypatch.setattr(mcp_requests, "_get_duration_histogram", get_histogram)
    return recorded


def _request(method: str, name: Any = None, over_http: bool = False) -> Any:
    return SimpleNamespace(
        method=method,
        params=None if name is None else {"name": name},
        protocol_version="2026-07-28",
        request_id=7,
        meta=None,
        request=SimpleNamespace(headers={}) if over_http else None,
    )


async def _observe(
    observed: ObservedRequests, clock: SimpleNamespace, request: Any
) -> None:
    async def handle(_: Any) -> Any:
        clock.now += 2
        return {}

    await observed(request, handle)


async def test_mcp_session_duration_metric_starts_at_the_initialize_request(
    clock: SimpleNamespace, measurements: Measurements
) -> None:
    observed = ObservedRequests(SERVER, "desk")
    observed.end_session()
    await _observe(observed, clock, _request("ping"))
    observed.end_session()
    assert [histogram for histogram, *_ in measurements] == ["operation"]
    await _observe(observed, clock, _request("initialize"))
    await _observe(observed, clock, _request("ping"))
    observed.end_session()
    histogram, seconds, attributes = measurements[-1]
    assert (histogram, seconds) == ("session", 4.0)
    assert attributes == {
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "pipe",
        "toolcast.client": "desk",
    }


async def test_mcp_request_over_http_records_an_operation_duration_but_no_session_duration(
    clock: SimpleNamespace, measurements: Measurements
) -> None:
    observed = ObservedRequests(SERVER, None)
    await _observe(observed, clock, _request("initialize", over_http=True))
    observed.end_session()
    ((histogram, seconds, attributes),) = measurements
    assert (histogram, seconds) == ("operation", 2.0)
    assert attributes == {
        "mcp.method.name": "initialize",
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "tcp",
        "network.protocol.name": "http",
    }


@pytest.mark.parametrize(
    ("method", "name", "target"),
    [
        ("tools/call", "note", {"gen_ai.tool.name": "note"}),
        ("tools/call", "memo", {"gen_ai.tool.name": "memo"}),
        ("tools/call", "greet", {}),
        ("tools/call", 1, {}),
        ("tools/call", None, {}),
        ("prompts/get", "greet", {"gen_ai.prompt.name": "greet"}),
        ("prompts/get", "note", {}),
        ("tools/list", "note", {}),
        ("made/up", "greet", {}),
    ],
)
async def test_metric_attributes_name_a_requested_tool_or_prompt_only_if_it_exists(
    clock: SimpleNamespace,
    measurements: Measurements,
    method: str,
    name: Any,
    target: dict[str, str],
) -> None:
    observed = ObservedRequests(SERVER, None)
    await _observe(observed, clock, _request(method, name))
    ((_, _, attributes),) = measurements
    target_attributes = {k: v for k, v in attributes.items() if k.startswith("gen_ai.")}
    target_attributes.pop("gen_ai.operation.name", None)
    assert target_attributes == target
    is_call = method == "tools/call"
    assert ("gen_ai.operation.name" in attributes) is is_call
    logged_method = "_OTHER" if method == "made/up" else method
    assert attributes["mcp.method.name"] == logged_method


@pytest.mark.parametrize(
    ("error", "error_type", "code"),
    [
        (MCPError(-32002, "absent"), "-32002", "-32002"),
        (ValidationError.from_exception_data("Params", []), "-32602", "-32602"),
        (KeyError("s3cret"), "KeyError", None),
    ],
)
async def test_failed_mcp_request_metric_has_the_error_type_and_json_rpc_code(
    clock: SimpleNamespace,
    measurements: Measurements,
    error: Exception,
    error_type: str,
    code: str | None,
) -> None:
    """The code of invalid parameters is -32602; other exceptions have no code."""

    async def fail(_: Any) -> Any:
        raise error

    with pytest.raises(type(error)):
        await ObservedRequests(SERVER, None)(_request("tools/list"), fail)
    ((_, _, attributes),) = measurements
    assert attributes["error.type"] == error_type
    assert attributes.get("rpc.response.status_code") == code
