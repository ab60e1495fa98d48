"""SQLAlchemy engines for SQLite files and PostgreSQL databases."""

from __future__ import annotations

import sqlite3
import time
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.schema import CreateIndex, CreateTable

from toolcast_runtime import ToolError

__all__ = ["CONNECT_TIMEOUT_S", "get_engine"]

CONNECT_TIMEOUT_S = 5
# Arbitrary key of an advisory lock. Without the lock, CREATE TABLE IF NOT EXISTS of two
# processes at the same time can fail in PostgreSQL.
_TABLES_LOCK = 7220931


@lru_cache(maxsize=16)
def get_engine(address: str, variable: str, tables: MetaData) -> Engine:
    """Return the engine of a database, and create tables that do not exist.

    Args:
        address: `postgresql://...` or `sqlite:///...`.
        variable: the environment variable of the address, for error messages.
        tables: the tables of the database.

    Raises:
        ToolError: the address is not a PostgreSQL or SQLite URL.
        sqlalchemy.exc.OperationalError: the database does not respond.
    """
    engine = _create_engine(_parse_url(address, variable))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_TABLES_LOCK)))
        for table in tables.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in sorted(table.indexes, key=lambda index: str(index.name)):
                connection.execute(CreateIndex(index, if_not_exists=True))
    return engine


def _parse_url(address: str, variable: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        # SQLAlchemy's message contains the address with the password.
        raise ToolError(f"{variable} is not a database URL.") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("postgresql+psycopg", "sqlite"):
        raise ToolError(f"{variable} must begin with postgresql:// or sqlite:///.")
    return url


def _create_engine(url: URL) -> Engine:
    if url.drivername != "sqlite":
        return create_engine(
            url, pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_TIMEOUT_S}
        )
    engine = create_engine(url, connect_args={"timeout": CONNECT_TIMEOUT_S})
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _prepare_connection(connection: sqlite3.Connection, record: Any) -> None:
    # `_begin_transaction` begins transactions, not the driver.
    connection.isolation_level = None
    _use_wal(connection)
    # SQLite's own `lower` supports only ASCII.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _use_wal(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for a lock while it changes the journal mode.
    deadline = time.monotonic() + CONNECT_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _lower(value: str | bytes | float | None) -> str | bytes | float | None:
    return value.lower() if isinstance(value, str) else value


def _begin_transaction(connection: Connection) -> None:
    # A transaction that reads first can fail at its first write, so lock at the start.
    is_read = connection.get_execution_options().get("only_reads", False)
    connection.exec_driver_sql("BEGIN" if is_read else "BEGIN IMMEDIATE")
