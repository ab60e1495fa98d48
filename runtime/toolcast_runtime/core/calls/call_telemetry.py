"""Telemetry of a call: progress reports, one log line, and an OpenTelemetry span.

Neither the log line nor the span contains arguments or results. The line has the tool, the
client, the user, the outcome and the duration. It is logged by `toolcast.calls`, so a program
that embeds the runtime sees it only if it configures that logger or a parent of it.

This module never imports OpenTelemetry: spans are created only if the program has already
imported and configured it. A call that answers an MCP request is part of the request's span;
every other call has its own span.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from ..context import NOT_SENT, ReportDelivery, ReportProgress
from .untrusted_text import escape_excerpt

if TYPE_CHECKING:
    from ...telemetry.mcp_requests import ObservedRequest
    from ..context import CallContext, Caller

_logger = logging.getLogger("toolcast")
_calls_logger = logging.getLogger("toolcast.calls")
_REPORT_TIMEOUT_S = 1.0
"""How long a finished call waits until its last progress report is sent."""
_MAX_VALUE_CHARACTERS = 128
"""Maximum length of a value in the log line; longer values are cut."""
_is_plain = re.compile(r"[\w.:@/+-]+", re.ASCII).fullmatch


def log_call(
    tool: str | None,
    outcome: str,
    started: float,
    client: str | None,
    caller: Caller,
    error: str | None = None,
) -> None:
    """Log one line about a call that has ended.

    Args:
        tool: the tool's name; None if no such tool exists.
        outcome: a `CallOutcome`, or `refused` if the caller may not call the tool.
        started: when the call began, by `time.perf_counter`.
        client: the client's name; None in a toolset without clients.
        caller: the identity and the request behind the call.
        error: the error message of a failed call. It is logged only at level DEBUG, because
            it may repeat arguments.
    """
    if not _calls_logger.isEnabledFor(logging.INFO):
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
    if error is not None and _calls_logger.isEnabledFor(logging.DEBUG):
        fields["error"] = error
    line = []
    for name, value in fields.items():
        if isinstance(value, str):
            if len(value) > _MAX_VALUE_CHARACTERS or not _is_plain(value):
                fields[name] = value = escape_excerpt(value, _MAX_VALUE_CHARACTERS)
                if not _is_plain(value):
                    value = '"' + value.replace('"', '\\"') + '"'
            line.append(f"{name}={value}")
        elif value is not None:
            line.append(f"{name}={value:.6f}")
    # Create the record directly: `Logger.info()` would inspect the stack for the location of
    # the logging statement, which costs time in every call.
    record = logging.getLogRecordFactory()(
        _calls_logger.name, logging.INFO, __file__, 0, " ".join(line), (), None
    )
    vars(record).update(fields)
    _calls_logger.handle(record)


OBSERVED_REQUEST: ContextVar[ObservedRequest | None] = ContextVar(
    "observed_request", default=None
)
"""MCP request being answered, until it calls its tool.

The call of the tool clears the variable, so that further calls by its handler get their own spans.
"""


def is_tracing_enabled() -> bool:
    """Return whether the program has configured an OpenTelemetry tracer provider."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    # An imported API is not enough, because the MCP SDK imports it as well: without a
    # configured provider all its spans are no-ops.
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )


def should_trace_call() -> bool:
    """Return whether a call must be traced: for an MCP request, or if tracing is enabled."""
    return OBSERVED_REQUEST.get() is not None or is_tracing_enabled()


@contextlib.contextmanager
def trace_call(context: CallContext) -> Iterator[Callable[[str], None]]:
    """Record a call in a span; yield a function that sets the span's outcome.

    A call that answers an observed MCP request is recorded in the request's span; every other
    call gets a new span. If the block raises, the outcome is `cancelled`.

    The span follows OpenTelemetry's semantic conventions for tool calls. It has the tool, the
    client, the duration and the outcome, but no arguments or results.

    Source: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md
    """
    request = OBSERVED_REQUEST.get()
    if request is not None:
        OBSERVED_REQUEST.set(None)
        request.set_tool(context.tool)
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
    # Do not let OpenTelemetry record exceptions: their messages may contain arguments.
    with tracer.start_as_current_span(
        f"execute_tool {context.tool}",
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:

        def set_outcome(outcome: str) -> None:
            span.set_attribute("toolcast.outcome", outcome)
            if outcome not in ("ok", "asked"):
                span.set_attribute("error.type", outcome)
                span.set_status(trace.StatusCode.ERROR)

        try:
            yield set_outcome
        except BaseException:
            set_outcome("cancelled")
            raise


class ProgressReporter:
    """Delivery of one call's progress reports without blocking its handler.

    Enter and exit it in the call's event loop; `report` may be called from any thread. While
    one report is being sent, only the newest of the later ones is stored, and the others are
    dropped. After the exit no report is sent.
    """

    def __init__(self, send: ReportProgress) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest: tuple[float, float | None, str | None] | None = None
        self._last_number = 0
        self._sent_number = 0
        self._is_wake_scheduled = False
        self._is_closed = False
        self._sender: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def report(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> ReportDelivery:
        """Queue a report for sending, from any thread; return an awaitable of its delivery.

        Raises:
            ValueError: a number is not finite.
            TypeError: a number has another type, or the message is not a string.
        """
        progress = _validate_number(progress)
        total = None if total is None else _validate_number(total)
        if not (message is None or isinstance(message, str)):
            raise TypeError("`message` must be a string")
        with self._lock:
            if self._is_closed:
                return NOT_SENT
            self._newest = progress, total, message
            self._last_number += 1
            number, is_wake_scheduled = self._last_number, self._is_wake_scheduled
            self._is_wake_scheduled = True
        if not is_wake_scheduled:
            # `call_soon_threadsafe` raises RuntimeError if the event loop was closed while the
            # handler's thread continued.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._start_sender)
        return ReportDelivery(partial(self._wait_until_sent, number))

    async def __aenter__(self) -> ProgressReporter:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            self._is_closed = True
        if kind is None:
            self._start_sender()
            if self._sender is not None:
                await asyncio.wait({self._sender}, timeout=_REPORT_TIMEOUT_S)
        if self._sender is not None:
            self._sender.cancel()
        self._notify_waiters()

    def _start_sender(self) -> None:
        self._is_wake_scheduled = False
        if self._sender is None and self._newest is not None:
            self._sender = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while True:
                with self._lock:
                    report, self._newest = self._newest, None
                    number = self._last_number
                if report is None:
                    break
                await self._send(*report)
                self._sent_number = number
                self._notify_waiters()
        except Exception:
            # Sending fails, for example, after the client disconnected. The call continues
            # without further reports.
            _logger.warning("the progress of a call cannot be sent", exc_info=True)
            with self._lock:
                self._is_closed = True
        finally:
            self._sender = None
            self._notify_waiters()

    def _notify_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait_until_sent(self, number: int) -> None:
        """Wait until the report with this number, or a newer one, is sent.

        In another event loop than the call's, return at once.
        """
        if asyncio.get_running_loop() is self._loop:
            while self._sent_number < number and not self._is_closed:
                await self._changed.wait()


def _validate_number(value: float) -> float:
    """Return a number that JSON can represent: a plain int or a finite float."""
    # `float()` would convert booleans and numeric strings, but MCP requires JSON numbers.
    if isinstance(value, bool | str | bytes):
        raise TypeError("`progress` and `total` must be numbers")
    # `float()` raises OverflowError for an integer beyond the range of floats.
    with contextlib.suppress(OverflowError):
        if math.isfinite(number := float(value)):
            return value if type(value) is int else number
    raise ValueError("`progress` and `total` must be finite numbers")
