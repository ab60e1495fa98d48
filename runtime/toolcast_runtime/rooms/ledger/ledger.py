"""Where records go: a SQLite file, a PostgreSQL database, or a function of the team's own."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any

from ...core.calls.handlers import own_function
from ...core.toolset_settings import LedgerError, LedgerSettings
from .record import Ledger, Record

_logger = logging.getLogger("toolcast.ledger")

_PATIENCE = 10.0


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
    if settings.database() is not None:
        try:
            from .postgresql_ledger import PostgresqlLedger
        except ImportError as error:
            raise LedgerError(
                f"{settings.variable} names a database, which takes:"
                " pip install 'toolcast-runtime[postgresql]'"
            ) from error
        return PostgresqlLedger(settings)
    from .sqlite_ledger import SqliteLedger

    file = settings.file()
    if not settings.is_named():
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
            await asyncio.wait_for(self._give(record), _PATIENCE)
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
            self._function = own_function(self._reference, self._package)
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
            self._function = own_function(self._reference, self._package)
        if inspect.iscoroutinefunction(self._function):
            await self._function(record)
            return
        given = await asyncio.to_thread(self._function, record)
        if inspect.isawaitable(given):
            await given
