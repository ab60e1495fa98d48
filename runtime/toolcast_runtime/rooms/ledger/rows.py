"""The ledger's tables and statements, the same for a SQLite file and a PostgreSQL database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Any

from .record import Record

VERSION = 3
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
_INDEX = "CREATE INDEX IF NOT EXISTS calls_started ON calls (started)"
# What makes the next version of a version, where it has the table. The first one had no users.
_CHANGES = {
    1: ("calls", 'ALTER TABLE calls ADD COLUMN "user" TEXT'),
    2: ("approvals", 'ALTER TABLE approvals ADD COLUMN "user" TEXT'),
}
WRITTEN = """
INSERT INTO calls (
    id, toolset, tool, client, "user", started, arguments, outcome, result, error, seconds
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, result = excluded.result,
    error = excluded.error, seconds = excluded.seconds
WHERE excluded.outcome <> 'started'
"""
"""Writes the `values` of a record; one that ended does not become one that runs."""

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


def made(version: int, there: Collection[str] = ("calls", "approvals")) -> list[str]:
    """What makes the present tables of those of a version.

    Args:
        version: of the tables that are there; 0 where none is.
        there: their names.
    """
    steps = [_CHANGES[before] for before in range(version or VERSION, VERSION)]
    changes = [change for table, change in steps if table in there]
    return [*changes, CALLS, APPROVALS, _INDEX]


def values(record: Record) -> tuple[Any, ...]:
    """A record in the order of the question marks of `WRITTEN`.

    Raises:
        Exception: one of `RECORD_ERRORS`.
    """
    return (
        record.id,
        record.toolset,
        record.tool,
        record.client,
        storable(record.user),
        record.started,
        json_text(record.arguments),
        record.outcome,
        None if record.result is None else json_text(record.result),
        storable(record.error),
        record.seconds,
    )


def json_text(value: Any) -> str:
    """A JSON value as text that a database takes."""
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
