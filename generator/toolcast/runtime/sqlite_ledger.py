"""The ledger as a SQLite file: one thread writes, in batches, for all callers."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import logging
import os
import queue
import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from .ledger import LedgerError, Record

__all__ = ["SqliteLedger"]

_logger = logging.getLogger("toolcast.ledger")

_VERSION = 1
_BUSY_SECONDS = 30.0
_LARGEST_BATCH = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    id TEXT PRIMARY KEY,
    toolset TEXT NOT NULL,
    tool TEXT NOT NULL,
    client TEXT,
    started TEXT NOT NULL,   -- ISO 8601 in UTC
    arguments TEXT,          -- JSON, secrets replaced
    outcome TEXT NOT NULL,   -- started, ok, error, invalid, timeout, cancelled
    result TEXT,             -- JSON
    error TEXT,
    seconds REAL             -- NULL while it runs
) STRICT, WITHOUT ROWID
"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_started ON calls (started)"
_WRITE = """
INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    error = excluded.error, seconds = excluded.seconds
"""

# What a record may be that no file takes; everything else is wrong with the file.
_OF_THE_RECORD = (
    *(sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError),
    *(TypeError, ValueError, OverflowError, RecursionError),
)

_Item = tuple[Record, "Future[None]"]


class SqliteLedger:
    """Records in a SQLite file in WAL mode, for any number of threads and processes.

    Args:
        path: the file; it and its folder are made for their owner alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._process = 0
        self._thread: threading.Thread | None = None
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()

    async def write(self, record: Record) -> None:
        """Returns when the record is committed."""
        await asyncio.wrap_future(self._put(record))

    def write_soon(self, record: Record) -> None:
        """Keeps the record for the next batch."""

        def tell(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                _logger.error(
                    "the end of call %s is not recorded", record.id, exc_info=error
                )

        self._put(record).add_done_callback(tell)

    async def close(self) -> None:
        """Returns when all records are committed and the file is closed."""
        await asyncio.to_thread(self._finish)

    def _put(self, record: Record) -> Future[None]:
        done: Future[None] = Future()
        with self._lock:
            if self._thread is None or self._process != os.getpid():
                # A forked child has neither the thread nor a right to its connection.
                self._process = os.getpid()
                self._waiting = queue.SimpleQueue()
                self._thread = threading.Thread(
                    target=self._run, args=(self._waiting,), name="ledger", daemon=True
                )
                self._thread.start()
                atexit.register(self._finish)
            self._waiting.put((record, done))
        return done

    def _finish(self) -> None:
        atexit.unregister(self._finish)
        with self._lock:
            thread, mine = self._thread, self._process == os.getpid()
            self._thread = None
            if thread is None or not mine:
                return
            self._waiting.put(None)
        thread.join()

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: sqlite3.Connection | None = None
        is_open = True
        while is_open:
            batch, is_open = _next_batch(waiting)
            try:
                if connection is None:
                    connection = _connected(self._path)
                _write_all(connection, batch)
            except Exception as error:
                if connection is not None:
                    connection.close()
                    connection = None
                for _, done in batch:
                    _fail(done, LedgerError(f"{self._path} cannot be written"), error)
        if connection is not None:
            connection.close()


def _next_batch(
    waiting: queue.SimpleQueue[_Item | None],
) -> tuple[list[_Item], bool]:
    """What waits to be written, and whether more may come."""
    batch: list[_Item] = []
    item = waiting.get()
    while item is not None:
        batch.append(item)
        if len(batch) == _LARGEST_BATCH:
            return batch, True
        try:
            item = waiting.get_nowait()
        except queue.Empty:
            return batch, True
    return batch, False


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise LedgerError(f"{path} was written by a newer version")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        connection.execute(_INDEX)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_all(connection: sqlite3.Connection, batch: list[_Item]) -> None:
    """Commits the batch; a record that the file does not take fails alone."""
    if not batch:
        return
    failed: list[tuple[Future[None], Exception]] = []
    connection.execute("BEGIN IMMEDIATE")
    for record, done in batch:
        try:
            connection.execute(_WRITE, _row(record))
        except _OF_THE_RECORD as error:
            failed.append((done, error))
    connection.execute("COMMIT")
    for done, cause in failed:
        _fail(done, LedgerError("the record cannot be stored"), cause)
    for _, done in batch:
        if not done.done():
            with contextlib.suppress(Exception):
                done.set_result(None)


def _fail(done: Future[None], error: LedgerError, cause: Exception) -> None:
    error.__cause__ = cause
    if not done.done():
        with contextlib.suppress(Exception):
            done.set_exception(error)


def _row(record: Record) -> tuple[Any, ...]:
    return (
        record.id,
        record.toolset,
        record.tool,
        record.client,
        record.started,
        _json(record.arguments),
        record.outcome,
        None if record.result is None else _json(record.result),
        None if record.error is None else _storable(record.error),
        record.seconds,
    )


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Half a surrogate pair is JSON when it is escaped, and no text otherwise.
    return text if _is_text(text) else json.dumps(value, allow_nan=False)


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
