"""Records calls in the ledger: before they start, and however they end.

The ledger is a SQLite file, a PostgreSQL database, or a function of the team's own.

Closed: a call whose start cannot be recorded does not happen. When its end cannot be, what
it did is done: the caller gets the answer, and the log says loudly what is missing.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ..core.calls.handlers import load_function
from ..core.calls.untrusted_text import RateLimitFilter
from ..core.calls.worker_threads import has_too_many_abandoned, run_in_thread
from ..core.context import CallContext, CallOutcome, CallResult, ToolResponse
from ..core.definitions.tool import Tool
from ..core.toolset_settings import LedgerError, LedgerSettings
from ..core.validation.limits import measure_value
from .records import Ledger, Record
from .secret_arguments import Redaction

_logger = logging.getLogger("toolcast.ledger")
_logger.addFilter(RateLimitFilter())

_SINK_TIMEOUT_S = 10.0
"""Time that a project's ledger function has for one record."""


class Recorder:
    """Records the calls of a toolset's persistent tools.

    Args:
        settings: where records go; None when it has none, and then calls of
            persistent tools are refused.
        package: the package that has to define the settings' function.
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
        """Record a call: its start before `prepare`, which runs it, and its end after."""
        if self._settings is None:
            _logger.error("tool %s is persistent, and there is no ledger", tool.name)
            return _unrecorded()
        kind = {"kind": (id(self), tool.name)}
        try:
            ledger = self._opened(self._settings)
        except LedgerError:
            _logger.exception("a call of %s is refused", tool.name, extra=kind)
            return _unrecorded()
        if self._settings.keep is not None:
            from .tables import keep_no_longer

            keep_no_longer(self._settings)
        record = Record(
            id=_number(),
            toolset=self._settings.toolset,
            tool=tool.name,
            client=context.client,
            started=datetime.now(UTC).isoformat(timespec="microseconds"),
            arguments=self._recordable(tool, arguments),
            user=context.user,
        )
        started = time.perf_counter()

        def ended(response: ToolResponse, outcome: CallOutcome) -> Record:
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
                "call %s of %s is refused", record.id, tool.name, extra=kind
            )
            return _unrecorded()
        except asyncio.CancelledError:
            ledger.write_soon(ended(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            response, outcome = await prepare()
        except BaseException:
            ledger.write_soon(ended(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            await ledger.write(ended(response, outcome))
        except LedgerError:
            _logger.exception(
                "the end of call %s of %s is not recorded", record.id, tool.name
            )
        return response, outcome

    async def check(self) -> None:
        """Returns when calls can be recorded.

        Raises:
            LedgerError: they cannot.
        """
        if self._settings is None:
            raise LedgerError("tools are persistent, and there is no ledger")
        await self._opened(self._settings).check()

    async def close(self) -> None:
        """Returns when everything is recorded."""
        if self._ledger is not None:
            await self._ledger.close()
        if self._settings is not None and self._settings.keep is not None:
            from .tables import stop

            await asyncio.to_thread(stop, self._settings)

    def _opened(self, settings: LedgerSettings) -> Ledger:
        if self._ledger is None:
            self._ledger = open_ledger(settings, self._package)
        return self._ledger

    def _recordable(self, tool: Tool, arguments: Any) -> Any:
        if measure_value(arguments).problem is not None:
            return None
        schema, redaction = self._redactions.get(tool.name, (None, None))
        if redaction is None or schema is not tool.parameters:
            redaction = Redaction(tool.parameters)
            self._redactions[tool.name] = tool.parameters, redaction
        return redaction.of(arguments)


def open_ledger(settings: LedgerSettings, package: str | None = None) -> Ledger:
    """The ledger of the settings; what is wrong with its file shows at the first record.

    Where nobody has named a file, the log says which one it is.

    Args:
        settings: where records go.
        package: the package that has to define the settings' function.

    Raises:
        LedgerError: what is named is neither file nor database, the database's driver is not
            installed, or no file is named and the user has no folder for one.
    """
    if settings.sink is not None:
        return FunctionLedger(settings.sink, package)
    if settings.get_database_url() is not None:
        try:
            from .postgresql_ledger import PostgresqlLedger
        except ImportError as error:
            raise LedgerError(
                f"{settings.variable} names a database, which takes:"
                " pip install 'toolcast-runtime[postgresql]'"
            ) from error
        return PostgresqlLedger(settings)
    from .sqlite_ledger import SqliteLedger

    file = settings.get_file()
    if not settings.is_configured():
        _logger.warning(
            "calls of persistent tools are recorded in %s; %s, or `ledger.path` of the"
            " toolset, names another file",
            file,
            settings.variable,
        )
    return SqliteLedger(file)


class FunctionLedger:
    """Gives each record to a function of the team's own, sync or async.

    Args:
        reference: `module:function`, imported with the first record.
        package: the package that has to define it.
    """

    def __init__(self, reference: str, package: str | None) -> None:
        self._reference = reference
        self._package = package
        self._function: Callable[[Record], Any] | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def write(self, record: Record) -> None:
        """Calls the function, for ten seconds at most."""
        try:
            await asyncio.wait_for(self._give(record), _SINK_TIMEOUT_S)
        except Exception as error:
            raise LedgerError(f"{self._reference} took no record") from error

    def write_soon(self, record: Record) -> None:
        """Calls the function in the background of the running loop."""
        task = asyncio.get_running_loop().create_task(self._logged(record))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def check(self) -> None:
        """Imports the function; whether it takes a record shows when it has to."""
        try:
            self._function = load_function(self._reference, self._package)
        except Exception as error:
            raise LedgerError(f"{self._reference} cannot be imported") from error

    async def close(self) -> None:
        """Waits for what runs in the background of this loop."""
        loop = asyncio.get_running_loop()
        mine = [task for task in self._running if task.get_loop() is loop]
        await asyncio.gather(*mine, return_exceptions=True)

    async def _logged(self, record: Record) -> None:
        try:
            await self.write(record)
        except LedgerError:
            _logger.exception("the end of call %s is not recorded", record.id)

    async def _give(self, record: Record) -> None:
        if self._function is None:
            self._function = load_function(self._reference, self._package)
        if inspect.iscoroutinefunction(self._function):
            await self._function(record)
            return
        if has_too_many_abandoned(self._reference):
            raise LedgerError("it does not end")
        given, error = await run_in_thread(
            partial(self._function, record), self._reference
        )
        if error is not None:
            raise error
        if inspect.isawaitable(given):
            await given


def _number() -> str:
    """The id of a call that begins now: nobody has it, and it comes after earlier ones.

    A file that is in the order of its ids is written at its end then, and not all over.
    """
    return f"{time.time_ns():016x}{random.getrandbits(64):016x}"


def _unrecorded() -> CallResult:
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
