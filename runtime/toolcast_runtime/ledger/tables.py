"""Questions and answers in the ledger's tables, and the end of old rows.

The table of questions is shared by every process that has it, so that a round is taken once.

A thread removes rows that are older than the toolset says in small batches: at the first record
or question of a process, and each hour from then on. A writer waits for one batch at most.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..core.toolset_settings import LedgerError
from . import sqlite_ledger
from .records import RECORD_ERRORS, json_text, storable
from .secret_arguments import Redaction

if TYPE_CHECKING:
    from ..core.question import Asked
    from ..core.toolset_settings import LedgerSettings

_ASKED = (
    'INSERT INTO approvals (round, question, toolset, tool, client, "user", message,'
    " arguments, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TAKEN = "UPDATE approvals SET taken = ? WHERE round = ? AND taken IS NULL"
_GIVEN_BACK = "UPDATE approvals SET taken = NULL WHERE round = ?"
_ANSWERED = (
    "UPDATE approvals SET action = ?, taken = coalesce(taken, ?)"
    " WHERE round = ? AND question = ?"
)


class ApprovalsTable:
    """The table `approvals` of a toolset's ledger; each method is one short transaction."""

    def __init__(self, settings: LedgerSettings) -> None:
        self._settings = settings

    async def record_question(self, asked: Asked) -> None:
        """As of `Approvals`."""
        keep_no_longer(self._settings)
        values = (
            asked.round,
            asked.question,
            self._settings.toolset,
            asked.tool,
            asked.client,
            storable(asked.user),
            asked.message,
            json_text(Redaction(asked.parameters).of(asked.arguments)),
            asked.asked,
        )
        await self._changed(_ASKED, values)

    async def claim_round(self, round: str) -> bool:
        """As of `Approvals`."""
        return await self._changed(_TAKEN, (_now(), round)) > 0

    async def release_round(self, round: str) -> None:
        """As of `Approvals`."""
        await self._changed(_GIVEN_BACK, (round,))

    async def record_answer(self, round: str, question: str, action: str) -> None:
        """As of `Approvals`."""
        await self._changed(_ANSWERED, (action, _now(), round, question))

    async def _changed(self, statement: str, values: tuple[Any, ...]) -> int:
        return await asyncio.to_thread(self._execute, statement, values)

    def _execute(self, statement: str, values: tuple[Any, ...]) -> int:
        """How many rows a statement changed."""
        try:
            url = self._settings.get_database_url()
            if url is not None:
                from .postgresql_ledger import changed

                return changed(url, statement, values)
            return sqlite_ledger.changed(self._settings.get_file(), statement, values)
        except (sqlite3.Error, LedgerError, ImportError, *RECORD_ERRORS) as error:
            raise OSError(f"the ledger cannot be written: {error}") from error


def _now() -> str:
    return _text(datetime.now(UTC))


_logger = logging.getLogger("toolcast.ledger")

_BATCH = 500
_PAUSE = 0.1
"""Seconds between two batches, in which others write."""
_HOUR = 3600.0
_UNANSWERED = timedelta(days=30)
"""A question whose answer was not used stays as long, if the toolset says less."""


class _Old:
    """How rows of a toolset are found that are too old, and removed."""

    def __init__(self, table: str, key: str, condition: str) -> None:
        places = ", ".join("?" for _ in key.split())
        # The words are ours.
        self.found = (
            f"SELECT {key} FROM {table} WHERE {condition} LIMIT {_BATCH}"  # noqa: S608
        )
        self.removed = f"DELETE FROM {table} WHERE ({key}) = ({places})"  # noqa: S608
        # A look for them in the same statement would hold up whoever writes to a SQLite file.
        self.removed_in_one = (
            f"DELETE FROM {table} WHERE ({key}) IN ({self.found})"  # noqa: S608
        )


_CALLS = _Old("calls", "id", "toolset = ? AND started < ? ORDER BY started")
_APPROVALS = _Old(
    "approvals",
    "round, question",
    "toolset = ? AND asked < ? AND (taken IS NOT NULL OR asked < ?)",
)


def keep_no_longer(settings: LedgerSettings) -> None:
    """Sees to it that old rows go, from now on until `stop`, if the toolset says so."""
    if settings.keep is None:
        return
    sweeping = _sweeping.get(settings)
    # In a forked child it is there and does not run.
    if sweeping is None or not sweeping.is_alive():
        sweeping = _sweeping[settings] = _Sweeping(settings)
        sweeping.start()


def stop(settings: LedgerSettings) -> None:
    """Returns when no row is removed any more."""
    sweeping = _sweeping.pop(settings, None)
    if sweeping is not None:
        sweeping.ended.set()
        if sweeping.is_alive():
            sweeping.join()


def remove_old(settings: LedgerSettings, ended: threading.Event, now: datetime) -> int:
    """Removes what is too old now; how many rows that was.

    Args:
        settings: of the toolset, which says how long rows are kept.
        ended: no further batch begins when it is set.
        now: the time.

    Raises:
        LedgerError: the ledger cannot be written.
        OSError: its file cannot be made.
        sqlite3.Error: its file cannot be used.
        ImportError: the database's driver is not installed.
    """
    kept = _time(settings.keep or "")
    before = [_text(now - kept), _text(now - max(kept, _UNANSWERED))]
    total = 0
    for old in (_CALLS, _APPROVALS):
        values = [settings.toolset, *before][: old.found.count("?")]
        while True:
            gone = _removed(settings, old, values)
            total += gone
            # One batch is always removed: many processes make one call, and end.
            if gone < _BATCH or ended.wait(_PAUSE):
                break
    return total


class _Sweeping(threading.Thread):
    """Removes the rows of one ledger."""

    def __init__(self, settings: LedgerSettings) -> None:
        super().__init__(name="ledger's old rows", daemon=True)
        self._settings = settings
        self.ended = threading.Event()

    def run(self) -> None:
        """Removes them until it is ended."""
        keep = self._settings.keep
        while True:
            try:
                gone = remove_old(self._settings, self.ended, datetime.now(UTC))
            except (LedgerError, OSError, sqlite3.Error, ImportError) as error:
                _logger.warning("rows older than %s stay: %s", keep, error)
            else:
                if gone:
                    _logger.info("%d rows older than %s are gone", gone, keep)
            if self.ended.wait(_HOUR):
                return


def _removed(settings: LedgerSettings, old: _Old, values: list[str]) -> int:
    url = settings.get_database_url()
    if url is not None:
        from .postgresql_ledger import changed

        return changed(url, old.removed_in_one, values)
    path = settings.get_file()
    if not path.exists():
        return 0
    with closing(sqlite_ledger.connected(path)) as connection:
        # Looking for them lets others write.
        keys = connection.execute(old.found, values).fetchall()
        if keys:
            # What was in them is gone from the file, too.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(old.removed, keys)
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return len(keys)


def _time(keep: str) -> timedelta:
    number = int(keep[:-1])
    return timedelta(days=number) if keep[-1] == "d" else timedelta(hours=number)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


_sweeping: dict[LedgerSettings, _Sweeping] = {}
