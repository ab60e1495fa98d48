"""The ledger as tables of a PostgreSQL database, for any number of machines.

A thread with one connection writes what has come meanwhile as one batch. It waits for the
database in bounds, and writes once more where a connection broke: a row is the same then.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import queue
import threading
import weakref
from concurrent.futures import Future
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from .record import LedgerError, Record
from .rows import RECORD_ERRORS, TABLE, ending, written

__all__ = ["PostgresqlLedger", "changed"]

_logger = logging.getLogger("toolcast.ledger")

_LARGEST_BATCH = 500
_PATIENCE = 30.0
# Any number will do, as long as nobody else locks it: PostgreSQL does not stand two who make
# one table at once, in spite of IF NOT EXISTS.
_LOCK = 6034417
_BOUNDS: dict[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
_MILLISECONDS = 10_000

_Item = tuple[Record, "Future[None]"]


class PostgresqlLedger:
    """Records in the table `calls` of a database.

    Args:
        url: `postgresql://...`; what it leaves out, as the password, is libpq's environment's.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.begin()
        _ledgers.add(self)

    def begin(self) -> None:
        """Begins anew, as a forked child has to, which has no thread."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()

    async def write(self, record: Record) -> None:
        """Returns when the record is committed; fails when that takes half a minute."""
        try:
            await asyncio.wait_for(asyncio.wrap_future(self._put(record)), _PATIENCE)
        except TimeoutError as error:
            raise LedgerError("the ledger's database takes too long") from error

    def write_soon(self, record: Record) -> None:
        """Leaves the record to the next batch."""

        def report(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                _logger.error(
                    "the end of call %s is not recorded", record.id, exc_info=error
                )

        self._put(record).add_done_callback(report)

    async def close(self) -> None:
        """Returns when all records are committed and the connection is closed."""
        await asyncio.to_thread(self._finish)

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
            self._waiting.put((record, done))
        return done

    def _finish(self) -> None:
        atexit.unregister(self._finish)
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is None:
                return
            self._waiting.put(None)
        thread.join()

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: psycopg.Connection[Any] | None = None
        is_open = True
        while is_open:
            batch, is_open = _next_batch(waiting)
            failed: dict[int, LedgerError] = {}
            for is_last in (connection is None, True):
                try:
                    if connection is None:
                        connection = _connected(self._url, TABLE)
                    failed = _write_all(connection, [record for record, _ in batch])
                    break
                except Exception as error:
                    if connection is not None:
                        connection.close()
                        connection = None
                    lost = LedgerError("the ledger's database cannot be written")
                    lost.__cause__ = error
                    failed = dict.fromkeys(range(len(batch)), lost)
                    if is_last:
                        break
            for number, (_, done) in enumerate(batch):
                with contextlib.suppress(Exception):
                    if number in failed:
                        done.set_exception(failed[number])
                    else:
                        done.set_result(None)
        if connection is not None:
            connection.close()


def changed(url: str, table: str, statement: str, values: tuple[Any, ...]) -> int:
    """How many rows a statement changed, in a table that is made where it is not there.

    Raises:
        OSError: the database cannot be written.
    """
    try:
        with contextlib.closing(_connected(url, table)) as connection:
            with connection.transaction():
                return _execute(connection, statement, values)
    except (psycopg.Error, LedgerError, *RECORD_ERRORS) as error:
        raise OSError(f"the ledger cannot be written: {error}") from error


def _connected(url: str, table: str) -> psycopg.Connection[Any]:
    try:
        named = conninfo_to_dict(url)
    except psycopg.Error:
        # Its own words may show the password.
        raise LedgerError("the ledger's URL is no address of a database") from None
    connection = psycopg.connect(
        **{**_BOUNDS, **named}, autocommit=True, prepare_threshold=None
    )
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL statement_timeout = {_MILLISECONDS}")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            text = table.replace("STRICT, WITHOUT ROWID", "")
            connection.execute(text.replace(" REAL", " DOUBLE PRECISION").encode())
    except BaseException:
        connection.close()
        raise
    return connection


def _write_all(
    connection: psycopg.Connection[Any], records: list[Record]
) -> dict[int, LedgerError]:
    """Commits the batch; a record that the table does not take fails alone, by its place."""
    failed: dict[int, LedgerError] = {}
    with connection.transaction():
        connection.execute(f"SET LOCAL statement_timeout = {_MILLISECONDS}")
        for number, record in enumerate(records):
            try:
                with connection.transaction():
                    _write(connection, record)
            except (psycopg.DataError, *RECORD_ERRORS) as error:
                failed[number] = LedgerError("the record cannot be stored")
                failed[number].__cause__ = error
    return failed


def _write(connection: psycopg.Connection[Any], record: Record) -> None:
    if record.outcome != "started":
        text, values, _ = ending(record)
        if _execute(connection, text, values) == 1:
            return
    text, values, _ = written(record)
    _execute(connection, text, values)


def _execute(
    connection: psycopg.Connection[Any], statement: str, values: tuple[Any, ...]
) -> int:
    # PostgreSQL keeps no NUL in a text.
    given = [v.replace("\0", "\\x00") if isinstance(v, str) else v for v in values]
    return connection.execute(statement.replace("?", "%s").encode(), given).rowcount


def _next_batch(
    waiting: queue.SimpleQueue[_Item | None],
) -> tuple[list[_Item], bool]:
    """What waits to be written and was not given up, and whether more may come."""
    batch: list[_Item] = []
    item = waiting.get()
    while item is not None:
        if item[1].set_running_or_notify_cancel():
            batch.append(item)
        if len(batch) == _LARGEST_BATCH:
            return batch, True
        try:
            item = waiting.get_nowait()
        except queue.Empty:
            return batch, True
    return batch, False


def _begin_all() -> None:
    for ledger in list(_ledgers):
        ledger.begin()


_ledgers: weakref.WeakSet[PostgresqlLedger] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
