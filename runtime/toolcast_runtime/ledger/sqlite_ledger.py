"""The ledger as a SQLite file, for any number of loops, threads and processes.

A record is committed where its call runs, which takes less than handing it over would, as long
as that cannot take long: it is short, nobody else writes, and the log has not to be moved into
the file. In all other cases a thread takes it, waits as long as need be, and writes what has
come meanwhile as one batch.
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
    values,
)

_logger = logging.getLogger("toolcast.ledger")

_MAX_INLINE_RECORD_CHARACTERS = 1 << 16
"""Characters of a record that is committed in the thread of its call."""
_MAX_LOG_BYTES = 1 << 24
"""Approximate size of the write-ahead log before it is moved into the database file."""
_BYTES_PER_COMMIT = 2 * 4096
"""Bytes that the commit of a short record adds to the log: one or two pages, seldom more."""
_BUSY_MILLISECONDS = 30_000
# All else is wrong with the file.
_RECORD_ERRORS = (
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    *RECORD_ERRORS,
)
# The files that SQLite makes beside its own.
_BESIDE = ("-wal", "-shm", "-journal")


class SqliteLedger(RecordBatches[sqlite3.Connection]):
    """Records in a SQLite file in WAL mode.

    Args:
        path: the file; it and its folder are made for their owner alone.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: tuple[int, int] | None = None
        self._in_log = 0

    async def write(self, record: Record) -> None:
        """As of `Ledger`."""
        if not self._write_at_once(record):
            await super().write(record)

    async def check(self) -> None:
        """Returns when the file can be opened, made where it is not there, and locked."""
        try:
            connection = await asyncio.to_thread(connected, self._path)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"{self._path} cannot be written") from error
        connection.close()

    def _write_at_once(self, record: Record) -> bool:
        """Commits a record here; False when that may take long, or did not work."""
        with self._lock:
            connection = self._connection
            if connection is None or self._unwritten or self._in_log > _MAX_LOG_BYTES:
                return False
            if self._file != _file_at(self._path):
                return False
            try:
                row = values(record)
                characters = sum(len(v) for v in row if isinstance(v, str))
                if characters > _MAX_INLINE_RECORD_CHARACTERS:
                    return False
                self._in_log += _BYTES_PER_COMMIT + characters
                return connection.execute(WRITTEN, row).rowcount == 1
            except (sqlite3.Error, *RECORD_ERRORS):
                # Somebody else writes, or worse: the thread waits, or reports what it is.
                return False

    def _write_batch(
        self, connection: sqlite3.Connection | None, records: list[Record]
    ) -> tuple[sqlite3.Connection | None, Failed]:
        try:
            if connection is not None and self._file != _file_at(self._path):
                _logger.warning("%s was moved or removed: it is begun anew", self._path)
                self._end(connection)
                connection = None
            if connection is None:
                before = _file_at(self._path)
                connection = connected(self._path)
                self._file = before or _file_at(self._path)
                # A process that was killed has left its log behind.
                self._in_log = 0
                with suppress(FileNotFoundError):
                    self._in_log = Path(f"{self._path}-wal").stat().st_size
            _wait_for_others(connection, is_patient=True)
            self._make_room(connection)
            failed = _write_all(connection, records)
            _wait_for_others(connection, is_patient=False)
        except Exception as error:
            if connection is not None:
                connection.close()
            lost = LedgerError(f"{self._path} cannot be written")
            lost.__cause__ = error
            return None, dict.fromkeys(range(len(records)), lost)
        self._in_log += _BYTES_PER_COMMIT * len(records)
        return connection, failed

    def _end(self, connection: sqlite3.Connection) -> None:
        """The log is moved into the file, wherever that is now: SQLite itself would leave it."""
        with closing(connection), suppress(sqlite3.Error):
            _wait_for_others(connection, is_patient=True)
            connection.execute("PRAGMA wal_checkpoint(FULL)").fetchall()

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Moves the log into the file when it has grown; what is written next begins it anew.

        Both wait for the disk, and nobody else writes here meanwhile, who could keep the log
        from coming to an end.
        """
        if self._in_log > _MAX_LOG_BYTES:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._in_log = 0


def connected(path: Path) -> sqlite3.Connection:
    """A connection that commits each statement; one thread after the other may use it.

    Its file and the folder are made for their owner alone. No commit moves the log into the
    file by the way: that is for whoever has the time.

    Raises:
        LedgerError: the file is of a newer version.
        OSError: it cannot be made.
        sqlite3.Error: it cannot be used.
    """
    parent = Folder.open_path(str(path.parent), create=True, mode=0o700)
    with parent, wait_for_folder_lock(parent):
        # What another file of its name has left may be open still, and would be taken for its.
        is_new = not os.path.lexists(path)
        create_private_file(str(path), suffixes=_BESIDE)
        for ending in _BESIDE if is_new else ():
            with suppress(FileNotFoundError):
                parent.remove_file(f"{path.name}{ending}")
        opened = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            _set_up(opened, path)
        except BaseException:
            opened.close()
            raise
        return opened


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    _wait_for_others(connection, is_patient=True)
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


def changed(path: Path, statement: str, given: Sequence[Any]) -> int:
    """How many rows a statement changed; raises as `connected`."""
    with closing(connected(path)) as connection:
        return connection.execute(statement, given).rowcount


def _wait_for_others(connection: sqlite3.Connection, *, is_patient: bool) -> None:
    """Whether a statement waits, for half a minute, while somebody else writes."""
    most = _BUSY_MILLISECONDS if is_patient else 0
    connection.execute(f"PRAGMA busy_timeout = {most}")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switches to WAL; when others are switching too, SQLite itself does not wait."""
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
    """Commits the batch; a record that the file does not take fails alone, by its place."""
    failed: Failed = {}
    connection.execute("BEGIN IMMEDIATE")
    for number, record in enumerate(records):
        try:
            connection.execute(WRITTEN, values(record))
        except _RECORD_ERRORS as error:
            failed[number] = LedgerError("the record cannot be stored")
            failed[number].__cause__ = error
    connection.execute("COMMIT")
    return failed
