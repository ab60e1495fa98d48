"""What is measured of requests and of their session, by a clock that the test sets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import metrics

from toolcast_runtime.telemetry import mcp_requests
from toolcast_runtime.telemetry.mcp_requests import ObservedRequests

assert metrics  # Who imports them wants them.
SERVED: Any = SimpleNamespace(
    mcp_prompts=object(),
    prompts=lambda client: [SimpleNamespace(name="greet")],
    registry=SimpleNamespace(resolve=lambda name: "note" if name == "memo" else name),
    has_tool=lambda name: name == "note",
)
Measured = list[tuple[str, float, dict[str, str]]]


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(mcp_requests, "time", clock)
    return clock


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Measured:
    """What histograms are given: of what, how long, and with which attributes."""
    found: Measured = []

    def duration(of: str) -> Any:
        return SimpleNamespace(
            record=lambda seconds, attributes: found.append((of, seconds, attributes))
        )

    monkeypatch.setattr(mcp_requests, "_get_duration_histogram", duration)
    return found


def _request(method: str, name: Any = None, over_http: bool = False) -> Any:
    return SimpleNamespace(
        method=method,
        params=None if name is None else {"name": name},
        protocol_version="2026-07-28",
        request_id=7,
        meta=None,
        request=SimpleNamespace(headers={}) if over_http else None,
    )


async def _answered(observed: ObservedRequests, clock: Clock, request: Any) -> None:
    async def answer(_: Any) -> Any:
        clock.now += 2
        return {}

    await observed(request, answer)


async def test_a_session_lasts_from_its_first_message(
    clock: Clock, measured: Measured
) -> None:
    observed = ObservedRequests(SERVED, "desk")
    observed.end_session()
    await _answered(observed, clock, _request("ping"))
    observed.end_session()
    assert [of for of, *_ in measured] == ["operation"]
    await _answered(observed, clock, _request("initialize"))
    await _answered(observed, clock, _request("ping"))
    observed.end_session()
    assert measured[-1] == (
        "session",
        4.0,
        {
            "mcp.protocol.version": "2026-07-28",
            "network.transport": "pipe",
            "toolcast.client": "desk",
        },
    )


async def test_over_http_no_session_is_measured(
    clock: Clock, measured: Measured
) -> None:
    observed = ObservedRequests(SERVED, None)
    await _answered(observed, clock, _request("initialize", over_http=True))
    observed.end_session()
    ((of, seconds, attributes),) = measured
    assert (of, seconds) == ("operation", 2.0)
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
async def test_what_is_there_is_named(
    clock: Clock, measured: Measured, method: str, name: Any, target: dict[str, str]
) -> None:
    observed = ObservedRequests(SERVED, None)
    await _answered(observed, clock, _request(method, name))
    ((_, _, attributes),) = measured
    kept = {k: v for k, v in attributes.items() if k.startswith("gen_ai.")}
    kept.pop("gen_ai.operation.name", None)
    assert kept == target
    is_call = method == "tools/call"
    assert ("gen_ai.operation.name" in attributes) is is_call
    shown = "_OTHER" if method == "made/up" else method
    assert attributes["mcp.method.name"] == shown
