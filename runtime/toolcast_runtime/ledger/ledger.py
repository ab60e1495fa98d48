"""What is recorded of a call, and where records go."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ..calls.calling import CallOutcome
from .ledger_settings import LedgerSettings

__all__ = [
    "FunctionLedger",
    "Ledger",
    "LedgerError",
    "Outcome",
    "Record",
    "open_ledger",
]

_logger = logging.getLogger("toolcast.ledger")

Outcome = CallOutcome | Literal["started"]
"""`started` is what a call that never ended leaves behind, as when its process was killed."""

_PATIENCE = 10.0


class LedgerError(Exception):
    """A record could not be written."""


@dataclass(frozen=True, slots=True)
class Record:
    """One call, when it starts and again when it ends.

    Attributes:
        id: of the call; both of its records have it.
        toolset: the toolset's name.
        tool: the tool's present name.
        client: who called; None in a toolset without clients.
        started: when it started, ISO 8601 in UTC to the microsecond, so that it orders rows.
        arguments: as they were sent, secrets replaced; None when they are no JSON.
        outcome: what came of it.
        result: the JSON value that it gave.
        error: what the caller was told when it failed.
        seconds: how long it took; None while it runs.
    """

    id: str
    toolset: str
    tool: str
    client: str | None
    started: str
    arguments: Any
    outcome: Outcome = "started"
    result: Any = None
    error: str | None = None
    seconds: float | None = None


class Ledger(Protocol):
    """Where records go."""

    async def write(self, record: Record) -> None:
        """Returns when the record is kept.

        Raises:
            LedgerError: it is not.
        """

    def write_soon(self, record: Record) -> None:
        """Keeps the record without making the caller wait; a failure is logged."""

    async def close(self) -> None:
        """Returns when everything is kept that was given before. It can be used again."""


def open_ledger(settings: LedgerSettings) -> Ledger:
    """The ledger of the settings; what is wrong with it shows at the first record."""
    if settings.sink is not None:
        return FunctionLedger(settings.sink)
    from .sqlite_ledger import SqliteLedger

    return SqliteLedger(settings.file())


class FunctionLedger:
    """Gives each record to a function of the team's own, sync or async.

    Args:
        reference: `module:function`, imported with the first record.
    """

    def __init__(self, reference: str) -> None:
        self._reference = reference
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
            module, _, name = self._reference.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        if inspect.iscoroutinefunction(self._function):
            await self._function(record)
            return
        given = await asyncio.to_thread(self._function, record)
        if inspect.isawaitable(given):
            await given
