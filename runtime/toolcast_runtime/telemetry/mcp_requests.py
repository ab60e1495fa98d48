"""OpenTelemetry spans and metrics of MCP requests, in processes that use OpenTelemetry.

The SDK's own spans are left out: theirs have no session and no transport, and take names from
whoever asks. Where nobody has set OpenTelemetry up, nothing is done.

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
"""What stands for names that a stranger has made up: each would be a time series."""
_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_MAX_VALUE_CHARACTERS = 128
"""Characters of an attribute's value."""
_PARENT = "traceparent"
_SESSION = "mcp-session-id"


class ObservedRequests:
    """The middleware that makes a span a message, and measures it.

    The session is measured of a server that has one connection, such as stdio's: over HTTP
    nothing public of the SDK tells when one ends.

    Args:
        served: what is served.
        client: who is served.
    """

    def __init__(self, served: ToolsetServer, client: str | None) -> None:
        self._served = served
        self._client = client
        self._prompts: frozenset[str] = frozenset()
        if served.mcp_prompts is not None:
            self._prompts = frozenset(one.name for one in served.prompts(client))
        self._begun: tuple[float, dict[str, str]] | None = None

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        shared = _shared(ctx, self._client)
        if ctx.method == "initialize" and ctx.request is None and _is_measured():
            self._begun = time.perf_counter(), shared
        request = ObservedRequest(ctx, shared, self._target(ctx))
        return await request.answered(ctx, call_next)

    def end_session(self) -> None:
        """The connection has ended."""
        if self._begun is not None:
            started, shared = self._begun
            _duration("session").record(time.perf_counter() - started, shared)

    def _target(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, str]:
        """What the request names, if it is there for somebody."""
        name = (ctx.params or {}).get("name")
        if not isinstance(name, str):
            return {}
        served = self._served
        if ctx.method == "tools/call" and served.has(served.registry.resolve(name)):
            return {"gen_ai.tool.name": name}
        if ctx.method == "prompts/get" and name in self._prompts:
            return {"gen_ai.prompt.name": name}
        return {}


class ObservedRequest:
    """A message that is being answered."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        shared: dict[str, str],
        target: dict[str, str],
    ) -> None:
        method = ctx.method if ctx.method in _METHODS else _OTHER
        self._method = method
        # What metrics have, too: each combination is one series.
        self._measured = {"mcp.method.name": method, **shared, **target}
        if method == "tools/call":
            self._measured["gen_ai.operation.name"] = "execute_tool"
        self._outcome: str | None = None
        attributes = dict(self._measured)
        if ctx.request_id is not None:
            attributes["jsonrpc.request.id"] = str(ctx.request_id)[
                :_MAX_VALUE_CHARACTERS
            ]
        session = None if ctx.request is None else ctx.request.headers.get(_SESSION)
        if session is not None:
            attributes["mcp.session.id"] = session[:_MAX_VALUE_CHARACTERS]
        parent, ambient = _parent(ctx.meta), trace.get_current_span()
        links = []
        if parent is not None and ambient.get_span_context().is_valid:
            links.append(trace.Link(ambient.get_span_context()))
        self._span = trace.get_tracer("toolcast").start_span(
            " ".join([method, *target.values()]),
            context=parent,
            kind=trace.SpanKind.SERVER,
            attributes=attributes,
            links=links,
        )

    def calls(self, tool: str) -> None:
        """Add the called tool; that of an external server is unknown before."""
        self._measured["gen_ai.tool.name"] = tool
        self._span.set_attribute("gen_ai.tool.name", tool)
        self._span.update_name(f"{self._method} {tool}")

    def set_outcome(self, outcome: str) -> None:
        """Add what came of the call."""
        self._outcome = outcome
        self._span.set_attribute("toolcast.outcome", outcome)

    async def answered(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
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
                    self._failed("tool_error")
                return result
            except MCPError as error:
                self._failed(str(error.error.code), is_code=True)
                raise
            except ValidationError:
                self._failed(str(INVALID_PARAMS), is_code=True)
                raise
            except BaseException as error:
                self._failed(type(error).__qualname__)
                raise
            finally:
                OBSERVED_REQUEST.reset(token)
                if _is_measured():
                    seconds = time.perf_counter() - started
                    _duration("operation").record(seconds, self._measured)

    def _failed(self, error_type: str, *, is_code: bool = False) -> None:
        """Says so, without the message: it repeats what was sent."""
        told = {"error.type": error_type}
        if is_code:
            told["rpc.response.status_code"] = error_type
        self._measured.update(told)
        self._span.set_attributes(told)
        self._span.set_status(trace.StatusCode.ERROR)


def _shared(ctx: ServerRequestContext[Any, Any], client: str | None) -> dict[str, str]:
    """What requests and their session have in common."""
    shared = {"mcp.protocol.version": ctx.protocol_version}
    if ctx.request is None:
        shared["network.transport"] = "pipe"
    else:
        shared |= {"network.transport": "tcp", "network.protocol.name": "http"}
    if client is not None:
        shared["toolcast.client"] = client
    return shared


def _parent(meta: Any) -> Context | None:
    """The caller's trace, if it hands one on that can be read."""
    if not meta or _PARENT not in meta:
        return None
    try:
        context = propagate.extract(meta)
    except Exception:
        # What a propagator makes of values that are no texts is its own.
        return None
    is_valid = trace.get_current_span(context).get_span_context().is_valid
    return context if is_valid else None


def _is_measured() -> bool:
    """Whether somebody may have set metrics up: by itself nothing imports their API."""
    return "opentelemetry.metrics" in sys.modules


@cache
def _duration(of: str) -> Histogram:
    from opentelemetry import metrics

    described = {
        "operation": "MCP request or notification duration as observed on the receiver"
        " from the time it was received until the result or ack is sent.",
        "session": "The duration of the MCP session as observed on the MCP server.",
    }
    return metrics.get_meter("toolcast").create_histogram(
        f"mcp.server.{of}.duration",
        unit="s",
        description=described[of],
        explicit_bucket_boundaries_advisory=_SECONDS,
    )
