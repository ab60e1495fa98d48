"""What is recorded of a call, the rows that it becomes, and the thread that writes them.

Tables and statements are the same for a SQLite file and a PostgreSQL database. The thread writes
in batches, for any number of loops and threads.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import logging
import os
import queue
import threading
import weakref
from abc import ABC, abstractmethod
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from ..core.context import CallOutcome
from ..core.toolset_settings import LedgerError

Outcome = CallOutcome | Literal["started"]
"""`started` is what a call that never ended leaves behind, as when its process was killed."""


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
        error: the message that the caller got when it failed.
        seconds: how long it took; None while it runs.
        user: who asked, as the caller's token names them; None when nobody is known.
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
    user: str | None = None


class Ledger(Protocol):
    """Where records go."""

    async def write(self, record: Record) -> None:
        """Returns when the record is written.

        Raises:
            LedgerError: it is not.
        """

    def write_soon(self, record: Record) -> None:
        """Writes the record without making the caller wait; a failure is logged."""

    async def check(self) -> None:
        """Returns when records can be written as far as can be known without writing one.

        Raises:
            LedgerError: they cannot.
        """

    async def close(self) -> None:
        """Returns when everything is written that was given before. It can be used again."""


VERSION = 1
"""The version of the tables. A runtime refuses the tables of a newer one."""

CALLS = """
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
    seconds REAL,            -- NULL while it runs
    "user" TEXT              -- who asked; NULL when nobody is known
) STRICT, WITHOUT ROWID
"""
APPROVALS = """
CREATE TABLE IF NOT EXISTS approvals (
    round TEXT NOT NULL,     -- of one request
    question TEXT NOT NULL,
    toolset TEXT NOT NULL,
    tool TEXT NOT NULL,
    client TEXT,
    message TEXT NOT NULL,   -- without the arguments
    arguments TEXT,          -- JSON, secrets replaced
    asked TEXT NOT NULL,     -- ISO 8601 in UTC
    taken TEXT,              -- when a call went on with the answers of the round
    action TEXT,             -- accept, decline, cancel; client: its program says so
    "user" TEXT,             -- who asked for the call; NULL when nobody is known
    PRIMARY KEY (round, question)
) STRICT, WITHOUT ROWID
"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_started ON calls (started)"
TABLES = (CALLS, APPROVALS, _INDEX)
"""The statements that create what a ledger lacks."""
WRITTEN = """
INSERT INTO calls (
    id, toolset, tool, client, "user", started, arguments, outcome, result, error, seconds
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    error = excluded.error, seconds = excluded.seconds
WHERE excluded.outcome <> 'started'
"""
"""Writes the `values` of a record; one that ended does not become one that runs."""

RECORD_ERRORS = (
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""What a record may be that nothing takes; a database has errors of its own besides."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def values(record: Record) -> tuple[Any, ...]:
    """A record in the order of the question marks of `WRITTEN`.

    Raises:
        Exception: one of `RECORD_ERRORS`.
    """
    return (
        record.id,
        record.toolset,
        record.tool,
        record.client,
        storable(record.user),
        record.started,
        json_text(record.arguments),
        record.outcome,
        None if record.result is None else json_text(record.result),
        storable(record.error),
        record.seconds,
    )


def json_text(value: Any) -> str:
    """A JSON value as text that a database takes."""
    text = _encode(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair is JSON when it is escaped, and no text otherwise.
        return json.dumps(value, allow_nan=False)
    return text


def storable(text: str | None) -> str | None:
    """A text with its halves of surrogate pairs escaped."""
    if text is None:
        return None
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_logger = logging.getLogger("toolcast.ledger")

_MAX_BATCH_RECORDS = 500
"""Records that are written together."""
_MAX_PENDING_RECORDS = 10_000
"""Records of finished calls that are kept while they cannot be written."""
_AGAIN_SECONDS = 2.0
_STOP_TIMEOUT_S = 60.0
"""Time for which closing waits for the writer thread."""

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

    def _end(self, connection: _C) -> None:
        """Closes the connection, in the thread."""
        connection.close()

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
        thread.join(_STOP_TIMEOUT_S)
        if thread.is_alive():
            _logger.error("the ledger did not take its last records in time")

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: _C | None = None
        is_open = True
        owed: list[Record] = []
        while is_open:
            given, is_open = _next_batch(waiting, _AGAIN_SECONDS if owed else None)
            # A call that was given up before it began does not happen. What an ended one did
            # is recorded, whoever waits for it.
            batch = [
                (record, done)
                for record, done in given
                if done.set_running_or_notify_cancel() or record.outcome != "started"
            ]
            failed: Failed = {}
            late = len(owed)
            if batch or owed:
                records = [*owed, *(record for record, _ in batch)]
                connection, failed = self._write_batch(connection, records)
                # What was done is recorded when the place for it is back.
                ended = [each for each in records if each.outcome != "started"]
                owed = ended[:_MAX_PENDING_RECORDS] if connection is None else []
            with self._lock:
                self._unwritten -= len(given)
                if waiting is self._waiting and self._thread is not None:
                    self._connection = connection
            for number, (_, done) in enumerate(batch):
                _tell(done, failed.get(late + number))
        if connection is not None:
            self._end(connection)


def _next_batch(
    waiting: queue.SimpleQueue[_Item | None], seconds: float | None
) -> tuple[list[_Item], bool]:
    """What waits to be written, after some seconds nothing, and whether more may come."""
    batch: list[_Item] = []
    try:
        item = waiting.get(timeout=seconds)
    except queue.Empty:
        return batch, True
    while item is not None:
        batch.append(item)
        if len(batch) == _MAX_BATCH_RECORDS:
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
