"""The one SQLite file behind the platform: opening it, and times and ids in it."""

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

__all__ = ["new_id", "now", "reading", "timestamp", "writing"]

VERSION = 1
BUSY_SECONDS = 10.0
INSERT_WORKSPACE = """
    INSERT INTO workspaces (id, organisation, parent_id, name, role, tier,
                            can_broadcast, answers, skills, token)
    VALUES (:id, :organisation, :parent_id, :name, :role, :tier,
            :can_broadcast, :answers, :skills, :token)
"""


@contextmanager
def reading() -> Iterator[sqlite3.Connection]:
    """A connection on which to read; concurrent writers do not block it."""
    with closing(_connect(config.database())) as connection:
        yield connection


@contextmanager
def writing() -> Iterator[sqlite3.Connection]:
    """A connection within one transaction: all of the block's writes, or none."""
    with closing(_connect(config.database())) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def now() -> str:
    """The present time as the database stores it."""
    return timestamp(datetime.now(UTC))


def timestamp(moment: datetime) -> str:
    """An aware time as the database stores it: UTC, fixed width, sortable as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def new_id(prefix: str) -> str:
    """A fresh id that nobody can guess, such as `task-5f0c...`."""
    return f"{prefix}-{secrets.token_hex(8)}"


def _connect(path: Path) -> sqlite3.Connection:
    if not path.exists():
        _create(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL, still never corrupt
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        connection.close()
        raise RuntimeError(f"{path} has format {version}, this program needs {VERSION}")
    return connection


def _create(path: Path) -> None:
    """Builds the whole database aside and puts it in place, unless another was faster.

    Nobody ever sees a half-made database, however many processes start at once.
    """
    schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
        draft = Path(folder) / path.name
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN; {schema}")
            connection.executemany(INSERT_WORKSPACE, defaults.workspace_rows())
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        draft.chmod(0o600)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
