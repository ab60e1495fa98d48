"""Recording of calls in the ledger, at their start and at their end.

The ledger is a SQLite file, a PostgreSQL database, or a function of the project.

A call whose start cannot be recorded does not run. If its end cannot be recorded, the caller
still receives the result, and an error is logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ..core.calls.handlers import load_function
from ..core.calls.untrusted_text import RateLimitFilter
from ..core.calls.worker_threads import has_max_abandoned_calls, run_in_thread
from ..core.context import CallContext, CallOutcome, CallResult, ToolResponse
from ..core.definitions.tool import Tool
from ..core.toolset_settings import LedgerError, LedgerSettings
from ..core.validation.limits import measure_value
from .records import Ledger, Record
from .secret_arguments import Redaction

_logger = logging.getLogger("toolcast.ledger")
_logger.addFilter(RateLimitFilter())

_SINK_TIMEOUT_S = 10.0
"""Timeout of a project's ledger function for one record."""


class Recorder:
    """Recorder of the calls of a toolset's persistent tools.

    Args:
        settings: the ledger settings; None if the toolset has no ledger. Calls of persistent
            tools then fail.
        package: the package that must define the ledger function of the settings.
    """

    def __init__(
        self, settings: LedgerSettings | None, package: str | None = None
    ) -> None:
        self._settings = settings
        self._package = package
        self._ledger: Ledger | None = None
        self._redactions: dict[str, tuple[Any, Redaction]] = {}

    async def record(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        prepare: Callable[[], Awaitable[CallResult]],
    ) -> CallResult:
        """Record the start of a call, run it with `prepare`, and record its end.

        If the start cannot be recorded, the call is not run and the response is an error. If
        only the end cannot be recorded, an error is logged.
        """
        if self._settings is None:
            _logger.error(
                "rejected a call of %s: it is persistent, but no ledger is configured",
                tool.name,
            )
            return _build_unavailable_result()
        # `RateLimitFilter` limits log records of the same kind, here those of one tool.
        kind = {"kind": (weakref.ref(self), tool.name)}
        try:
            ledger = self._get_ledger(self._settings)
        except LedgerError:
            _logger.exception(
                "rejected a call of %s: the ledger is not available",
                tool.name,
                extra=kind,
            )
            return _build_unavailable_result()
        if self._settings.keep is not None:
            from .tables import start_retention

            start_retention(self._settings)
        record = Record(
            id=_create_call_id(),
            toolset=self._settings.toolset,
            tool=tool.name,
            client=context.client,
            started=datetime.now(UTC).isoformat(timespec="microseconds"),
            arguments=self._redact_arguments(tool, arguments),
            user=context.user,
        )
        started = time.perf_counter()

        def end_record(response: ToolResponse, outcome: CallOutcome) -> Record:
            return replace(
                record,
                outcome=outcome,
                result=_result(response),
                error=response.error,
                seconds=round(time.perf_counter() - started, 6),
            )

        try:
            await ledger.write(record)
        except LedgerError:
            _logger.exception(
                "rejected call %s of %s: its start cannot be recorded",
                record.id,
                tool.name,
                extra=kind,
            )
            return _build_unavailable_result()
        # A cancelled `write` may still have stored the start, so record an end: otherwise the
        # row would remain `started`.
        except asyncio.CancelledError:
            ledger.write_soon(end_record(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            response, outcome = await prepare()
        except BaseException:
            ledger.write_soon(end_record(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            await ledger.write(end_record(response, outcome))
        except LedgerError:
            # The handler has already run, so return its result although its end is not
            # recorded.
            _logger.exception(
                "the end of call %s of %s is not recorded", record.id, tool.name
            )
        return response, outcome

    async def check(self) -> None:
        """Check that calls can be recorded.

        Raises:
            LedgerError: the ledger is missing or cannot be used.
        """
        if self._settings is None:
            raise LedgerError("tools are persistent, but no ledger is configured")
        await self._get_ledger(self._settings).check()

    async def close(self) -> None:
        """Write all pending records, and stop the removal of old rows."""
        if self._ledger is not None:
            await self._ledger.close()
        if self._settings is not None and self._settings.keep is not None:
            from .tables import stop_retention

            await asyncio.to_thread(stop_retention, self._settings)

    def _get_ledger(self, settings: LedgerSettings) -> Ledger:
        if self._ledger is None:
            self._ledger = open_ledger(settings, self._package)
        return self._ledger

    def _redact_arguments(self, tool: Tool, arguments: Any) -> Any:
        """Return the arguments with secrets replaced; None if they exceed the limits."""
        if measure_value(arguments).problem is not None:
            return None
        schema, redaction = self._redactions.get(tool.name, (None, None))
        if redaction is None or schema is not tool.parameters:
            redaction = Redaction(tool.parameters)
            self._redactions[tool.name] = tool.parameters, redaction
        return redaction.redact(arguments)


def open_ledger(settings: LedgerSettings, package: str | None = None) -> Ledger:
    """Create the ledger of the settings; files and databases are opened at the first record.

    If the settings configure no file, the path of the default file is logged.

    Args:
        settings: the ledger settings.
        package: the package that must define the ledger function of the settings.

    Raises:
        LedgerError: the configured value is neither a file nor a database, the database's
            driver is not installed, or there is no folder for the default file.
    """
    if settings.sink is not None:
        return FunctionLedger(settings.sink, package)
    if settings.get_database_url() is not None:
        try:
            from .postgresql_ledger import PostgresqlLedger
        except ImportError as error:
            raise LedgerError(
                f"{settings.variable} is a database URL, which needs psycopg\n  help: run"
                " `pip install 'toolcast-runtime[postgresql]'`"
            ) from error
        return PostgresqlLedger(settings)
    from .sqlite_ledger import SqliteLedger

    file = settings.get_file()
    if not settings.is_configured():
        _logger.warning(
            "calls of persistent tools are recorded in %s; to use another file, set %s, or"
            " `ledger.path` in toolset.yaml",
            file,
            settings.variable,
        )
    return SqliteLedger(file)


class FunctionLedger:
    """Ledger that passes each record to a sync or async function of the project.

    Args:
        reference: the function as `module:function`; imported at the first record.
        package: the package that must define the function.
    """

    def __init__(self, reference: str, package: str | None) -> None:
        self._reference = reference
        self._package = package
        self._function: Callable[[Record], Any] | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def write(self, record: Record) -> None:
        """Call the function, and wait for at most ten seconds."""
        try:
            await asyncio.wait_for(self._call_function(record), _SINK_TIMEOUT_S)
        except Exception as error:
            raise LedgerError(
                f"the record cannot be passed to {self._reference}"
            ) from error

    def write_soon(self, record: Record) -> None:
        """Call the function in a background task of the running event loop."""
        task = asyncio.get_running_loop().create_task(self._write_or_log(record))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def check(self) -> None:
        """Import the function without calling it."""
        try:
            self._function = load_function(self._reference, self._package)
        except Exception as error:
            raise LedgerError(f"{self._reference} cannot be imported") from error

    async def close(self) -> None:
        """Wait for the background tasks of the running event loop."""
        loop = asyncio.get_running_loop()
        tasks = [task for task in self._running if task.get_loop() is loop]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write_or_log(self, record: Record) -> None:
        try:
            await self.write(record)
        except LedgerError:
            _logger.exception("the end of call %s is not recorded", record.id)

    async def _call_function(self, record: Record) -> None:
        if self._function is None:
            self._function = load_function(self._reference, self._package)
        if inspect.iscoroutinefunction(self._function):
            await self._function(record)
            return
        if has_max_abandoned_calls(self._reference):
            raise LedgerError("too many calls of the sink function are still running")
        result, error = await run_in_thread(
            partial(self._function, record), self._reference
        )
        if error is not None:
            raise error
        if inspect.isawaitable(result):
            await result


def _create_call_id() -> str:
    """Return a unique ID that sorts after the IDs of earlier calls."""
    # Begin the ID with the time: tables are stored in the order of IDs, so that new rows are
    # appended.
    return f"{time.time_ns():016x}{random.getrandbits(64):016x}"


def _build_unavailable_result() -> CallResult:
    text = (
        "the tool is not available: its calls must be recorded, and the ledger cannot be"
        " written; the log says why"
    )
    return ToolResponse(error=text), "error"


def _result(response: ToolResponse) -> Any:
    if response.result is None and response.content is not None:
        content = [dict(block) for block in response.content]
        return {"content": content} if measure_value(content).problem is None else None
    return response.result
