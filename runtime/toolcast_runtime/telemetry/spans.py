"""An OpenTelemetry span a call, in processes that use OpenTelemetry.

Nothing is imported for it: whoever wants spans has set OpenTelemetry up before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..calls.call_context import CallContext

__all__ = ["is_traced", "span"]


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

    It has which tool and which client, how long and what came of it; of arguments and
    results nothing. The value is a function that sets the outcome.

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
