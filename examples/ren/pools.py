"""The two database pools. Each table is in exactly one of them.

`REN_DATABASE_URL` and `REN_MEMORY_DATABASE_URL` are the addresses. By default, each
pool is a SQLite file in `REN_DATA` or in the user's data folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_data_path
from sqlalchemy import Connection, MetaData
from sqlalchemy.exc import OperationalError

from toolcast_runtime import ToolError

from .databases import get_engine
from .main_tables import MAIN_TABLES
from .memory_tables import MEMORY_TABLES

__all__ = ["main_pool", "memory_pool"]


@contextmanager
def main_pool(*, write: bool = False) -> Iterator[Connection]:
    """Open a transaction on the application tables.

    It is committed at the end of the block, and rolled back on an exception.

    Raises:
        ToolError: the database does not respond.
    """
    with _open_transaction(
        "main", "REN_DATABASE_URL", MAIN_TABLES, write
    ) as connection:
        yield connection


@contextmanager
def memory_pool(*, write: bool = False) -> Iterator[Connection]:
    """Open a transaction on the Agent Memory Schema, like `main_pool`."""
    with _open_transaction(
        "memory", "REN_MEMORY_DATABASE_URL", MEMORY_TABLES, write
    ) as connection:
        yield connection


@contextmanager
def _open_transaction(
    pool: str, variable: str, tables: MetaData, write: bool
) -> Iterator[Connection]:
    try:
        engine = get_engine(_get_address(pool, variable), variable, tables)
        with engine.connect() as plain:
            connection = plain.execution_options(only_reads=not write)
            with connection.begin():
                yield connection
    except OperationalError as error:
        raise ToolError(
            f"The {pool} database does not respond or is busy. Try again in a moment, "
            f"or check {variable}."
        ) from error


def _get_address(pool: str, variable: str) -> str:
    address = os.environ.get(variable, "").strip()
    if address:
        return address
    folder = os.environ.get("REN_DATA")
    base = Path(folder) if folder else user_data_path("ren", appauthor=False)
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"sqlite:///{base.absolute() / pool}.sqlite3"
