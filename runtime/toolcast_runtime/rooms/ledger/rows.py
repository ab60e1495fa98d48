"""Records as rows, and the SQLite file in WAL mode that keeps them."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any, NamedTuple

from ...core.files.private_file import make_private
from ...core.toolset_settings import LedgerError
from .record import Record

VERSION = 3
# The files that SQLite makes beside its own.
_BESIDE = ("-wal", "-shm", "-journal")
_BUSY_MILLISECONDS = 30_000
CALLS = """
CREATE TABLE IF NOT EXISTS calls (
    id TEXT PRIMARY KEY,
    toolset TEXT NOT NULL,
    tool TEXT NOT NULL,
    client TEXT,
    started TEXT NOT NULL,   -- ISO 8601 in UTC
    arguments TEXT,          -- JSON, secrets replaced
    outcome TEXT NOT NULL,   -- started, ok, error, invalid, timeout, cancelled
    result TEXT,             -- JSON
    error TEXT,
    seconds REAL,            -- NULL while it runs
    "user" TEXT              -- who asked; NULL when nobody is known
) STRICT, WITHOUT ROWID
"""
APPROVALS = """
CREATE TABLE IF NOT EXISTS approvals (
    round TEXT NOT NULL,     -- of one request
    question TEXT NOT NULL,
    toolset TEXT NOT NULL,
    tool TEXT NOT NULL,
    client TEXT,
    message TEXT NOT NULL,   -- without the arguments
    arguments TEXT,          -- JSON, secrets replaced
    asked TEXT NOT NULL,     -- ISO 8601 in UTC
    taken TEXT,              -- when a call went on with the answers of the round
    action TEXT,             -- accept, decline, cancel; client: its program says so
    "user" TEXT,             -- who asked for the call; NULL when nobody is known
    PRIMARY KEY (round, question)
) STRICT, WITHOUT ROWID
"""
# What makes the next version of a version, where it has the table. The first one had no users.
CHANGES = {
    1: ("calls", 'ALTER TABLE calls ADD COLUMN "user" TEXT'),
    2: ("approvals", 'ALTER TABLE approvals ADD COLUMN "user" TEXT'),
}
_IS_THERE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
INDEX = "CREATE INDEX IF NOT EXISTS calls_started ON calls (started)"
_WHOLE = """
INSERT INTO calls (
    id, toolset, tool, client, "user", started, arguments, outcome, result, error, seconds
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    error = excluded.error, seconds = excluded.seconds
WHERE excluded.outcome <> 'started'
"""
_ENDING = (
    "UPDATE calls SET outcome = ?, result = ?, error = ?, seconds = ? WHERE id = ?"
)

RECORD_ERRORS = (
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""What a record may be that no file takes; everything else is wrong with the file."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class Statement(NamedTuple):
    """What is to be executed for a record.

    Attributes:
        text: SQL.
        values: in the order of its question marks.
        characters: of all texts that may be long.
    """

    text: str
    values: tuple[Any, ...]
    characters: int


def written(record: Record) -> Statement:
    """Writes all of a record; one that ended does not become one that runs.

    Raises:
        Exception: one of `RECORD_ERRORS`.
    """
    arguments = json_text(record.arguments)
    end = _end(record)
    user = storable(record.user)
    start = (record.id, record.toolset, record.tool, record.client, user)
    characters = len(arguments) + _characters(end)
    return Statement(_WHOLE, (*start, record.started, arguments, *end), characters)


def ending(record: Record) -> Statement:
    """Completes the row that a call began with; changes none where there is none.

    Raises:
        Exception: one of `RECORD_ERRORS`.
    """
    end = _end(record)
    return Statement(_ENDING, (*end, record.id), _characters(end))


def connected(path: Path) -> sqlite3.Connection:
    """A connection that commits each statement; one thread after the other may use it.

    Its file and the folder are made for their owner alone. No commit moves the log into the
    file by the way: that is for whoever has the time.

    Raises:
        LedgerError: the file is of a newer version.
        OSError: it cannot be made.
        sqlite3.Error: it cannot be used.
    """
    make_private(str(path), beside=_BESIDE)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        wait_for_others(connection, is_patient=True)
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise LedgerError(f"{path} was written by a newer version")
        connection.execute(CALLS)
        for before in range(version or VERSION, VERSION):
            table, change = CHANGES[before]
            if connection.execute(_IS_THERE, (table,)).fetchone():
                connection.execute(change)
        connection.execute(INDEX)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def wait_for_others(connection: sqlite3.Connection, *, is_patient: bool) -> None:
    """Whether a statement waits, for half a minute, while somebody else writes."""
    most = _BUSY_MILLISECONDS if is_patient else 0
    connection.execute(f"PRAGMA busy_timeout = {most}")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switches to WAL; when others are switching too, SQLite itself does not wait."""
    deadline = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _end(record: Record) -> tuple[Any, ...]:
    return (
        record.outcome,
        None if record.result is None else json_text(record.result),
        storable(record.error),
        record.seconds,
    )


def _characters(end: tuple[Any, ...]) -> int:
    return len(end[1] or "") + len(end[2] or "")


def json_text(value: Any) -> str:
    """A JSON value as text that SQLite takes."""
    text = _encode(value)
    # Half a surrogate pair is JSON when it is escaped, and no text otherwise.
    if text.isascii() or _is_text(text):
        return text
    return json.dumps(value, allow_nan=False)


def storable(text: str | None) -> str | None:
    """A text with its halves of surrogate pairs escaped."""
    if text is None:
        return None
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
