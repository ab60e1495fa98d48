"""Spans and metrics of MCP requests, with the names of OpenTelemetry's conventions for MCP.

Source: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from opentelemetry import trace
from opentelemetry.metrics import _internal as metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.runtime.packages import Package, definition
from tests.telemetry import handlers
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client as ClientAccess
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.telemetry import mcp_requests

TOOLS = ("give", "fail", "crash", "call_other")
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)


@pytest.fixture
def server(tmp_path: Path) -> McpServer:
    tools = [definition(name, handler=f"{handlers.__name__}:{name}") for name in TOOLS]
    registry = Registry(
        Package(tmp_path, *tools).load(),
        handlers=handlers.__name__,
        clients={"desk": ClientAccess("*"), "guest": ClientAccess(("give",))},
    )
    handlers.STATE["registry"] = registry
    http = HttpSettings((Endpoint("/mcp/", "desk", "NONE"),), "NONE", "NONE")
    return McpServer(registry, name="demo", client="desk", http=http)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Return the spans of this test.

    The provider is replaced because a process can set only one.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """Yield the metrics of this test."""
    exporter = InMemoryMetricReader()
    provider = MeterProvider([exporter])
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: provider)
    mcp_requests._get_duration_histogram.cache_clear()
    yield exporter
    mcp_requests._get_duration_histogram.cache_clear()


def call_tool(
    server: McpServer,
    tool: str,
    *,
    client: str = "desk",
    mode: Any = "legacy",
    meta: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] = MappingProxyType({"note": "s3cret"}),
) -> None:
    """Call a tool with the SDK's client; ignore an MCP error."""

    async def call() -> None:
        async with Client(server.build(client), mode=mode) as connected:
            with contextlib.suppress(MCPError):
                await connected.call_tool(tool, dict(arguments), meta=meta)  # type: ignore[arg-type]

    asyncio.run(call())


def get_call_span(spans: InMemorySpanExporter) -> ReadableSpan:
    (found,) = [s for s in spans.get_finished_spans() if "tools/call" in s.name]
    assert "s3cret" not in found.to_json()
    return found


@pytest.mark.parametrize(
    ("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")]
)
def test_mcp_tool_call_creates_one_server_span_with_the_conventions_attributes(
    server: McpServer, spans: InMemorySpanExporter, mode: str, version: str
) -> None:
    call_tool(server, "give", mode=mode)
    span = get_call_span(spans)
    assert (span.name, span.kind) == ("tools/call give", trace.SpanKind.SERVER)
    attributes = dict(span.attributes or {})
    assert attributes.pop("jsonrpc.request.id") in ("1", "2")
    assert attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": version,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "give",
        "network.transport": "pipe",
        "toolcast.client": "desk",
        "toolcast.outcome": "ok",
    }
    assert span.status.status_code is trace.StatusCode.UNSET
    assert span.parent is None
    assert not [s for s in spans.get_finished_spans() if "execute_tool" in s.name]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("search_tool", "arguments", "name"),
    [
        ("call_found_tool", {"name": "give", "arguments": {"note": "s3cret"}}, "give"),
        ("search_tools", {"query": "s3cret"}, "search_tools"),
    ],
)
def test_call_found_tool_span_has_the_tool_name_from_its_arguments(
    server: McpServer,
    spans: InMemorySpanExporter,
    mode: str,
    search_tool: str,
    arguments: dict[str, Any],
    name: str,
) -> None:
    searched = replace(server, search=True)
    call_tool(searched, search_tool, mode=mode, arguments=arguments)
    span = get_call_span(spans)
    attributes = span.attributes or {}
    assert span.name == f"tools/call {name}"
    assert attributes["gen_ai.tool.name"] == name
    assert attributes["toolcast.outcome"] == "ok"


@pytest.mark.parametrize(
    ("tool", "client", "name", "error", "code", "outcome"),
    [
        ("fail", "desk", "tools/call fail", "tool_error", None, "error"),
        ("crash", "desk", "tools/call crash", "tool_error", None, "error"),
        ("fail", "guest", "tools/call fail", "-32602", "-32602", None),
        # An unknown tool name is not used in the name of the span.
        ("s3cret", "desk", "tools/call", "-32602", "-32602", None),
    ],
)
def test_failed_mcp_tool_call_span_has_error_type_status_code_and_outcome(
    server: McpServer,
    spans: InMemorySpanExporter,
    tool: str,
    client: str,
    name: str,
    error: str,
    code: str | None,
    outcome: str | None,
) -> None:
    call_tool(server, tool, client=client)
    span = get_call_span(spans)
    found = span.attributes or {}
    assert (span.name, found["error.type"]) == (name, error)
    assert found.get("rpc.response.status_code") == code
    assert found.get("toolcast.outcome") == outcome
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.status.description is None and not span.events


@pytest.mark.parametrize(
    "meta",
    [
        {"traceparent": "s3cret"},
        {"traceparent": f"00-{'0' * 32}-{PARENT}-01"},
        {"traceparent": 7},
        {"traceparent": [[{}]]},
        {"traceparent": None},
        {"traceparent": {"a": 1}, "tracestate": 7, "baggage": [7]},
        {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "=,=" * 9_000},
        {"traceparent": f"00-{TRACE}-{PARENT}-01", "baggage": 7},
    ],
    ids=str,
)
def test_mcp_tool_call_with_an_invalid_trace_context_succeeds(
    server: McpServer, spans: InMemorySpanExporter, meta: dict[str, Any]
) -> None:
    call_tool(server, "give", meta=meta)
    span = get_call_span(spans)
    assert (span.attributes or {})["toolcast.outcome"] == "ok"


def test_tool_call_from_a_handler_has_its_own_child_span(
    server: McpServer, spans: InMemorySpanExporter
) -> None:
    call_tool(server, "call_other")
    outer = get_call_span(spans)
    (inner,) = [s for s in spans.get_finished_spans() if "execute_tool" in s.name]
    assert (outer.name, inner.name) == ("tools/call call_other", "execute_tool give")
    assert inner.parent == outer.context


def get_data_points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    found = [
        metric
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
    ]
    assert all(metric.unit == "s" for metric in found)
    return [point for metric in found for point in metric.data.data_points]


@pytest.mark.parametrize(
    ("tool", "expected_attributes"),
    [
        ("give", {"gen_ai.tool.name": "give"}),
        ("fail", {"gen_ai.tool.name": "fail", "error.type": "tool_error"}),
        ("s3cret", {"error.type": "-32602", "rpc.response.status_code": "-32602"}),
    ],
)
def test_tool_call_mcp_server_operation_duration_is_recorded_with_attributes(
    server: McpServer,
    reader: InMemoryMetricReader,
    tool: str,
    expected_attributes: dict[str, str],
) -> None:
    call_tool(server, tool)
    found = get_data_points(reader, "mcp.server.operation.duration")
    (call,) = [p for p in found if p.attributes["mcp.method.name"] == "tools/call"]
    assert call.explicit_bounds == BOUNDS
    assert (call.count, 0 < call.sum < 60) == (1, True)
    assert call.attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "gen_ai.operation.name": "execute_tool",
        "network.transport": "pipe",
        "toolcast.client": "desk",
        **expected_attributes,
    }


def test_mcp_server_session_duration_is_recorded_when_the_session_ends(
    server: McpServer, reader: InMemoryMetricReader
) -> None:
    call_tool(server, "give")
    (session,) = get_data_points(reader, "mcp.server.session.duration")
    assert session.explicit_bounds == BOUNDS
    assert (session.count, 0 < session.sum < 60) == (1, True)
    assert session.attributes["network.transport"] == "pipe"


def test_mcp_over_http_request_span_links_the_http_span_without_session_metric(
    server: McpServer, spans: InMemorySpanExporter, reader: InMemoryMetricReader
) -> None:
    invented_method = "x" * 5_000
    asyncio.run(_post(server, "tools/call", "initialize", invented_method))
    call, initialize, other, transport = spans.get_finished_spans()
    attributes = call.attributes or {}
    # The span continues the caller's trace and links the span of the transport.
    assert call.context and f"{call.context.trace_id:032x}" == TRACE
    assert call.parent and f"{call.parent.span_id:016x}" == PARENT
    assert [link.context for link in call.links] == [transport.context]
    assert other.parent == transport.context and not other.links
    assert attributes["network.transport"] == "tcp"
    assert attributes["network.protocol.name"] == "http"
    assert attributes["mcp.session.id"] == "session-1"
    assert attributes["jsonrpc.request.id"] == "7"
    assert (initialize.name, other.name) == ("initialize", "_OTHER")
    assert invented_method not in other.to_json()
    assert not get_data_points(reader, "mcp.server.session.duration")


async def _post(server: McpServer, *methods: str) -> None:
    assert server.http is not None
    listen = ListenSettings.from_environment(server.http, "127.0.0.1", {})
    app = build_http_app(server, listen)
    meta = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    info = {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {}}
    params = {
        "tools/call": {"name": "give", "arguments": {}, "_meta": meta},
        "initialize": {"protocolVersion": "2025-11-25", **info},
    }
    headers = {
        "mcp-protocol-version": "2025-11-25",
        "mcp-session-id": "session-1",
        "accept": "application/json, text/event-stream",
    }
    transport = httpx.ASGITransport(app)
    async with (
        app.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        with trace.get_tracer("transport").start_as_current_span("POST"):
            for method in methods:
                body: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method}
                body["params"] = params.get(method, {})
                await client.post("/mcp/", json=body, headers=headers)


def test_call_without_tracer_provider_propagates_the_callers_trace_id_to_nested_calls(
    server: McpServer,
) -> None:
    """Spans are invalid without a caller's trace."""
    spans: list[trace.Span] = []

    async def call_recorded_tool(*args: Any) -> Any:
        spans.append(trace.get_current_span())
        return await server.registry.call_tool(*args)

    handlers.STATE["registry"] = SimpleNamespace(call_tool=call_recorded_tool)
    call_tool(server, "call_other")
    assert [span.get_span_context().is_valid for span in spans] == [False]
    call_tool(server, "call_other", meta={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    # The caller's trace is passed on to nested calls nevertheless.
    assert f"{spans[-1].get_span_context().trace_id:032x}" == TRACE
