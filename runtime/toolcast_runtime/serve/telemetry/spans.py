"""An OpenTelemetry span a call, in processes that use OpenTelemetry.

Nothing is imported for it: whoever wants spans has set OpenTelemetry up before. The span of a
call that a request of MCP asks for is that of the request; other calls have one of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ...core.context import CallContext


class Watched(Protocol):
    """A request of MCP that is watched."""

    def calls(self, tool: str) -> None:
        """Says which tool the request has called."""

    def set_outcome(self, outcome: str) -> None:
        """Says what came of the call."""


TRACE_PARENT = "traceparent"
"""The key of what a caller says of its own span."""

REQUEST: ContextVar[Watched | None] = ContextVar("watched_request", default=None)
"""The request that is answered here, until it has called a tool: handlers call others."""


def is_traced() -> bool:
    """Whether somebody has set OpenTelemetry up, so that a span is more than nothing."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    # The MCP SDK imports the API; without a provider every span of it is a no-op.
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )


def is_measured() -> bool:
    """Whether somebody may have set metrics up: by itself nothing imports their API."""
    return "opentelemetry.metrics" in sys.modules


def is_observed(meta: Mapping[str, Any] | None) -> bool:
    """Whether a request of MCP is measured, or part of a span here or at its caller's.

    Args:
        meta: what the request says of itself.
    """
    is_handed_on = meta is not None and TRACE_PARENT in meta
    return is_handed_on or is_measured() or is_traced()


def is_watched() -> bool:
    """Whether a call that begins here is part of a span."""
    return REQUEST.get() is not None or is_traced()


@contextmanager
def span(context: CallContext) -> Iterator[Callable[[str], None]]:
    """The span of a call that is watched, as the semantic conventions for tool calls name it.

    It has which tool and which client, how long and what came of it; of arguments and
    results nothing. The value is a function that sets the outcome.

    Source: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md
    """
    request = REQUEST.get()
    if request is not None:
        REQUEST.set(None)
        request.calls(context.tool)
        try:
            yield request.set_outcome
        except BaseException:
            request.set_outcome("cancelled")
            raise
        return
    trace: Any = sys.modules["opentelemetry.trace"]
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": context.tool,
    }
    if context.client is not None:
        attributes["toolcast.client"] = context.client
    tracer = trace.get_tracer("toolcast")
    with tracer.start_as_current_span(
        f"execute_tool {context.tool}",
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:

        def set_outcome(outcome: str) -> None:
            current.set_attribute("toolcast.outcome", outcome)
            if outcome not in ("ok", "asked"):
                current.set_attribute("error.type", outcome)
                current.set_status(trace.StatusCode.ERROR)

        try:
            yield set_outcome
        except BaseException:
            set_outcome("cancelled")
            raise
