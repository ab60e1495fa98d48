"""What is told of a call: its progress, a log line, and a span where OpenTelemetry is used.

Nothing of arguments and results. The line has which tool, for whom, what came of it and how long it
took; where the program is somebody else's, that sees it who has set up logging for
`toolcast.calls`, or a logger above it.

Nothing is imported for a span: whoever wants spans has set OpenTelemetry up before. The span of a
call that a request of MCP asks for is that of the request; other calls have one of their own.
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

from ..context import NOT_SENT, ReportProgress, Sent
from .untrusted_text import escaped

if TYPE_CHECKING:
    from ...telemetry.mcp_requests import ObservedRequest
    from ..context import CallContext, Caller

_logger = logging.getLogger("toolcast")
_calls_logger = logging.getLogger("toolcast.calls")
_REPORT_TIMEOUT_S = 1.0
"""Time for which the last progress report of a call may delay its result."""
_MAX_VALUE_CHARACTERS = 128
"""Characters of a logged value."""
_is_plain = re.compile(r"[\w.:@/+-]+", re.ASCII).fullmatch


def log_call(
    tool: str | None,
    outcome: str,
    started: float,
    client: str | None,
    caller: Caller,
    error: str | None = None,
) -> None:
    """Writes the line of a call that has ended, whatever came of it.

    Args:
        tool: its name; None when there is no such tool.
        outcome: as the ledger has it, or `refused`: it is not there for this caller.
        started: when the call began, by `time.perf_counter`.
        client: who calls.
        caller: who asks, and with which request.
        error: what it said when it failed, told at `debug` alone: it may repeat what was sent.
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
                fields[name] = value = escaped(value, _MAX_VALUE_CHARACTERS)
                if not _is_plain(value):
                    value = '"' + value.replace('"', '\\"') + '"'
            line.append(f"{name}={value}")
        elif value is not None:
            line.append(f"{name}={value:.6f}")
    # Each call has one, and `info` would look for the line of code that it is called from.
    told = (_calls_logger.name, logging.INFO, __file__, 0, " ".join(line), (), None)
    record = logging.getLogRecordFactory()(*told)
    vars(record).update(fields)
    _calls_logger.handle(record)


REQUEST: ContextVar[ObservedRequest | None] = ContextVar(
    "watched_request", default=None
)
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


@contextlib.contextmanager
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


class Reports:
    """The reports of one call, made and left in its loop.

    Nobody who reports has to wait: while one report is being sent, the newest of the later
    ones is kept and the others are dropped. After the call nothing is sent.
    """

    def __init__(self, send: ReportProgress) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest: tuple[float, float | None, str | None] | None = None
        self._made = 0
        self._sent = 0
        self._is_woken = False
        self._is_over = False
        self._sender: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def report(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Sent:
        """Hands a report over; from any thread.

        Raises:
            ValueError: a number is infinite or none.
            TypeError: it is no number, or the message is no text.
        """
        progress = _number(progress)
        total = None if total is None else _number(total)
        if not (message is None or isinstance(message, str)):
            raise TypeError("the message is a text")
        with self._lock:
            if self._is_over:
                return NOT_SENT
            self._newest = progress, total, message
            self._made += 1
            number, is_woken = self._made, self._is_woken
            self._is_woken = True
        if not is_woken:
            # The loop may have ended while a thread ran on.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)
        return Sent(partial(self._until, number))

    async def __aenter__(self) -> Reports:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            self._is_over = True
        if kind is None:
            self._wake()
            if self._sender is not None:
                await asyncio.wait({self._sender}, timeout=_REPORT_TIMEOUT_S)
        if self._sender is not None:
            self._sender.cancel()
        self._tell()

    def _wake(self) -> None:
        """In the loop: somebody sends what there is."""
        self._is_woken = False
        if self._sender is None and self._newest is not None:
            self._sender = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while True:
                with self._lock:
                    report, self._newest = self._newest, None
                    number = self._made
                if report is None:
                    break
                await self._send(*report)
                self._sent = number
                self._tell()
        except Exception:
            # Whoever is told is not there any more, or is at fault: the call goes on.
            _logger.warning("the progress of a call cannot be sent", exc_info=True)
            with self._lock:
                self._is_over = True
        finally:
            self._sender = None
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, number: int) -> None:
        if asyncio.get_running_loop() is self._loop:
            while self._sent < number and not self._is_over:
                await self._changed.wait()


def _number(value: float) -> float:
    """The value as JSON has it, which a client takes for a number."""
    if isinstance(value, bool | str | bytes):
        raise TypeError("`progress` and `total` are numbers")
    with contextlib.suppress(OverflowError):  # an integer that no float can hold
        if math.isfinite(number := float(value)):
            return value if type(value) is int else number
    raise ValueError("`progress` and `total` are finite numbers")
