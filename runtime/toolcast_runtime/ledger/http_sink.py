"""A ledger's sink that posts each call to an HTTP endpoint, and loses none.

A record is committed to an outbox first, a SQLite file of the ledger's own form; a thread
posts its rows, oldest first, and takes out what the endpoint has accepted. What a killed
process left behind is posted by the next one.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..core.server_settings import expand_variables
from ..core.toolset_settings import LedgerError
from .records import Record
from .sqlite_ledger import SqliteLedger, connected

try:
    import httpx
except ImportError as error:
    raise ImportError(
        f"{__name__} needs httpx: pip install 'toolcast-runtime[sink]'"
    ) from error

_logger = logging.getLogger("toolcast.ledger")

_COLUMNS = (
    "id toolset tool client user started arguments outcome result error seconds"
).split()
_JSON = ("arguments", "result")
# One process posts a row at a time; a claim that is older is that of a killed one.
_CLAIMS = """
CREATE TABLE IF NOT EXISTS claims (
    id TEXT PRIMARY KEY,
    until REAL NOT NULL,  -- seconds since 1970
    status INTEGER        -- what the endpoint answered to a row that it refuses
) STRICT, WITHOUT ROWID
"""
# A row that another has posted since it was looked at is not there any more.
_CLAIM = """
INSERT INTO claims SELECT id, ?, NULL FROM calls WHERE id = ?
ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE until < ?
"""
_ENDED = "outcome <> 'started' OR started < ?"
_NEXT = f"""
SELECT {', '.join(f'calls.{column}' for column in _COLUMNS)} FROM calls LEFT JOIN claims USING (id)
WHERE ({_ENDED}) AND (until IS NULL OR until < ?) ORDER BY calls.id LIMIT 1
"""  # noqa: S608 - the condition is ours
_NEVER_ENDS = timedelta(hours=1)
_FOR_EVER = 1e18
# What says of one row that it will never be taken; every other refusal is tried again.
_REFUSALS = frozenset([400, 409, 413, 415, 422])
_FIRST_PAUSE = 0.5
_MAX_RETRY_DELAY_S = 60.0
"""Time between two attempts to send records."""
_IDLE_SECONDS = 5.0
_MAX_RESPONSE_BYTES = 64 * 1024
"""Size of a response."""


class HttpSink:
    """Posts records as JSON objects, one a request, to be called by a ledger's sink.

    A row is posted when its call has ended; one that never did, its process being killed,
    after an hour. `Idempotency-Key` is the call's id: a row can arrive twice when the answer
    to the first request is lost, and not otherwise. A redirect is no acceptance.

    Args:
        url: where to post, such as `${LEDGER_URL}/sync/tool`; texts may name environment
            variables, as those of external servers may.
        outbox: the SQLite file of what is not accepted yet, made for its owner alone.
        headers: of every request, such as `{"Authorization": "Bearer ${LEDGER_TOKEN}"}`.
        timeout: seconds for a request.
        most_waiting: with so many rows in the outbox it takes no more, and the calls of
            persistent tools are refused, as they are whenever they cannot be recorded.
    """

    def __init__(
        self,
        url: str,
        *,
        outbox: Path,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        most_waiting: int = 100_000,
    ) -> None:
        self._url = url
        self._outbox = outbox
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._most_waiting = most_waiting
        self._ledger = SqliteLedger(outbox)
        self._process = 0
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._waiting = 0
        self._told = ""

    async def write(self, record: Record) -> None:
        """Returns when the record is in the outbox, whether the endpoint answers or not.

        Raises:
            LedgerError: it cannot be written, or too many wait.
        """
        self._begin()
        if self._waiting >= self._most_waiting:
            raise LedgerError(f"{self._waiting} rows wait in {self._outbox}")
        await self._ledger.write(record)
        if record.outcome != "started":
            self._waiting += 1
            self._news.set()

    def waiting(self) -> int:
        """How many rows the endpoint has not accepted, those that it refuses among them."""
        with closing(connected(self._outbox)) as outbox:
            return _count(outbox)

    async def close(self, seconds: float = 10.0) -> None:
        """Waits so long for the endpoint to accept what it has not; the rest stays."""
        import asyncio

        await self._ledger.close()
        end = time.monotonic() + seconds
        while self._process and self._open_rows() and time.monotonic() < end:
            await asyncio.sleep(0.02)

    def _open_rows(self) -> int:
        with closing(connected(self._outbox)) as outbox:
            outbox.execute(_CLAIMS)
            refused = "SELECT count(*) FROM claims WHERE status IS NOT NULL"
            return _count(outbox) - int(outbox.execute(refused).fetchone()[0])

    def _begin(self) -> None:
        """Starts the thread that posts; a forked child has none."""
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._news = threading.Event()
                threading.Thread(target=self._run, name="sink", daemon=True).start()

    def _run(self) -> None:
        with httpx.Client(timeout=self._timeout) as client:
            pause = 0.0
            while True:
                self._news.clear()
                try:
                    self._post_all(client)
                except Exception as error:
                    self._tell(error)
                    pause = min(_MAX_RETRY_DELAY_S, max(_FIRST_PAUSE, pause * 2))
                    time.sleep(pause)
                else:
                    pause = 0.0
                    self._news.wait(_IDLE_SECONDS)

    def _post_all(self, client: httpx.Client) -> None:
        """Posts until nothing waits.

        Raises:
            Exception: the endpoint cannot be reached or takes nothing now.
        """
        with closing(connected(self._outbox)) as outbox:
            outbox.execute(_CLAIMS)
            # Others write there, too, and did before this process began.
            self._waiting = _count(outbox)
            while (row := _claimed(outbox, self._timeout)) is not None:
                try:
                    status = self._posted(client, row)
                except BaseException:
                    outbox.execute("DELETE FROM claims WHERE id = ?", (row["id"],))
                    raise
                if status is None:
                    _forget(outbox, row["id"])
                    self._told = ""
                else:
                    kept = "UPDATE claims SET until = ?, status = ? WHERE id = ?"
                    outbox.execute(kept, (_FOR_EVER, status, row["id"]))
                    _logger.error(
                        "the sink refuses call %s with status %d; it stays in %s",
                        row["id"],
                        status,
                        self._outbox,
                    )
                self._waiting = _count(outbox)

    def _posted(self, client: httpx.Client, row: dict[str, Any]) -> int | None:
        """Posts a row; the status with which the endpoint refuses this very row, or None."""
        headers = {
            n: expand_variables(text, os.environ) for n, text in self._headers.items()
        }
        headers |= {"Idempotency-Key": row["id"], "Content-Type": "application/json"}
        body = json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace")
        url = expand_variables(self._url, os.environ)
        with client.stream("POST", url, content=body, headers=headers) as answer:
            # The status is enough; what comes after it may have no end.
            end = time.monotonic() + self._timeout
            with suppress(httpx.HTTPError):
                for _ in answer.iter_raw():
                    is_long = answer.num_bytes_downloaded > _MAX_RESPONSE_BYTES
                    if is_long or time.monotonic() > end:
                        break
        if answer.status_code in _REFUSALS:
            return answer.status_code
        if not answer.is_success:
            raise LedgerError(f"it answers with status {answer.status_code}")
        return None

    def _tell(self, error: Exception) -> None:
        """Says once why rows wait; an address may have a secret in it."""
        is_ours = isinstance(error, (LedgerError, LookupError, sqlite3.Error))
        reason = str(error) if is_ours else type(error).__name__
        if reason != self._told:
            self._told = reason
            _logger.warning("the sink takes no rows, which wait: %s", reason)


def _claimed(outbox: sqlite3.Connection, timeout: float) -> dict[str, Any] | None:
    """The oldest row that nobody posts, which is this process's now."""
    while True:
        now = time.time()
        ended = (datetime.now(UTC) - _NEVER_ENDS).isoformat(timespec="microseconds")
        found = outbox.execute(_NEXT, (ended, now)).fetchone()
        if found is None:
            return None
        row: dict[str, Any] = dict(zip(_COLUMNS, found, strict=True))
        until = now + 4 * timeout
        if outbox.execute(_CLAIM, (until, row["id"], now)).rowcount == 1:
            for name in _JSON:
                row[name] = None if row[name] is None else json.loads(row[name])
            return row


def _forget(outbox: sqlite3.Connection, call: str) -> None:
    outbox.execute("BEGIN IMMEDIATE")
    outbox.execute("DELETE FROM calls WHERE id = ?", (call,))
    outbox.execute("DELETE FROM claims WHERE id = ?", (call,))
    outbox.execute("COMMIT")


def _count(outbox: sqlite3.Connection) -> int:
    question = "SELECT count(*) FROM calls WHERE outcome <> 'started'"
    return int(outbox.execute(question).fetchone()[0])
