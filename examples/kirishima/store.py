"""SQLite database of memories, prompt lines and sticky notes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep

from platformdirs import user_data_path

from toolcast_runtime import ToolError

__all__ = ["open_database", "get_database_path"]

BUSY_TIMEOUT_S = 5.0

# Statements of each schema version. A file at version n needs the entries from index n
# on. Do not change released versions; append new ones.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL UNIQUE,
            keywords TEXT NOT NULL,       -- one per line
            category TEXT,
            topic_id TEXT,
            created_at INTEGER NOT NULL,  -- milliseconds since 1970, like every *_at
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX memories_created ON memories (created_at)",
        """
        CREATE VIRTUAL TABLE memories_fts USING fts5 (
            text, keywords, content = 'memories', content_rowid = 'id',
            tokenize = 'porter unicode61 remove_diacritics 2'
        )
        """,
        """
        CREATE TRIGGER memories_insert AFTER INSERT ON memories BEGIN
            INSERT INTO memories_fts (rowid, text, keywords)
            VALUES (new.id, new.text, new.keywords);
        END
        """,
        """
        CREATE TRIGGER memories_delete AFTER DELETE ON memories BEGIN
            INSERT INTO memories_fts (memories_fts, rowid, text, keywords)
            VALUES ('delete', old.id, old.text, old.keywords);
        END
        """,
        """
        CREATE TRIGGER memories_update AFTER UPDATE ON memories BEGIN
            INSERT INTO memories_fts (memories_fts, rowid, text, keywords)
            VALUES ('delete', old.id, old.text, old.keywords);
            INSERT INTO memories_fts (rowid, text, keywords)
            VALUES (new.id, new.text, new.keywords);
        END
        """,
        """
        CREATE TABLE prompt_lines (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL,
            reasoning TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            deleted_at INTEGER,
            delete_reasoning TEXT
        ) STRICT
        """,
        """
        CREATE UNIQUE INDEX prompt_lines_in_force ON prompt_lines (text)
        WHERE deleted_at IS NULL
        """,
        """
        CREATE TABLE notes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL,
            start TEXT NOT NULL,          -- local time of the first occurrence
            zone TEXT NOT NULL,           -- IANA name or offset of `start`
            periodicity TEXT,
            occurrence INTEGER NOT NULL,  -- 0 is the first
            snoozed_until INTEGER,
            created_at INTEGER NOT NULL,
            resolved_at INTEGER
        ) STRICT
        """,
    ),
)


def get_database_path() -> Path:
    """Return the database file in KIRISHIMA_DATA or the user's data folder."""
    folder = os.environ.get("KIRISHIMA_DATA")
    base = Path(folder) if folder else user_data_path("kirishima", appauthor=False)
    return base / "kirishima.sqlite3"


@contextmanager
def open_database(*, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the database, which is created on first use, and begin a transaction.

    The transaction is committed at the end of the block, and rolled back on an
    exception.

    Raises:
        ToolError: the database is locked for longer than `BUSY_TIMEOUT_S`.
    """
    path = get_database_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with closing(_connect(path)) as connection:
            _migrate(connection)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
            except BaseException:
                _roll_back(connection)
                raise
            connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if _is_busy(error):
            raise ToolError("The database is busy. Try again in a moment.") from error
        raise


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    """Update the schema to the current version; concurrent processes are safe."""
    if _get_version(connection) == len(MIGRATIONS):
        return
    _use_wal(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _get_version(connection)
        if version > len(MIGRATIONS):
            raise RuntimeError(
                f"the database has schema version {version}, newer than this program's "
                f"{len(MIGRATIONS)}"
            )
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        _roll_back(connection)
        raise
    connection.execute("COMMIT")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Enable WAL mode.

    SQLite does not wait for a lock while it changes the mode, so retry until the
    timeout.
    """
    deadline = monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or monotonic() > deadline:
                raise
            sleep(0.01)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    primary_code = error.sqlite_errorcode & 0xFF
    return primary_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _roll_back(connection: sqlite3.Connection) -> None:
    # Some errors, such as a full disk, end the transaction.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _get_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
