"""Call records, their database tables, and the thread that writes records in batches.

SQLite and PostgreSQL have the same tables and statements. The thread writes batches of the
records that any number of event loops and threads hand over.
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
from datetime import UTC, datetime
from typing import Any, Generic, Literal, Protocol, TypeVar
from uuid import uuid4

from ..core.context import CallOutcome
from ..core.toolset_settings import LedgerError

Outcome = CallOutcome | Literal["started"]
"""Outcome of a call: `started` until it ends, and forever if its process was killed."""


@dataclass(frozen=True, slots=True)
class Record:
    """Record of a call, written when the call starts and updated when it ends.

    Attributes:
        id: the ID of the call, the same in both records.
        toolset: the toolset's name.
        tool: the tool's current name, also if the caller used a previous one.
        client: the client's name; None in a toolset without clients.
        started: the start time, ISO 8601 in UTC with microseconds, so that it sorts as text.
        arguments: the caller's arguments with secrets replaced; None if they are not valid
            JSON or too large.
        outcome: the outcome of the call.
        result: the result as a JSON value.
        error: the error message that the caller received.
        seconds: the duration; None until the call ends.
        user: the user in the caller's token; None if unknown.
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
    """Storage of call records."""

    async def write(self, record: Record) -> None:
        """Write a record and wait until it is stored.

        Raises:
            LedgerError: the record cannot be stored.
        """

    def write_soon(self, record: Record) -> None:
        """Write a record in the background; a failure is logged."""

    async def check(self) -> None:
        """Check that records can be written: write a row, and roll it back.

        Raises:
            LedgerError: the ledger cannot be used.
        """

    async def close(self) -> None:
        """Wait until all pending records are written; the ledger can be used again."""


VERSION = 1
"""Version of the tables; a ledger with a newer version is rejected."""

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
    "user" TEXT              -- the caller; NULL if unknown
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
    taken TEXT,              -- when a call used the answers of the round
    action TEXT,             -- accept, decline, cancel; client: confirmed by its program
    "user" TEXT,             -- the caller; NULL if unknown
    PRIMARY KEY (round, question)
) STRICT, WITHOUT ROWID
"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_started ON calls (started)"
TABLES = (CALLS, APPROVALS, _INDEX)
"""Statements that create missing tables and indexes."""
WRITTEN = """
INSERT INTO calls (
    id, toolset, tool, client, "user", started, arguments, outcome, result, error, seconds
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    error = excluded.error, seconds = excluded.seconds
WHERE excluded.outcome <> 'started'
"""
"""Statement that inserts or updates the row of a record.

A `started` record never replaces a record of an ended call.
"""

RECORD_ERRORS = (
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""Exceptions for a record that cannot be converted to a row; databases add their own."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def get_column_values(record: Record) -> tuple[Any, ...]:
    """Return a record's column values in the order of the parameters of `WRITTEN`.

    Raises:
        Exception: one of `RECORD_ERRORS`.
    """
    return (
        record.id,
        record.toolset,
        record.tool,
        record.client,
        make_storable(record.user),
        record.started,
        json_text(record.arguments),
        record.outcome,
        None if record.result is None else json_text(record.result),
        make_storable(record.error),
        record.seconds,
    )


def build_probe() -> tuple[Any, ...]:
    """Return the column values of a row that is inserted and rolled back by a check.

    The ID is unique, so that checks of several processes do not wait for each other.
    """
    now = datetime.now(UTC).isoformat()
    return get_column_values(Record(f"check-{uuid4()}", "", "", None, now, None))


def json_text(value: Any) -> str:
    """Encode a JSON value as text that is valid Unicode."""
    text = _encode(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate cannot be encoded as UTF-8, but JSON can escape it.
        return json.dumps(value, allow_nan=False)
    return text


def make_storable(text: str | None) -> str | None:
    """Return text with lone surrogates as escapes, because databases store UTF-8."""
    if text is None:
        return None
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_logger = logging.getLogger("toolcast.ledger")

_MAX_BATCH_RECORDS = 500
"""Maximum number of records in one batch."""
_MAX_PENDING_RECORDS = 10_000
"""Maximum number of records of ended calls in memory while the ledger is unavailable."""
_RETRY_INTERVAL_S = 2.0
"""Time between attempts to write the records of ended calls."""
_STOP_TIMEOUT_S = 60.0
"""Maximum time that closing waits for the writer thread."""

Failed = dict[int, LedgerError]
"""Errors of a batch's records, by the index of the record."""


class _ClosableConnection(Protocol):
    def close(self) -> None: ...


_C = TypeVar("_C", bound=_ClosableConnection)
_Item = tuple[Record, "Future[None]"]


class RecordBatches(ABC, Generic[_C]):
    """Base class of ledgers whose writer thread writes all waiting records as one batch.

    The thread keeps one connection open, which `_write_batch` opens and replaces if broken.
    """

    def __init__(self) -> None:
        self._reset_state()
        _live_batches.add(self)

    def _reset_state(self) -> None:
        """Set the initial state; also in a forked child, which has no writer thread."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        # While records are unwritten, only the writer thread uses the connection; otherwise the
        # holder of the lock. The thread's frame also references the connection, so a forked
        # child never closes it.
        self._connection: _C | None = None
        self._unwritten = 0

    @abstractmethod
    def _write_batch(
        self, connection: _C | None, records: list[Record]
    ) -> tuple[_C | None, Failed]:
        """Commit a batch in the writer thread.

        Returns:
            The connection for the next batch, or None if it is broken, and the records' errors.
        """

    def _end(self, connection: _C) -> None:
        """Close the connection in the writer thread."""
        connection.close()

    async def write(self, record: Record) -> None:
        """Write a record and wait until it is committed."""
        await asyncio.wrap_future(self._put(record))

    def write_soon(self, record: Record) -> None:
        """Add a record to the next batch; a failure is logged."""

        def report(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                _logger.error(
                    "the end of call %s is not recorded", record.id, exc_info=error
                )

        self._put(record).add_done_callback(report)

    async def close(self) -> None:
        """Commit all records and close the connection."""
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
            _logger.error("the ledger did not write its last records in time")

    def _run(self, waiting: queue.SimpleQueue[_Item | None]) -> None:
        connection: _C | None = None
        is_open = True
        retained: list[Record] = []
        while is_open:
            items, is_open = _next_batch(
                waiting, _RETRY_INTERVAL_S if retained else None
            )
            # Skip the start of a call that was cancelled before: such a call does not run. The
            # end of a call is recorded even if no task waits for it.
            batch = [
                (record, done)
                for record, done in items
                if done.set_running_or_notify_cancel() or record.outcome != "started"
            ]
            failed: Failed = {}
            retained_count = len(retained)
            if batch or retained:
                records = [*retained, *(record for record, _ in batch)]
                connection, failed = self._write_batch(connection, records)
                # Keep records of ended calls in memory until the ledger is available again.
                ended = [record for record in records if record.outcome != "started"]
                is_available = connection is not None
                retained = [] if is_available else ended[:_MAX_PENDING_RECORDS]
            with self._lock:
                self._unwritten -= len(items)
                if waiting is self._waiting and self._thread is not None:
                    self._connection = connection
            for index, (_, done) in enumerate(batch):
                _resolve(done, failed.get(retained_count + index))
        if connection is not None:
            self._end(connection)


def _next_batch(
    waiting: queue.SimpleQueue[_Item | None], seconds: float | None
) -> tuple[list[_Item], bool]:
    """Return the waiting records, and whether the queue is still open.

    Waits for the first record; returns no records after `seconds`, if it is not None.
    """
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


def _resolve(done: Future[None], error: LedgerError | None) -> None:
    if not done.done():
        with contextlib.suppress(Exception):
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)


def _reset_all() -> None:
    for batches in list(_live_batches):
        batches._reset_state()


_live_batches: weakref.WeakSet[RecordBatches[Any]] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
