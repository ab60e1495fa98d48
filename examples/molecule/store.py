"""The platform's SQLite file: transactions, timestamps and ids."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from examples.molecule import config, defaults

__all__ = ["new_id", "now", "read_transaction", "format_timestamp", "write_transaction"]

VERSION = 1
BUSY_TIMEOUT_S = 10.0
INSERT_WORKSPACE = """
    INSERT INTO workspaces (id, organisation, parent_id, name, role, tier,
                            can_broadcast, answers, skills, token)
    VALUES (:id, :organisation, :parent_id, :name, :role, :tier,
            :can_broadcast, :answers, :skills, :token)
"""


@contextmanager
def read_transaction() -> Iterator[sqlite3.Connection]:
    """Open a connection for reading; concurrent writers do not block it."""
    with closing(_connect(config.get_database_path())) as connection:
        yield connection


@contextmanager
def write_transaction() -> Iterator[sqlite3.Connection]:
    """Open a connection and a transaction, which is rolled back on an exception."""
    with closing(_connect(config.get_database_path())) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def now() -> str:
    """Return the current time in the database's format."""
    return format_timestamp(datetime.now(UTC))


def format_timestamp(moment: datetime) -> str:
    """Format an aware time for the database: UTC, fixed width, sortable as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def new_id(prefix: str) -> str:
    """Return a random id with a prefix, such as `task-5f0c...`."""
    return f"{prefix}-{secrets.token_hex(8)}"


def _connect(path: Path) -> sqlite3.Connection:
    if not path.exists():
        _create(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    # In WAL mode, NORMAL cannot corrupt the database.
    connection.execute("PRAGMA synchronous = NORMAL")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        connection.close()
        raise RuntimeError(f"{path} has format {version}; this program needs {VERSION}")
    return connection


def _create(path: Path) -> None:
    """Create the database in a temporary folder and link it to its path.

    The link fails if another process was faster, so no process reads an incomplete
    database.
    """
    schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
        draft = Path(folder) / path.name
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN; {schema}")
            connection.executemany(INSERT_WORKSPACE, defaults.build_workspace_rows())
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        draft.chmod(0o600)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
