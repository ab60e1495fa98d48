"""A file that a runtime before has written, and still writes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.kept_ledger import Kept
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.question import Asked
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.rooms.ledger import records
from toolcast_runtime.rooms.ledger.sqlite_ledger import connected
from toolcast_runtime.rooms.ledger.tables import ApprovalsTable

# As version 1 made its file, and wrote to it.
FIRST = """
CREATE TABLE calls (
    id TEXT PRIMARY KEY, toolset TEXT NOT NULL, tool TEXT NOT NULL, client TEXT,
    started TEXT NOT NULL, arguments TEXT, outcome TEXT NOT NULL, result TEXT, error TEXT,
    seconds REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_started ON calls (started);
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
"""
BEGINS = """
INSERT INTO calls VALUES
    (?, 'toys', 'echo', 'c', '2026-01-01', '{}', 'started', NULL, NULL, NULL)
"""
ENDS = "UPDATE calls SET outcome = ?, result = ?, error = ?, seconds = ? WHERE id = ?"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "toys.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FIRST)
        connection.execute(BEGINS, ("old",))
    return path


@pytest.fixture(autouse=True)
def echo(handlers: Any) -> None:
    handlers.echo = lambda: 1


async def test_the_ledger_says_who_asked(kept: Kept) -> None:
    with calling_as(Caller(user="mia\ud800\n")):
        await kept.call("echo")
    await kept.call("echo")
    await kept.calls.close()
    assert [row["user"] for row in kept.rows()] == ["mia\\ud800\n", None]


async def test_a_file_of_the_first_version_gets_its_column(first: Path) -> None:
    again = Kept(first)
    with calling_as(Caller(user="mia")):
        await again.call("echo")
    await again.calls.close()
    assert [(row["id"] == "old", row["user"]) for row in again.rows()] == [
        (True, None),
        (False, "mia"),
    ]
    with closing(sqlite3.connect(first)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


async def test_approvals_of_the_second_version_get_the_column(tmp_path: Path) -> None:
    path = tmp_path / "toys.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(records.CALLS)
        connection.execute(records.APPROVALS)
        connection.execute('ALTER TABLE approvals DROP COLUMN "user"')
        connection.execute("PRAGMA user_version = 2")
    table = ApprovalsTable(LedgerSettings("toys", "NO_LEDGER_VARIABLE", str(path)))
    await table.begin(
        Asked("1", "1", "pay", "desk", "mia\ud800", "Pay?", {}, {}, "2026")
    )
    with closing(sqlite3.connect(path)) as connection:
        asked = connection.execute("SELECT round, user FROM approvals").fetchall()
    assert asked == [("1", "mia\\ud800")]


async def test_what_the_runtime_before_began_it_can_end(first: Path) -> None:
    """It begins no more, which its log says, and closes the call whose start is recorded."""
    with closing(sqlite3.connect(first, isolation_level=None)) as before:
        before.execute("SELECT count(*) FROM calls").fetchall()
        connected(first).close()
        before.execute(ENDS, ("ok", "1", None, 0.5, "old"))
        with pytest.raises(sqlite3.OperationalError, match="11 columns but 10 values"):
            before.execute(BEGINS, ("new",))
        ended = "SELECT id, outcome, user FROM calls"
        assert before.execute(ended).fetchall() == [("old", "ok", None)]


def test_processes_that_open_it_at_once_make_one_column(first: Path) -> None:
    failed: list[BaseException] = []
    begin = threading.Barrier(8)

    def opens() -> None:
        try:
            begin.wait()
            connected(first).close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=opens) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


async def test_a_file_of_a_later_version_is_refused(first: Path) -> None:
    with closing(sqlite3.connect(first)) as connection:
        connection.execute("PRAGMA user_version = 4")
    response = await asyncio.wait_for(Kept(first).call("echo"), 10)
    assert response.error is not None
    assert "calls must be recorded" in response.error
