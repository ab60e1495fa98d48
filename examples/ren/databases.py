"""Engines of SQLite files and PostgreSQL databases, with their tables in place."""

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

__all__ = ["CONNECT_SECONDS", "engine_of"]

CONNECT_SECONDS = 5
# Any number will do, as long as nobody else locks it: it keeps two processes from making
# the same tables at once, which PostgreSQL does not stand in spite of IF NOT EXISTS.
_TABLES_LOCK = 7220931


@lru_cache(maxsize=16)
def engine_of(address: str, variable: str, tables: MetaData) -> Engine:
    """The engine of an address; its tables are made when they are not there.

    Args:
        address: `postgresql://...` or `sqlite:///...`.
        variable: the environment variable that the address comes from, for errors.
        tables: the tables that belong into it.

    Raises:
        ToolError: the address is none of the two.
        sqlalchemy.exc.OperationalError: nobody answers there.
    """
    engine = _engine(_url(address, variable))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_TABLES_LOCK)))
        for table in tables.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in sorted(table.indexes, key=lambda index: str(index.name)):
                connection.execute(CreateIndex(index, if_not_exists=True))
    return engine


def _url(address: str, variable: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        # Its own words would show the address, and with it the password.
        raise ToolError(f"{variable} is not the address of a database.") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("postgresql+psycopg", "sqlite"):
        raise ToolError(f"{variable} must begin with postgresql:// or sqlite:///.")
    return url


def _engine(url: URL) -> Engine:
    if url.drivername != "sqlite":
        return create_engine(
            url, pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_SECONDS}
        )
    engine = create_engine(url, connect_args={"timeout": CONNECT_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, record: Any) -> None:
    # SQLAlchemy says when a transaction begins, not the driver.
    connection.isolation_level = None
    _use_wal(connection)
    # SQLite's own knows ASCII only.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _use_wal(connection: sqlite3.Connection) -> None:
    # When others are switching too, SQLite itself does not wait.
    deadline = time.monotonic() + CONNECT_SECONDS
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


def _begin(connection: Connection) -> None:
    # One that reads first and writes later could not be let in between.
    is_read = connection.get_execution_options().get("only_reads", False)
    connection.exec_driver_sql("BEGIN" if is_read else "BEGIN IMMEDIATE")
