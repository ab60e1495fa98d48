"""The clinic's database: SQLite unless CLINIC_DATABASE_URL names a PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from .tables import TABLES

__all__ = ["lifespan", "tell"]

# The lock prevents that two workers create the same tables, which fails in PostgreSQL.
_TABLES_LOCK = 5150926


def tell(what: str) -> None:
    """Write a line to the file that CLINIC_LOG names."""
    if path := os.environ.get("CLINIC_LOG"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(what + "\n")


@contextmanager
def lifespan() -> Iterator[dict[str, object]]:
    """Provide one connection pool for both toolsets."""
    url = make_url(os.environ.get("CLINIC_DATABASE_URL", "sqlite:///clinic.sqlite3"))
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(
                    text(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})")
                )
            TABLES.create_all(connection)
        tell("opened")
        yield {"db": engine}
    finally:
        in_use = engine.pool.checkedout()  # type: ignore[attr-defined]
        engine.dispose()
        tell(f"closed, {in_use} in use")
