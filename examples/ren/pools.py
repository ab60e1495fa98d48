"""The two database pools. A table is in one of them and in none other.

`REN_DATABASE_URL` and `REN_MEMORY_DATABASE_URL` name PostgreSQL databases; without them
each pool is a SQLite file of its own, below `REN_DATA` or else the user's data folder.
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

from .databases import engine_of
from .main_tables import MAIN_TABLES
from .memory_tables import MEMORY_TABLES

__all__ = ["main_pool", "memory_pool"]


@contextmanager
def main_pool(*, write: bool = False) -> Iterator[Connection]:
    """One transaction on the application tables.

    Everything is committed at the end, or nothing when an exception leaves the block.

    Raises:
        ToolError: the database does not answer.
    """
    with _transaction("main", "REN_DATABASE_URL", MAIN_TABLES, write) as connection:
        yield connection


@contextmanager
def memory_pool(*, write: bool = False) -> Iterator[Connection]:
    """One transaction on the Agent Memory Schema; otherwise as `main_pool`."""
    with _transaction(
        "memory", "REN_MEMORY_DATABASE_URL", MEMORY_TABLES, write
    ) as connection:
        yield connection


@contextmanager
def _transaction(
    pool: str, variable: str, tables: MetaData, write: bool
) -> Iterator[Connection]:
    try:
        engine = engine_of(_address(pool, variable), variable, tables)
        with engine.connect() as plain:
            connection = plain.execution_options(only_reads=not write)
            with connection.begin():
                yield connection
    except OperationalError as error:
        raise ToolError(
            f"The {pool} database does not answer or is busy. Try again in a moment; "
            f"{variable} says where it is."
        ) from error


def _address(pool: str, variable: str) -> str:
    given = os.environ.get(variable, "").strip()
    if given:
        return given
    folder = os.environ.get("REN_DATA")
    base = Path(folder) if folder else user_data_path("ren", appauthor=False)
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"sqlite:///{base.absolute() / pool}.sqlite3"
