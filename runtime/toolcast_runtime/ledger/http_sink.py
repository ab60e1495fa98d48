"""Ledger sink that posts each call to an HTTP endpoint without losing records.

A record is first committed to an outbox, a SQLite file with the ledger's tables. A thread posts
the rows, oldest first, and removes the rows that the endpoint accepted. Rows of a killed process
are posted by the next process.
"""

from __future__ import annotations

import asyncio
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
from .sqlite_ledger import SqliteLedger, open_connection

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
# Table of claims: a claim reserves a row for one process. If a claim has expired, its process was
# killed, and another process may post the row.
_CLAIMS = """
CREATE TABLE IF NOT EXISTS claims (
    id TEXT PRIMARY KEY,
    until REAL NOT NULL,  -- seconds since 1970
    status INTEGER        -- the HTTP status with which the endpoint rejected the row
) STRICT, WITHOUT ROWID
"""
# Statement that claims a row. It has no effect if another process has claimed the row, or has
# posted and removed it.
_CLAIM = """
INSERT INTO claims SELECT id, ?, NULL FROM calls WHERE id = ?
ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE until < ?
"""
_ENDED = "outcome <> 'started' OR started < ?"
_NEXT = f"""
SELECT {', '.join(f'calls.{column}' for column in _COLUMNS)} FROM calls LEFT JOIN claims USING (id)
WHERE ({_ENDED}) AND (until IS NULL OR until < ?) ORDER BY calls.id LIMIT 1
"""  # noqa: S608 - all parts of the SQL are constants
_MAX_CALL_TIME = timedelta(hours=1)
"""Age at which a call without an end is posted: its process was probably killed."""
_NEVER_EXPIRES = 1e18
# HTTP statuses that reject a row permanently. After any other failure the row is posted again.
_REFUSALS = frozenset([400, 409, 413, 415, 422])
_FIRST_RETRY_DELAY_S = 0.5
_MAX_RETRY_DELAY_S = 60.0
"""Maximum time between two attempts to post rows."""
_IDLE_INTERVAL_S = 5.0
_MAX_RESPONSE_BYTES = 64 * 1024
"""Maximum number of bytes of a response that are read."""


class HttpSink:
    """Ledger sink that posts each record as a JSON object in its own request.

    Call `write` from the ledger function of the toolset. A row is posted when its call has
    ended, or after an hour if its process was killed. `Idempotency-Key` is the call's ID: the
    endpoint can receive a row twice if the response to the first request was lost. A redirect
    counts as a failure.

    Args:
        url: the endpoint's URL, such as `${LEDGER_URL}/sync/tool`; it may contain environment
            variables, like the URLs of external servers.
        outbox: the SQLite file with rows to post, created with access for its owner only.
        headers: the headers of each request, such as
            `{"Authorization": "Bearer ${LEDGER_TOKEN}"}`.
        timeout: the time limit of a request in seconds.
        max_waiting: the maximum number of rows in the outbox. At the maximum, records are
            rejected, and so calls of persistent tools fail.
    """

    def __init__(
        self,
        url: str,
        *,
        outbox: Path,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        max_waiting: int = 100_000,
    ) -> None:
        self._url = url
        self._outbox = outbox
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._max_waiting = max_waiting
        self._ledger = SqliteLedger(outbox)
        self._process: int | None = None
        self._lock = threading.Lock()
        self._wake_event = threading.Event()
        self._waiting = 0
        self._logged_reason = ""

    async def write(self, record: Record) -> None:
        """Write a record to the outbox, without waiting for the endpoint.

        Raises:
            LedgerError: the outbox cannot be written, or is full.
        """
        self._start_thread()
        if self._waiting >= self._max_waiting:
            # The thread may have counted rows that `write` then added again.
            self._waiting = await asyncio.to_thread(self.waiting)
        if self._waiting >= self._max_waiting:
            raise LedgerError(f"{self._waiting} rows wait in {self._outbox}")
        await self._ledger.write(record)
        if record.outcome != "started":
            self._waiting += 1
            self._wake_event.set()

    def waiting(self) -> int:
        """Return the number of ended calls in the outbox, including rejected rows."""
        with closing(open_connection(self._outbox)) as outbox:
            return _count(outbox)

    async def close(self, seconds: float = 10.0) -> None:
        """Wait until the outbox is posted, for at most `seconds`; other rows stay in it."""
        await self._ledger.close()
        end = time.monotonic() + seconds
        while self._process and self._count_open_rows() and time.monotonic() < end:
            await asyncio.sleep(0.02)

    def _count_open_rows(self) -> int:
        with closing(open_connection(self._outbox)) as outbox:
            outbox.execute(_CLAIMS)
            refused = "SELECT count(*) FROM claims WHERE status IS NOT NULL"
            return _count(outbox) - int(outbox.execute(refused).fetchone()[0])

    def _start_thread(self) -> None:
        """Start the posting thread, unless this process has one; a forked child starts its own."""
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._wake_event = threading.Event()
                threading.Thread(target=self._run, name="sink", daemon=True).start()

    def _run(self) -> None:
        with httpx.Client(timeout=self._timeout) as client:
            pause = 0.0
            while True:
                self._wake_event.clear()
                try:
                    self._post_all(client)
                except Exception as error:
                    self._log_error_once(error)
                    pause = min(
                        _MAX_RETRY_DELAY_S, max(_FIRST_RETRY_DELAY_S, pause * 2)
                    )
                    time.sleep(pause)
                else:
                    pause = 0.0
                    self._wake_event.wait(_IDLE_INTERVAL_S)

    def _post_all(self, client: httpx.Client) -> None:
        """Post all rows in the outbox.

        Raises:
            Exception: the endpoint cannot be reached, or failed temporarily.
        """
        with closing(open_connection(self._outbox)) as outbox:
            outbox.execute(_CLAIMS)
            # Count the rows in the file, because other and earlier processes write to the same
            # outbox.
            self._waiting = _count(outbox)
            while (row := _claim_row(outbox, self._timeout)) is not None:
                try:
                    status = self._post_row(client, row)
                except BaseException:
                    outbox.execute("DELETE FROM claims WHERE id = ?", (row["id"],))
                    raise
                if status is None:
                    _forget(outbox, row["id"])
                    self._logged_reason = ""
                else:
                    kept = "UPDATE claims SET until = ?, status = ? WHERE id = ?"
                    outbox.execute(kept, (_NEVER_EXPIRES, status, row["id"]))
                    _logger.error(
                        "the sink rejected the record of call %s with HTTP status %d; the"
                        " record stays in %s",
                        row["id"],
                        status,
                        self._outbox,
                    )
                self._waiting = _count(outbox)

    def _post_row(self, client: httpx.Client, row: dict[str, Any]) -> int | None:
        """Post a row; return the status if the endpoint rejects it permanently, else None."""
        headers = {
            n: expand_variables(text, os.environ) for n, text in self._headers.items()
        }
        headers |= {"Idempotency-Key": row["id"], "Content-Type": "application/json"}
        body = json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace")
        url = expand_variables(self._url, os.environ)
        with client.stream("POST", url, content=body, headers=headers) as response:
            # Read the body only up to a limit, because it may be endless; only the status is
            # used.
            end = time.monotonic() + self._timeout
            with suppress(httpx.HTTPError):
                for _ in response.iter_raw():
                    is_long = response.num_bytes_downloaded > _MAX_RESPONSE_BYTES
                    if is_long or time.monotonic() > end:
                        break
        if response.status_code in _REFUSALS:
            return response.status_code
        if not response.is_success:
            raise LedgerError(f"the sink returned HTTP status {response.status_code}")
        return None

    def _log_error_once(self, error: Exception) -> None:
        """Log why rows are not posted, unless the last log message has the same reason.

        For exceptions of other libraries only the type is logged, because their messages may
        contain a URL with a secret.
        """
        is_ours = isinstance(error, (LedgerError, LookupError, sqlite3.Error))
        reason = str(error) if is_ours else type(error).__name__
        if reason != self._logged_reason:
            self._logged_reason = reason
            _logger.warning(
                "records wait because they cannot be posted to the sink: %s", reason
            )


def _claim_row(outbox: sqlite3.Connection, timeout: float) -> dict[str, Any] | None:
    """Claim the oldest unclaimed row and return it; None if there is none."""
    while True:
        now = time.time()
        ended = (datetime.now(UTC) - _MAX_CALL_TIME).isoformat(timespec="microseconds")
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
