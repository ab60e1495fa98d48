"""Ledger in a SQLite file, for any number of event loops, threads and processes.

A record is committed in the thread of its call if that is quick: the record is short, no other
writer has the lock, and no checkpoint of the write-ahead log is due. This is faster than handing
it to the writer thread. Otherwise the writer thread waits, and writes all waiting records as one
batch.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ..core.safe_folder import Folder, create_private_file, wait_for_folder_lock
from ..core.toolset_settings import LedgerError
from .records import (
    RECORD_ERRORS,
    TABLES,
    VERSION,
    WRITTEN,
    Failed,
    Record,
    RecordBatches,
    build_probe,
    get_column_values,
)

_logger = logging.getLogger("toolcast.ledger")

_MAX_INLINE_RECORD_CHARACTERS = 1 << 16
"""Maximum length of a record that is committed in the thread of its call."""
_MAX_LOG_BYTES = 1 << 24
"""Approximate size of the write-ahead log at which it is moved into the database file."""
_BYTES_PER_COMMIT = 2 * 4096
"""Estimated bytes that the commit of a short record adds to the log: two pages."""
_BUSY_MILLISECONDS = 30_000
# Exceptions for a record that cannot be stored; all others are problems of the file.
_RECORD_ERRORS = (
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    *RECORD_ERRORS,
)
# Suffixes of the files that SQLite creates next to the database file.
_COMPANION_SUFFIXES = ("-wal", "-shm", "-journal")


class SqliteLedger(RecordBatches[sqlite3.Connection]):
    """Ledger in a SQLite file in WAL mode.

    Args:
        path: the file; it and its folder are created with access for their owner only.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: tuple[int, int] | None = None
        self._in_log = 0

    async def write(self, record: Record) -> None:
        """Write a record and wait until it is committed.

        Raises:
            LedgerError: the record cannot be stored.
        """
        if not self._write_at_once(record):
            await super().write(record)

    async def check(self) -> None:
        """Check that a row can be written; create a missing file."""
        try:
            await asyncio.to_thread(self._write_probe)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"{self._path} cannot be written") from error

    def _write_probe(self) -> None:
        with closing(open_connection(self._path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(WRITTEN, build_probe())
            connection.execute("ROLLBACK")

    def _write_at_once(self, record: Record) -> bool:
        """Commit a record in this thread; return False if it would take long or failed."""
        with self._lock:
            connection = self._connection
            if connection is None or self._unwritten or self._in_log > _MAX_LOG_BYTES:
                return False
            if self._file != _file_at(self._path):
                return False
            try:
                row = get_column_values(record)
                characters = sum(len(v) for v in row if isinstance(v, str))
                if characters > _MAX_INLINE_RECORD_CHARACTERS:
                    return False
                self._in_log += _BYTES_PER_COMMIT + characters
                return connection.execute(WRITTEN, row).rowcount == 1
            except (sqlite3.Error, *RECORD_ERRORS):
                # Another writer has the lock, or the file is broken. The writer thread tries
                # again and reports errors.
                return False

    def _write_batch(
        self, connection: sqlite3.Connection | None, records: list[Record]
    ) -> tuple[sqlite3.Connection | None, Failed]:
        try:
            if connection is not None and self._file != _file_at(self._path):
                _logger.warning(
                    "%s was moved or removed; a new file is created", self._path
                )
                self._end(connection)
                connection = None
            if connection is None:
                before = _file_at(self._path)
                connection = open_connection(self._path)
                self._file = before or _file_at(self._path)
                # Read the size of an existing log, which a killed process may have left.
                self._in_log = 0
                with suppress(FileNotFoundError):
                    self._in_log = Path(f"{self._path}-wal").stat().st_size
            _set_lock_wait(connection, is_patient=True)
            self._make_room(connection)
            failed = _write_all(connection, records)
            _set_lock_wait(connection, is_patient=False)
        except Exception as error:
            if connection is not None:
                connection.close()
            lost = LedgerError(f"{self._path} cannot be written")
            lost.__cause__ = error
            return None, dict.fromkeys(range(len(records)), lost)
        self._in_log += _BYTES_PER_COMMIT * len(records)
        return connection, failed

    def _end(self, connection: sqlite3.Connection) -> None:
        """Checkpoint the log into the file, then close.

        SQLite does not do this itself if the file was moved.
        """
        with closing(connection), suppress(sqlite3.Error):
            _set_lock_wait(connection, is_patient=True)
            connection.execute("PRAGMA wal_checkpoint(FULL)").fetchall()

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Checkpoint the log if it has grown; the next write starts at its beginning.

        No other thread of this process writes meanwhile, so the log can be emptied.
        """
        if self._in_log > _MAX_LOG_BYTES:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._in_log = 0


def open_connection(path: Path) -> sqlite3.Connection:
    """Open a connection that commits each statement; create missing files and tables.

    Only one thread at a time may use it. The file and its folder are created with access for
    their owner only. Commits do not checkpoint the log: `SqliteLedger` does so in its thread.

    Raises:
        LedgerError: the file has a newer version.
        OSError: the file cannot be created.
        sqlite3.Error: the file cannot be used.
    """
    parent = Folder.open_path(str(path.parent), create=True, mode=0o700)
    with parent, wait_for_folder_lock(parent):
        # Remove companion files of an earlier database with this name: SQLite would apply them
        # to the new database.
        is_new = not os.path.lexists(path)
        create_private_file(str(path), suffixes=_COMPANION_SUFFIXES)
        for ending in _COMPANION_SUFFIXES if is_new else ():
            with suppress(FileNotFoundError):
                parent.remove_file(f"{path.name}{ending}")
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False
        )
        try:
            _set_up(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    _set_lock_wait(connection, is_patient=True)
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise LedgerError(f"{path} was written by a newer version")
    for text in TABLES:
        connection.execute(text)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _file_at(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def execute_update(path: Path, statement: str, parameters: Sequence[Any]) -> int:
    """Execute a statement and return the number of changed rows.

    Raises:
        Exception: the errors of `open_connection`.
    """
    with closing(open_connection(path)) as connection:
        return connection.execute(statement, parameters).rowcount


def _set_lock_wait(connection: sqlite3.Connection, *, is_patient: bool) -> None:
    """Set whether statements wait for a lock for up to 30 seconds, or fail at once."""
    timeout = _BUSY_MILLISECONDS if is_patient else 0
    connection.execute(f"PRAGMA busy_timeout = {timeout}")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode; retry for up to 30 seconds while the file is busy.

    SQLite's own timeout for locks does not apply to this statement.
    """
    deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _write_all(connection: sqlite3.Connection, records: list[Record]) -> Failed:
    """Commit a batch; return the errors of the records that cannot be stored, by index."""
    failed: Failed = {}
    connection.execute("BEGIN IMMEDIATE")
    for index, record in enumerate(records):
        try:
            connection.execute(WRITTEN, get_column_values(record))
        except _RECORD_ERRORS as error:
            failed[index] = LedgerError("the record cannot be stored")
            failed[index].__cause__ = error
    connection.execute("COMMIT")
    return failed
