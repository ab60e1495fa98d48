"""What is told of a call: a log line each, and a span in processes that use OpenTelemetry.

Nothing of arguments and results. The line has which tool, for whom, what came of it and how long it
took; where the program is somebody else's, that sees it who has set up logging for
`toolcast.calls`, or a logger above it.

Nothing is imported for a span: whoever wants spans has set OpenTelemetry up before. The span of a
call that a request of MCP asks for is that of the request; other calls have one of their own.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from .untrusted_text import escaped

if TYPE_CHECKING:
    from ..context import CallContext, Caller

_logger = logging.getLogger("toolcast.calls")
_MOST_SHOWN = 128
_is_plain = re.compile(r"[\w.:@/+-]+", re.ASCII).fullmatch


def log_call(
    tool: str | None,
    outcome: str,
    started: float,
    client: str | None,
    caller: Caller,
) -> None:
    """Writes the line of a call that has ended, whatever came of it.

    Args:
        tool: its name; None when there is no such tool.
        outcome: as the ledger has it, or `refused`: it is not there for this caller.
        started: when the call began, by `time.perf_counter`.
        client: who calls.
        caller: who asks, and with which request.
    """
    if not _logger.isEnabledFor(logging.INFO):
        return
    seconds = round(time.perf_counter() - started, 6)
    request = caller.request_id
    fields: dict[str, str | float | None] = {
        "tool": tool,
        "client": client,
        "user": caller.user,
        "outcome": outcome,
        "seconds": seconds,
        "request_id": None if request is None else str(request),
    }
    line = []
    for name, value in fields.items():
        if isinstance(value, str):
            if len(value) > _MOST_SHOWN or not _is_plain(value):
                fields[name] = value = escaped(value, _MOST_SHOWN)
                if not _is_plain(value):
                    value = '"' + value.replace('"', '\\"') + '"'
            line.append(f"{name}={value}")
        elif value is not None:
            line.append(f"{name}={value:.6f}")
    # Each call has one, and `info` would look for the line of code that it is called from.
    told = (_logger.name, logging.INFO, __file__, 0, " ".join(line), (), None)
    record = logging.getLogRecordFactory()(*told)
    vars(record).update(fields)
    _logger.handle(record)


class Watched(Protocol):
    """A request of MCP that is watched."""

    def calls(self, tool: str) -> None:
        """Says which tool the request has called."""

    def set_outcome(self, outcome: str) -> None:
        """Says what came of the call."""


REQUEST: ContextVar[Watched | None] = ContextVar("watched_request", default=None)
"""The request that is answered here, until it has called a tool: handlers call others."""


def is_traced() -> bool:
    """Whether somebody has set OpenTelemetry up, so that a span is more than nothing."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    # The MCP SDK imports the API; without a provider every span of it is a no-op.
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )


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
