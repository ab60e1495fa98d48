"""Ledger in a PostgreSQL database, for any number of machines.

A process has one connection that writes the calls, and at most four short-lived ones, for
confirmation questions and for checks of the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

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

if TYPE_CHECKING:
    from ..core.toolset_settings import LedgerSettings

_logger = logging.getLogger("toolcast.ledger")

Connection = psycopg.Connection[Any]

_WRITE_TIMEOUT_S = 30.0
"""Maximum time that a call waits until its record is written."""
_RECONNECT_TIMEOUT_S = 10.0
"""Maximum time to wait for a database that was available before, as during its restart."""
_MAX_RETRY_DELAY_S = 1.0
"""Maximum time between two attempts to connect."""
_MAX_CONNECTIONS = 4
"""Maximum number of concurrent connections, in addition to the writing one."""
# Arbitrary key of the advisory lock for creating tables. PostgreSQL fails if two connections create
# the same table at the same time, even with IF NOT EXISTS.
_TABLE_LOCK_KEY = 6034417
# Default parameters of a connection; parameters in the ledger's URL override them.
_CONNECTION_DEFAULTS: dict[str, Any] = {
    "application_name": "toolcast ledger",
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
_STATEMENT_MILLISECONDS = 10_000
_RECORD_ERRORS = (psycopg.DataError, *RECORD_ERRORS)
_URL_FORMAT = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
# Query for the table `calls` and its comment, which identifies the table as part of a ledger.
_TABLE_QUERY = (
    "SELECT to_regclass('calls')::text, obj_description(to_regclass('calls'))"
)


class PostgresqlLedger(RecordBatches[Connection]):
    """Ledger in the tables of a PostgreSQL database.

    A batch is written again if its connection broke, which does not duplicate rows.

    Args:
        settings: the settings with the database's URL, which is read for each connection.
            Parameters that the URL lacks come from libpq's environment variables.
    """

    def __init__(self, settings: LedgerSettings) -> None:
        super().__init__()
        self._settings = settings

    async def write(self, record: Record) -> None:
        """Write a record and wait until it is stored, for at most 30 seconds.

        Raises:
            LedgerError: the record cannot be stored in this time.
        """
        try:
            await asyncio.wait_for(super().write(record), _WRITE_TIMEOUT_S)
        except TimeoutError as error:
            raise LedgerError(
                f"the ledger's database did not store the record within {_WRITE_TIMEOUT_S:g} s"
            ) from error

    async def check(self) -> None:
        """Check that a row can be written, and create missing tables.

        A database that can be read is not enough: after a failover, the previous primary
        server is often read-only.
        """
        await asyncio.to_thread(self._write_probe)

    def _write_probe(self) -> None:
        url = self._settings.get_database_url() or ""
        with _open_temporary_connection(url) as connection, _transaction(connection):
            connection.execute(_convert_placeholders(WRITTEN), build_probe())
            raise psycopg.Rollback

    def _write_batch(
        self, connection: Connection | None, records: list[Record]
    ) -> tuple[Connection | None, Failed]:
        # Retry only if the database was available before and the ledger is not being closed;
        # otherwise the calls fail immediately.
        until = time.monotonic() + (_RECONNECT_TIMEOUT_S if connection else 0)
        pause = 0.05
        while True:
            is_new = connection is None
            try:
                if connection is None:
                    connection = open_connection(
                        self._settings.get_database_url() or ""
                    )
                return connection, _write_all(connection, records)
            except Exception as error:
                if connection is not None:
                    connection.close()
                    connection = None
                left = until - time.monotonic() if self._thread else 0.0
                if left <= 0 and is_new:
                    lost = LedgerError("the ledger's database cannot be written")
                    lost.__cause__ = error
                    return None, dict.fromkeys(range(len(records)), lost)
                _logger.warning(
                    "the ledger's database cannot be written; trying again: %s", error
                )
            time.sleep(max(0.0, min(pause, left)))
            pause = min(pause * 2, _MAX_RETRY_DELAY_S)


def execute_update(url: str, statement: str, parameters: Sequence[Any]) -> int:
    """Execute a statement and return the number of changed rows.

    Raises:
        LedgerError: the database cannot be written.
    """
    with _open_temporary_connection(url) as connection, _transaction(connection):
        return connection.execute(
            _convert_placeholders(statement), _escape_nul(parameters)
        ).rowcount


@contextlib.contextmanager
def _open_temporary_connection(url: str) -> Iterator[Connection]:
    """Open a connection in addition to the writing one; wait if there are too many.

    Raises:
        LedgerError: the database cannot be used.
    """
    if not _temporary_slots.acquire(timeout=_RECONNECT_TIMEOUT_S):
        raise LedgerError(
            f"no connection to the ledger's database was free within {_RECONNECT_TIMEOUT_S:g} s"
        )
    try:
        with contextlib.closing(open_connection(url)) as connection:
            yield connection
    except psycopg.Error as error:
        raise LedgerError(f"the ledger's database cannot be used: {error}") from None
    finally:
        _temporary_slots.release()


def open_connection(url: str) -> Connection:
    """Open a connection that commits each statement; create missing tables.

    Args:
        url: the URL of the database.

    Raises:
        LedgerError: the URL is invalid (the message does not quote it), or the tables have a
            newer version or do not belong to a ledger.
        psycopg.Error: the database cannot be used.
    """
    connection = psycopg.connect(
        **{**_CONNECTION_DEFAULTS, **_parse_url(url)},
        client_encoding="utf8",
        autocommit=True,
        # Disable prepared statements, which do not work with poolers such as PgBouncer.
        prepare_threshold=None,
    )
    try:
        _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _parse_url(url: str) -> dict[str, Any]:
    """Parse a URL into connection parameters.

    Ambiguous URLs are rejected, so that a part of a password is not read as a host name.

    Raises:
        LedgerError: the URL is invalid or ambiguous.
    """
    error = LedgerError(
        f"the ledger's URL is not a valid database URL\n  help: write it as {_URL_FORMAT}, and"
        " percent-encode the password:"
        " `python -c \"import urllib.parse as u; print(u.quote('...', ''))\"`"
    )
    authority, _, rest = url.partition("://")[2].partition("/")
    if authority.count("@") > 1 or "@" in rest:
        raise error
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.Error:
        # Replace the driver's error, whose message may contain the password.
        raise error from None
    ports = str(parameters.get("port") or "0").split(",")
    if not all(re.fullmatch(r"[0-9]{1,5}", port) for port in ports):
        raise error
    return parameters


def _make_tables(connection: Connection) -> None:
    with _transaction(connection):
        version = _version(connection)
        # Return before the statements below: a database user with access to rows only may not
        # execute them.
        if version == VERSION:
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLE_LOCK_KEY,))
        version = _version(connection)
        if version > VERSION:
            raise LedgerError("the ledger's tables were written by a newer version")
        for text in TABLES:
            text = text.replace("STRICT, WITHOUT ROWID", "")
            connection.execute(text.replace(" REAL", " DOUBLE PRECISION").encode())
        connection.execute(
            f"COMMENT ON TABLE calls IS 'Toolcast ledger, version {VERSION}'".encode()
        )


def _version(connection: Connection) -> int:
    """Return the version of the table `calls`, or 0 if it does not exist.

    Raises:
        LedgerError: the table does not belong to a ledger.
    """
    row = connection.execute(_TABLE_QUERY).fetchone()
    table, comment = row or (None, None)
    if table is None:
        return 0
    match = re.fullmatch(r"Toolcast ledger, version ([0-9]{1,9})", comment or "")
    if match is None:
        raise LedgerError(
            "the database has a table `calls` that does not belong to a ledger\n"
            "  help: use a separate database for the ledger, or a separate schema: add"
            " `?options=-csearch_path%3DSCHEMA` to the URL"
        )
    return int(match[1])


@contextlib.contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    with connection.transaction():
        connection.execute(f"SET LOCAL statement_timeout = {_STATEMENT_MILLISECONDS}")
        yield


def _write_all(connection: Connection, records: Sequence[Record]) -> Failed:
    """Commit a batch; return the errors of the records that cannot be stored, by index."""
    try:
        with _transaction(connection), connection.cursor() as cursor:
            rows = [_escape_nul(get_column_values(record)) for record in records]
            cursor.executemany(_convert_placeholders(WRITTEN), rows)
    except _RECORD_ERRORS as error:
        if len(records) == 1:
            lost = LedgerError("the record cannot be stored")
            lost.__cause__ = error
            return {0: lost}
    else:
        return {}
    failed: Failed = {}
    for index, record in enumerate(records):
        for record_error in _write_all(connection, [record]).values():
            failed[index] = record_error
    return failed


def _convert_placeholders(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


def _escape_nul(row: Sequence[Any]) -> list[Any]:
    # Escape NUL characters, which PostgreSQL cannot store in text.
    return [v.replace("\0", "\\x00") if isinstance(v, str) else v for v in row]


_temporary_slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)


def _reset_slots() -> None:
    """Release all slots in a forked child, where the threads that hold them do not run."""
    global _temporary_slots
    _temporary_slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_slots)
