"""OpenTelemetry spans and metrics of MCP requests.

They replace the SDK's own spans, which lack the session and the transport, and contain names
that any caller can invent. Without OpenTelemetry in the process, this module is not loaded.

Source: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md
"""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult
from opentelemetry import propagate, trace
from pydantic import ValidationError

from ..core.calls.call_telemetry import OBSERVED_REQUEST

if TYPE_CHECKING:
    from mcp.server.context import (
        CallNext,
        HandlerResult,
        ServerRequestContext,
    )
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram

    from ..mcp.toolset_server import ToolsetServer

_METHODS = frozenset(
    f"{group}/{name}"
    for group, names in {
        "tools": "call list",
        "prompts": "get list",
        "resources": "read list subscribe unsubscribe templates/list directory/read",
        "skills": "get list",
        "completion": "complete",
        "logging": "setLevel",
        "server": "discover",
        "notifications": "cancelled initialized progress roots/list_changed",
    }.items()
    for name in names.split()
) | {"initialize", "ping"}
_OTHER = "_OTHER"
"""Value for unknown methods, so that callers cannot create any number of time series."""
_BUCKETS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""Bucket boundaries that the semantic conventions recommend for durations."""
_MAX_VALUE_CHARACTERS = 128
"""Maximum length of an attribute's value."""
_PARENT = "traceparent"
_SESSION = "mcp-session-id"


class ObservedRequests:
    """Middleware that creates a span for each message, and measures its duration.

    The duration of the session is measured only if the server has a single connection, as over
    stdio: over HTTP, the SDK has no public API that reports the end of a session.

    Args:
        served: the tools and prompts.
        client: the name of the client.
    """

    def __init__(self, served: ToolsetServer, client: str | None) -> None:
        self._served = served
        self._client = client
        self._prompts: frozenset[str] = frozenset()
        if served.mcp_prompts is not None:
            prompts = served.prompts(client)
            self._prompts = frozenset(prompt.name for prompt in prompts)
        self._session: tuple[float, dict[str, str]] | None = None

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Handle a message in a span."""
        attributes = _build_session_attributes(ctx, self._client)
        if ctx.method == "initialize" and ctx.request is None and _has_metrics():
            self._session = time.perf_counter(), attributes
        request = ObservedRequest(ctx, attributes, self._build_target(ctx))
        return await request.handle(ctx, call_next)

    def end_session(self) -> None:
        """Record the duration of the session, after the connection has ended."""
        if self._session is not None:
            started, attributes = self._session
            seconds = time.perf_counter() - started
            _get_duration_histogram("session").record(seconds, attributes)

    def _build_target(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, str]:
        """Return the attribute with the requested tool or prompt, if the server has it."""
        name = (ctx.params or {}).get("name")
        if not isinstance(name, str):
            return {}
        served = self._served
        if ctx.method == "tools/call" and served.has_tool(
            served.registry.resolve(name)
        ):
            return {"gen_ai.tool.name": name}
        if ctx.method == "prompts/get" and name in self._prompts:
            return {"gen_ai.prompt.name": name}
        return {}


class ObservedRequest:
    """MCP message that is being handled, with its span.

    Args:
        ctx: the SDK's context of the message.
        shared: the attributes that all messages of the session have.
        target: the attribute with the requested tool or prompt, if any.
    """

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        shared: dict[str, str],
        target: dict[str, str],
    ) -> None:
        method = ctx.method if ctx.method in _METHODS else _OTHER
        self._method = method
        # Attributes of metrics have few different values, because each combination of values
        # is one time series.
        self._metric_attributes = {"mcp.method.name": method, **shared, **target}
        if method == "tools/call":
            self._metric_attributes["gen_ai.operation.name"] = "execute_tool"
        self._outcome: str | None = None
        attributes = dict(self._metric_attributes)
        if ctx.request_id is not None:
            attributes["jsonrpc.request.id"] = str(ctx.request_id)[
                :_MAX_VALUE_CHARACTERS
            ]
        session = None if ctx.request is None else ctx.request.headers.get(_SESSION)
        if session is not None:
            attributes["mcp.session.id"] = session[:_MAX_VALUE_CHARACTERS]
        parent = _extract_parent(ctx.meta)
        links = []
        # The client's span is the parent. A current span of this process, such as an HTTP
        # server's, is only linked.
        current = trace.get_current_span().get_span_context()
        if parent is not None and current.is_valid:
            links.append(trace.Link(current))
        self._span = trace.get_tracer("toolcast").start_span(
            " ".join([method, *target.values()]),
            context=parent,
            kind=trace.SpanKind.SERVER,
            attributes=attributes,
            links=links,
        )

    def set_tool(self, tool: str) -> None:
        """Set the called tool, when the call has found it.

        Before that, a tool of an external server is unknown.
        """
        self._metric_attributes["gen_ai.tool.name"] = tool
        self._span.set_attribute("gen_ai.tool.name", tool)
        self._span.update_name(f"{self._method} {tool}")

    def set_outcome(self, outcome: str) -> None:
        """Set the outcome of the call."""
        self._outcome = outcome
        self._span.set_attribute("toolcast.outcome", outcome)

    async def handle(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Handle the message in its span, then record its duration and any error."""
        started = time.perf_counter()
        token = OBSERVED_REQUEST.set(self if self._method == "tools/call" else None)
        with trace.use_span(
            self._span,
            end_on_exit=True,
            record_exception=False,
            set_status_on_exception=False,
        ):
            try:
                result = await call_next(ctx)
                if self._outcome not in (None, "ok", "asked") or (
                    isinstance(result, CallToolResult) and result.is_error
                ):
                    self._set_error("tool_error")
                return result
            except MCPError as error:
                self._set_error(str(error.error.code), is_code=True)
                raise
            except ValidationError:
                # Use the error code with which the SDK answers invalid parameters.
                self._set_error(str(INVALID_PARAMS), is_code=True)
                raise
            except BaseException as error:
                self._set_error(type(error).__qualname__)
                raise
            finally:
                OBSERVED_REQUEST.reset(token)
                if _has_metrics():
                    seconds = time.perf_counter() - started
                    histogram = _get_duration_histogram("operation")
                    histogram.record(seconds, self._metric_attributes)

    def _set_error(self, error_type: str, *, is_code: bool = False) -> None:
        """Set the error, without its message, which may repeat the caller's arguments."""
        attributes = {"error.type": error_type}
        if is_code:
            attributes["rpc.response.status_code"] = error_type
        self._metric_attributes.update(attributes)
        self._span.set_attributes(attributes)
        self._span.set_status(trace.StatusCode.ERROR)


def _build_session_attributes(
    ctx: ServerRequestContext[Any, Any], client: str | None
) -> dict[str, str]:
    """Return the attributes that are equal for all messages of a session."""
    attributes = {"mcp.protocol.version": ctx.protocol_version}
    if ctx.request is None:
        attributes["network.transport"] = "pipe"
    else:
        attributes |= {"network.transport": "tcp", "network.protocol.name": "http"}
    if client is not None:
        attributes["toolcast.client"] = client
    return attributes


def _extract_parent(meta: Any) -> Context | None:
    """Return the caller's trace context from `_meta`; None if missing or not valid."""
    if not meta or _PARENT not in meta:
        return None
    try:
        context = propagate.extract(meta)
    except Exception:
        # Ignore any exception: propagators raise various errors for values that are not
        # strings.
        return None
    is_valid = trace.get_current_span(context).get_span_context().is_valid
    return context if is_valid else None


def _has_metrics() -> bool:
    """Return whether metrics may be configured, which requires an import of their API."""
    return "opentelemetry.metrics" in sys.modules


@cache
def _get_duration_histogram(kind: str) -> Histogram:
    """Return the histogram for durations of an `operation` or a `session`."""
    from opentelemetry import metrics

    # Names, descriptions and unit are those of the semantic conventions.
    descriptions = {
        "operation": "MCP request or notification duration as observed on the receiver"
        " from the time it was received until the result or ack is sent.",
        "session": "The duration of the MCP session as observed on the MCP server.",
    }
    return metrics.get_meter("toolcast").create_histogram(
        f"mcp.server.{kind}.duration",
        unit="s",
        description=descriptions[kind],
        explicit_bucket_boundaries_advisory=_BUCKETS_S,
    )
