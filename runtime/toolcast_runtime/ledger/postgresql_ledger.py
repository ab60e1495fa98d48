"""The ledger as tables of a PostgreSQL database, for any number of machines.

A process has one connection that writes the calls, and at most four more, each for a moment, for
questions to a person and for whether the database is there.
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
    values,
)

if TYPE_CHECKING:
    from ..core.toolset_settings import LedgerSettings

_logger = logging.getLogger("toolcast.ledger")

Connection = psycopg.Connection[Any]

_WRITE_TIMEOUT_S = 30.0
"""Time for which a call waits until its record is written."""
_RETURN_SECONDS = 10.0
"""How long a database that was there may be away, as one that is started again is."""
_MAX_RETRY_DELAY_S = 1.0
"""Time between two attempts to connect."""
_MAX_CONNECTIONS = 4
"""Concurrent connections, in addition to the writing one."""
# Any number will do, as long as nobody else locks it: PostgreSQL does not stand two who make
# one table at once, in spite of IF NOT EXISTS.
_LOCK = 6034417
# What the URL says goes before these.
_BOUNDS: dict[str, Any] = {
    "application_name": "toolcast ledger",
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
_STATEMENT_MILLISECONDS = 10_000
_RECORD_ERRORS = (psycopg.DataError, *RECORD_ERRORS)
_FORM = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
# The comment says whose the table is.
_COMMENT = "SELECT to_regclass('calls')::text, obj_description(to_regclass('calls'))"


class PostgresqlLedger(RecordBatches[Connection]):
    """Records in the table `calls` of a database.

    A batch is written again when its connection broke: a row is the same then.

    Args:
        settings: names the database, anew for each connection; what its URL leaves out is
            libpq's environment's.
    """

    def __init__(self, settings: LedgerSettings) -> None:
        super().__init__()
        self._settings = settings

    async def write(self, record: Record) -> None:
        """As of `Ledger`; fails when that takes half a minute."""
        try:
            await asyncio.wait_for(super().write(record), _WRITE_TIMEOUT_S)
        except TimeoutError as error:
            raise LedgerError("the ledger's database takes too long") from error

    async def check(self) -> None:
        """Returns when the database has the tables, made where they are not there."""
        await asyncio.to_thread(self._connect)

    def _connect(self) -> None:
        with _moment(self._settings.get_database_url() or ""):
            pass

    def _write_batch(
        self, connection: Connection | None, records: list[Record]
    ) -> tuple[Connection | None, Failed]:
        # A database that was not there before is not waited for: calls are refused at once. Nor
        # is one when this ends.
        until = time.monotonic() + (_RETURN_SECONDS if connection else 0)
        pause = 0.05
        while True:
            is_new = connection is None
            try:
                if connection is None:
                    connection = connected(self._settings.get_database_url() or "")
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
                _logger.warning("the ledger's database does not answer: %s", error)
            time.sleep(max(0.0, min(pause, left)))
            pause = min(pause * 2, _MAX_RETRY_DELAY_S)


def changed(url: str, statement: str, given: Sequence[Any]) -> int:
    """How many rows a statement changed.

    Raises:
        LedgerError: the database cannot be written.
    """
    with _moment(url) as connection, _transaction(connection):
        return connection.execute(_text(statement), _given(given)).rowcount


@contextlib.contextmanager
def _moment(url: str) -> Iterator[Connection]:
    """A connection beside the one that writes, when there are not too many of them.

    Raises:
        LedgerError: the database cannot be used.
    """
    if not _places.acquire(timeout=_RETURN_SECONDS):
        raise LedgerError("the ledger's database takes too long")
    try:
        with contextlib.closing(connected(url)) as connection:
            yield connection
    except psycopg.Error as error:
        raise LedgerError(f"the ledger's database cannot be used: {error}") from None
    finally:
        _places.release()


def connected(url: str) -> Connection:
    """A connection to a database that has the tables, each statement a transaction.

    Args:
        url: of the database.

    Raises:
        LedgerError: it is no URL of a database, without a word of it; or the tables there are
            of a newer version or no ledger's.
        psycopg.Error: the database cannot be used.
    """
    connection = psycopg.connect(
        **{**_BOUNDS, **_parameters(url)},
        client_encoding="utf8",
        autocommit=True,
        # Statements that are prepared do not stand a pooler such as PgBouncer.
        prepare_threshold=None,
    )
    try:
        _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _parameters(url: str) -> dict[str, Any]:
    """What a URL says. A part of a password must not become the name of a host.

    Raises:
        LedgerError: it is no URL of a database, or it can be read in two ways.
    """
    wrong = LedgerError(
        f"the ledger's URL is none of a database: it takes {_FORM}, in which the password's"
        " signs that are neither letters nor digits are written as of"
        " `python -c \"import urllib.parse as u; print(u.quote('...', ''))\"`"
    )
    authority, _, rest = url.partition("://")[2].partition("/")
    if authority.count("@") > 1 or "@" in rest:
        raise wrong
    try:
        named = conninfo_to_dict(url)
    except psycopg.Error:
        # Its own words may show the password.
        raise wrong from None
    ports = str(named.get("port") or "0").split(",")
    if not all(re.fullmatch(r"[0-9]{1,5}", port) for port in ports):
        raise wrong
    return named


def _make_tables(connection: Connection) -> None:
    with _transaction(connection):
        version = _version(connection)
        # Who may write rows and nothing else can go on where the tables are.
        if version == VERSION:
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
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
    """That of the table of calls; 0 where there is none.

    Raises:
        LedgerError: the table there is somebody else's.
    """
    found = connection.execute(_COMMENT).fetchone()
    table, comment = found or (None, None)
    if table is None:
        return 0
    mine = re.fullmatch(r"Toolcast ledger, version ([0-9]{1,9})", comment or "")
    if mine is None:
        raise LedgerError(
            "the database has a table `calls` that is no ledger's: give the ledger a"
            " database of its own, or a schema, by ?options=-csearch_path%3DSCHEMA"
        )
    return int(mine[1])


@contextlib.contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    with connection.transaction():
        connection.execute(f"SET LOCAL statement_timeout = {_STATEMENT_MILLISECONDS}")
        yield


def _write_all(connection: Connection, records: Sequence[Record]) -> Failed:
    """Commits the batch; a record that the table does not take fails alone, by its place."""
    try:
        with _transaction(connection), connection.cursor() as cursor:
            rows = [_given(values(record)) for record in records]
            cursor.executemany(_text(WRITTEN), rows)
    except _RECORD_ERRORS as error:
        if len(records) == 1:
            lost = LedgerError("the record cannot be stored")
            lost.__cause__ = error
            return {0: lost}
    else:
        return {}
    failed: Failed = {}
    for number, record in enumerate(records):
        for lost in _write_all(connection, [record]).values():
            failed[number] = lost
    return failed


def _text(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


def _given(row: Sequence[Any]) -> list[Any]:
    # PostgreSQL keeps no NUL in a text.
    return [v.replace("\0", "\\x00") if isinstance(v, str) else v for v in row]


_places = threading.BoundedSemaphore(_MAX_CONNECTIONS)


def _begin_anew() -> None:
    """What a forked child has to do, in which nobody gives a place back."""
    global _places
    _places = threading.BoundedSemaphore(_MAX_CONNECTIONS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
