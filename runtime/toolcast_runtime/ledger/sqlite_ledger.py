"""The ledger as a SQLite file, for any number of loops, threads and processes.

A record is committed where its call runs, which takes less than handing it over would, as long
as that cannot take long: it is short, nobody else writes, and the log has not to be moved into
the file. In all other cases a thread takes it, waits as long as need be, and writes what has
come meanwhile as one batch.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import queue
import sqlite3
import threading
import weakref
from concurrent.futures import Future
from pathlib import Path

from .record import LedgerError, Record
from .rows import RECORD_ERRORS, connected, ending, wait_for_others, written

__all__ = ["SqliteLedger"]

_logger = logging.getLogger("toolcast.ledger")

_LARGEST_BATCH = 500
_MOST_AT_ONCE = 1 << 16
"""Characters of a record that is committed where its call runs."""
_MOST_IN_LOG = 1 << 24
"""Bytes of the log, about, before it is moved into the file."""
_EACH_COMMIT = 2 * 4096
"""Bytes that a commit of a short record adds to the log: one page or two, or seldom more."""

_Item = tuple[Record, "Future[None]"]


class SqliteLedger:
    """Records in a SQLite file in WAL mode.

    Args:
        path: the file; it and its folder are made for their owner alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.begin()
        _ledgers.add(self)

    def begin(self) -> None:
        """Begins anew, as a forked child has to, which has neither the thread nor the file."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        # The thread's while there are unwritten records, otherwise of whoever has the lock.
        # The thread's frame refers to it as well: in a child nothing ever closes it.
        self._connection: sqlite3.Connection | None = None
        self._unwritten = 0
        self._in_log = 0

    async def write(self, record: Record) -> None:
        """Returns when the record is committed."""
        if not self._write_at_once(record):
            await asyncio.wrap_future(self._put(record))

    def write_soon(self, record: Record) -> None:
        """Leaves the record to the next batch."""

        def report(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                _logger.error(
                    "the end of call %s is not recorded", record.id, exc_info=error
                )

        self._put(record).add_done_callback(report)

    async def check(self) -> None:
        """Returns when the file can be opened, made where it is not there, and locked."""
        try:
            connection = await asyncio.to_thread(connected, self._path)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"{self._path} cannot be written") from error
        connection.close()

    async def close(self) -> None:
        """Returns when all records are committed and the file is closed."""
        await asyncio.to_thread(self._finish)

    def _write_at_once(self, record: Record) -> bool:
        """Commits a record here; False when that may take long, or did not work."""
        with self._lock:
            connection = self._connection
            if connection is None or self._unwritten or self._in_log > _MOST_IN_LOG:
                return False
            try:
                make = written if record.outcome == "started" else ending
                text, values, characters = make(record)
                if characters > _MOST_AT_ONCE:
                    return False
                self._in_log += _EACH_COMMIT + characters
                return connection.execute(text, values).rowcount == 1
            except (sqlite3.Error, *RECORD_ERRORS):
                # Somebody else writes, or worse: the thread waits, or reports what it is.
                return False

    def _put(self, record: Record) -> Future[None]:
        done: Future[None] = Future()
        with self._lock:
            if self._thread is None:
                self._waiting = queue.SimpleQueue()
                self._thread = threading.Thread(
                    target=self._run, args=(self._waiting,), name="ledger", daemon=True
                )
                self._thread.start()
                atexit.register(self._finish)
            self._unwritten += 1
            self._waiting.put((record, done))
        return done

    def _finish(self) -> None:
        atexit.unregister(self._finish)
        with self._lock:
            thread = self._thread
            self._thread = self._connection = None
            if thread is None:
                return
            self._waiting.put(None)
        thread.join()

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: sqlite3.Connection | None = None
        is_open = True
        while is_open:
            batch, is_open = _next_batch(waiting)
            if not batch:
                break
            failed: dict[int, LedgerError] = {}
            try:
                if connection is None:
                    connection = connected(self._path)
                    # A process that was killed has left its log behind.
                    self._in_log = _size(Path(f"{self._path}-wal"))
                wait_for_others(connection, is_patient=True)
                self._make_room(connection)
                failed = _write_all(connection, batch)
                wait_for_others(connection, is_patient=False)
            except Exception as error:
                if connection is not None:
                    connection.close()
                    connection = None
                lost = LedgerError(f"{self._path} cannot be written")
                lost.__cause__ = error
                failed = dict.fromkeys(range(len(batch)), lost)
            with self._lock:
                self._unwritten -= len(batch)
                self._in_log += _EACH_COMMIT * len(batch)
                if waiting is self._waiting and self._thread is not None:
                    self._connection = connection
            for number, (_, done) in enumerate(batch):
                _tell(done, failed.get(number))
        if connection is not None:
            connection.close()

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Moves the log into the file when it has grown; what is written next begins it anew.

        Both wait for the disk, and nobody else writes here meanwhile, who could keep the log
        from coming to an end.
        """
        if self._in_log > _MOST_IN_LOG:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._in_log = 0


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


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _write_all(
    connection: sqlite3.Connection, batch: list[_Item]
) -> dict[int, LedgerError]:
    """Commits the batch; a record that the file does not take fails alone, by its place."""
    failed: dict[int, LedgerError] = {}
    connection.execute("BEGIN IMMEDIATE")
    for number, (record, _) in enumerate(batch):
        try:
            if record.outcome == "started" or not _completed(connection, record):
                connection.execute(*written(record)[:2])
        except RECORD_ERRORS as error:
            failed[number] = LedgerError("the record cannot be stored")
            failed[number].__cause__ = error
    connection.execute("COMMIT")
    return failed


def _completed(connection: sqlite3.Connection, record: Record) -> bool:
    return connection.execute(*ending(record)[:2]).rowcount == 1


def _tell(done: Future[None], error: LedgerError | None) -> None:
    if not done.done():
        with contextlib.suppress(Exception):
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)


def _begin_all() -> None:
    for ledger in list(_ledgers):
        ledger.begin()


_ledgers: weakref.WeakSet[SqliteLedger] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
