"""Confirmation questions in the ledger's tables, and removal of old rows.

All processes share the table of questions, so that only one call can use a round of answers.

A thread removes rows that are older than the toolset's `keep` in small batches: at the first
record or question of a process, and every hour after it. Writers wait for at most one batch.
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
from .records import RECORD_ERRORS, json_text, make_storable
from .secret_arguments import Redaction

if TYPE_CHECKING:
    from ..core.question import PendingQuestion
    from ..core.toolset_settings import LedgerSettings

_INSERT_QUESTION = (
    'INSERT INTO approvals (round, question, toolset, tool, client, "user", message,'
    " arguments, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CLAIM_ROUND = "UPDATE approvals SET taken = ? WHERE round = ? AND taken IS NULL"
_RELEASE_ROUND = "UPDATE approvals SET taken = NULL WHERE round = ?"
_UPDATE_ANSWER = (
    "UPDATE approvals SET action = ?, taken = coalesce(taken, ?)"
    " WHERE round = ? AND question = ?"
)


class ApprovalsTable:
    """Table `approvals` of a toolset's ledger; each method is one short transaction."""

    def __init__(self, settings: LedgerSettings) -> None:
        self._settings = settings

    async def record_question(self, asked: PendingQuestion) -> None:
        """Insert a question with its arguments, in which secrets are replaced."""
        start_retention(self._settings)
        values = (
            asked.round,
            asked.question,
            self._settings.toolset,
            asked.tool,
            asked.client,
            make_storable(asked.user),
            asked.message,
            json_text(Redaction(asked.parameters).redact(asked.arguments)),
            asked.asked,
        )
        await self._execute_in_thread(_INSERT_QUESTION, values)

    async def claim_round(self, round: str) -> bool:
        """Mark a round as used; return False if it is unknown or was used before."""
        return await self._execute_in_thread(_CLAIM_ROUND, (_now(), round)) > 0

    async def release_round(self, round: str) -> None:
        """Mark a round as unused, so that it can be claimed again."""
        await self._execute_in_thread(_RELEASE_ROUND, (round,))

    async def record_answer(self, round: str, question: str, action: str) -> None:
        """Store the answer to a question, and mark its round as used."""
        await self._execute_in_thread(_UPDATE_ANSWER, (action, _now(), round, question))

    async def _execute_in_thread(self, statement: str, values: tuple[Any, ...]) -> int:
        return await asyncio.to_thread(self._execute, statement, values)

    def _execute(self, statement: str, values: tuple[Any, ...]) -> int:
        """Execute a statement and return the number of changed rows."""
        try:
            url = self._settings.get_database_url()
            if url is not None:
                from .postgresql_ledger import execute_update

                return execute_update(url, statement, values)
            return sqlite_ledger.execute_update(
                self._settings.get_file(), statement, values
            )
        except (sqlite3.Error, LedgerError, ImportError, *RECORD_ERRORS) as error:
            raise OSError(f"the ledger cannot be written: {error}") from error


def _now() -> str:
    return _format_time(datetime.now(UTC))


_logger = logging.getLogger("toolcast.ledger")

_BATCH_ROWS = 500
_BATCH_PAUSE_S = 0.1
"""Pause in seconds between two batches, in which other writers can write."""
_INTERVAL_S = 3600.0
_MIN_UNUSED_KEEP = timedelta(days=30)
"""Minimum age at which questions without a used answer are removed."""


class _RetentionQuery:
    """Statements that find and remove a toolset's old rows in a table."""

    def __init__(self, table: str, key: str, condition: str) -> None:
        placeholders = ", ".join("?" for _ in key.split())
        # No SQL injection is possible: all parts of the SQL are constants of this module.
        self.found = f"SELECT {key} FROM {table} WHERE {condition} LIMIT {_BATCH_ROWS}"  # noqa: S608
        self.removed = (
            f"DELETE FROM {table} WHERE ({key}) = ({placeholders})"  # noqa: S608
        )
        # This statement is only for PostgreSQL: in SQLite its search would block other writers.
        self.removed_in_one = (
            f"DELETE FROM {table} WHERE ({key}) IN ({self.found})"  # noqa: S608
        )


_CALLS = _RetentionQuery("calls", "id", "toolset = ? AND started < ? ORDER BY started")
_APPROVALS = _RetentionQuery(
    "approvals",
    "round, question",
    "toolset = ? AND asked < ? AND (taken IS NOT NULL OR asked < ?)",
)


def start_retention(settings: LedgerSettings) -> None:
    """Start the thread that removes old rows, if the toolset has `keep`; `stop_retention` ends it."""
    if settings.keep is None:
        return
    sweeping = _sweeping.get(settings)
    # Check `is_alive`, because a forked child inherits the entry but not the running thread.
    if sweeping is None or not sweeping.is_alive():
        sweeping = _sweeping[settings] = _Sweeper(settings)
        sweeping.start()


def stop_retention(settings: LedgerSettings) -> None:
    """Stop the thread that removes old rows, and wait for its end."""
    sweeping = _sweeping.pop(settings, None)
    if sweeping is not None:
        sweeping.ended.set()
        if sweeping.is_alive():
            sweeping.join()


def remove_old(settings: LedgerSettings, ended: threading.Event, now: datetime) -> int:
    """Remove the rows that are older than `settings.keep`, and return their number.

    Args:
        settings: the ledger settings of the toolset.
        ended: an event that stops the removal after the current batch.
        now: the current time.

    Raises:
        LedgerError: the ledger cannot be written.
        OSError: the file cannot be created.
        sqlite3.Error: the file cannot be used.
        ImportError: the database's driver is not installed.
    """
    keep = _parse_duration(settings.keep or "")
    before = [_format_time(now - keep), _format_time(now - max(keep, _MIN_UNUSED_KEEP))]
    total = 0
    for old in (_CALLS, _APPROVALS):
        values = [settings.toolset, *before][: old.found.count("?")]
        while True:
            removed_count = _delete_rows(settings, old, values)
            total += removed_count
            # `ended` is checked only after a batch, so that even a process that ends after one
            # call removes old rows.
            if removed_count < _BATCH_ROWS or ended.wait(_BATCH_PAUSE_S):
                break
    return total


class _Sweeper(threading.Thread):
    """Thread that removes the old rows of one ledger."""

    def __init__(self, settings: LedgerSettings) -> None:
        super().__init__(name="ledger's old rows", daemon=True)
        self._settings = settings
        self.ended = threading.Event()

    def run(self) -> None:
        """Remove old rows now and every hour until `ended` is set."""
        keep = self._settings.keep
        while True:
            try:
                count = remove_old(self._settings, self.ended, datetime.now(UTC))
            except (LedgerError, OSError, sqlite3.Error, ImportError) as error:
                _logger.warning("rows older than %s cannot be removed: %s", keep, error)
            else:
                if count:
                    _logger.info("removed %d rows older than %s", count, keep)
            if self.ended.wait(_INTERVAL_S):
                return


def _delete_rows(
    settings: LedgerSettings, old: _RetentionQuery, values: list[str]
) -> int:
    url = settings.get_database_url()
    if url is not None:
        from .postgresql_ledger import execute_update

        return execute_update(url, old.removed_in_one, values)
    path = settings.get_file()
    if not path.exists():
        return 0
    with closing(sqlite_ledger.open_connection(path)) as connection:
        # Search before the transaction begins, so that other writers are not blocked.
        keys = connection.execute(old.found, values).fetchall()
        if keys:
            # Let SQLite overwrite removed rows with zeros; otherwise their content would stay in
            # the file.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(old.removed, keys)
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return len(keys)


def _parse_duration(keep: str) -> timedelta:
    number = int(keep[:-1])
    return timedelta(days=number) if keep[-1] == "d" else timedelta(hours=number)


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


_sweeping: dict[LedgerSettings, _Sweeper] = {}
