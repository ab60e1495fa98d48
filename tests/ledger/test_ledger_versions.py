"""The recorded user, and files of newer versions."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.question import PendingQuestion
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.ledger.records import VERSION
from toolcast_runtime.ledger.sqlite_ledger import open_connection
from toolcast_runtime.ledger.tables import ApprovalsTable


@pytest.fixture(autouse=True)
def echo(handlers: Any) -> None:
    handlers.echo = lambda: 1


async def test_ledger_row_contains_escaped_user_name(file_ledger: FileLedger) -> None:
    with calling_as(Caller(user="mia\ud800\n")):
        await file_ledger.call("echo")
    await file_ledger.call("echo")
    await file_ledger.calls.close()
    assert [row["user"] for row in file_ledger.rows()] == ["mia\\ud800\n", None]


async def test_ledger_approvals_table_has_escaped_user_name(tmp_path: Path) -> None:
    path = tmp_path / "toys.sqlite3"
    table = ApprovalsTable(LedgerSettings("toys", "NO_LEDGER_VARIABLE", str(path)))
    await table.record_question(
        PendingQuestion("1", "1", "pay", "desk", "mia\ud800", "Pay?", {}, {}, "2026")
    )
    with closing(sqlite3.connect(path)) as connection:
        asked = connection.execute("SELECT round, user FROM approvals").fetchall()
    assert asked == [("1", "mia\\ud800")]


async def test_ledger_file_from_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toys.sqlite3"
    open_connection(path).close()
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("PRAGMA user_version").fetchone()
        assert found == (VERSION,)
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    response = await asyncio.wait_for(FileLedger(path).call("echo"), 10)
    assert response.error is not None
    assert "calls must be recorded" in response.error
