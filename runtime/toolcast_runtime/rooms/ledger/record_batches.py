"""A thread that writes records in batches, for any number of loops and threads."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import queue
import threading
import weakref
from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar

from ...core.toolset_settings import LedgerError
from .record import Record

_logger = logging.getLogger("toolcast.ledger")

_LARGEST_BATCH = 500
_MOST_SECONDS = 60.0
"""How long ending waits for the thread."""

Failed = dict[int, LedgerError]
"""What is wrong with records of a batch, by their places."""


class _Closable(Protocol):
    def close(self) -> None: ...


_C = TypeVar("_C", bound=_Closable)
_Item = tuple[Record, "Future[None]"]


class RecordBatches(ABC, Generic[_C]):
    """Writes what has come meanwhile as one batch.

    The thread has a connection, which its writer opens and closes again when it broke.
    """

    def __init__(self) -> None:
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        """Begins anew, as a forked child has to, which has neither the thread nor the connection."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        # The thread's while there are unwritten records, otherwise of whoever has the lock.
        # The thread's frame refers to it as well: in a child nothing ever closes it.
        self._connection: _C | None = None
        self._unwritten = 0

    @abstractmethod
    def _write_batch(
        self, connection: _C | None, records: list[Record]
    ) -> tuple[_C | None, Failed]:
        """Commits a batch, in the thread; gives the connection that the next one has."""

    async def write(self, record: Record) -> None:
        """Returns when the record is committed."""
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
        thread.join(_MOST_SECONDS)
        if thread.is_alive():
            _logger.error("the ledger did not take its last records in time")

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: _C | None = None
        is_open = True
        while is_open:
            given, is_open = _next_batch(waiting)
            # A call that was given up before it began does not happen. What an ended one did
            # is recorded, whoever waits for it.
            batch = [
                (record, done)
                for record, done in given
                if done.set_running_or_notify_cancel() or record.outcome != "started"
            ]
            failed: Failed = {}
            if batch:
                records = [record for record, _ in batch]
                connection, failed = self._write_batch(connection, records)
            with self._lock:
                self._unwritten -= len(given)
                if waiting is self._waiting and self._thread is not None:
                    self._connection = connection
            for number, (_, done) in enumerate(batch):
                _tell(done, failed.get(number))
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


def _tell(done: Future[None], error: LedgerError | None) -> None:
    if not done.done():
        with contextlib.suppress(Exception):
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)


def _begin_all() -> None:
    for batches in list(_all):
        batches._begin()


_all: weakref.WeakSet[RecordBatches[Any]] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
