"""An OpenTelemetry span a call, in processes that use OpenTelemetry.

Nothing is imported for it: whoever wants spans has set OpenTelemetry up before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .call_context import CallContext

if TYPE_CHECKING:
    from mcp.server.context import (
        CallNext,
        HandlerResult,
        ServerMiddleware,
        ServerRequestContext,
    )

__all__ = ["is_traced", "span", "when_traced"]

_PARENT = "traceparent"
"""The key of `_meta` by which a caller hands its trace on."""


def is_traced() -> bool:
    """Whether somebody has set OpenTelemetry up, so that a span is more than nothing."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    # The MCP SDK imports the API; without a provider every span of it is a no-op.
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )


@contextmanager
def span(context: CallContext) -> Iterator[Callable[[str], None]]:
    """The span of a call that is traced, as the semantic conventions for tool calls name it.

    It says which tool and which client, how long and what came of it; of arguments and
    results nothing. The value is told the outcome.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
    """
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

        def told(outcome: str) -> None:
            current.set_attribute("toolcast.outcome", outcome)
            if outcome != "ok":
                current.set_attribute("error.type", outcome)
                current.set_status(trace.StatusCode.ERROR)

        try:
            yield told
        except BaseException:
            told("cancelled")
            raise


def when_traced(
    middleware: ServerMiddleware[Any],
) -> ServerMiddleware[Any]:
    """The SDK's spans, made only where somebody takes them or the caller began a trace.

    It says of its spans that they are no-ops without OpenTelemetry, and that leaving them out
    is for whoever builds the server: making them is an eighth of a short call.
    """

    async def traced(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if is_traced() or (ctx.meta and _PARENT in ctx.meta):
            return await middleware(ctx, call_next)
        return await call_next(ctx)

    return traced
