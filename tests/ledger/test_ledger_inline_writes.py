"""Commits of records: inline while they are fast, otherwise in a thread."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime.ledger import Record, sqlite_ledger
from toolcast_runtime.ledger.sqlite_ledger import SqliteLedger


@pytest.fixture(autouse=True)
def echo(handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments


@pytest.fixture
def thread_outcomes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the outcomes of the records that the writer thread writes."""
    outcomes: list[str] = []
    put = SqliteLedger._put

    def record_outcome(self: SqliteLedger, record: Record) -> Any:
        outcomes.append(record.outcome)
        return put(self, record)

    monkeypatch.setattr(SqliteLedger, "_put", record_outcome)
    return outcomes


async def test_only_the_first_and_long_ledger_records_are_written_by_the_thread(
    file_ledger: FileLedger, thread_outcomes: list[str]
) -> None:
    for number in range(3):
        assert (await file_ledger.call("echo", {"n": number})).success
    assert thread_outcomes == ["started"]
    text = "x" * (sqlite_ledger._MAX_INLINE_RECORD_CHARACTERS + 1)
    assert (await file_ledger.call("echo", {"text": text})).success
    assert thread_outcomes == ["started", "started", "ok"]
    assert (await file_ledger.call("echo")).success
    assert thread_outcomes == ["started", "started", "ok"]
    await file_ledger.calls.close()
    assert [row["outcome"] for row in file_ledger.rows()] == ["ok"] * 5


async def test_ledger_sqlite_write_ahead_log_is_bounded(
    file_ledger: FileLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_ledger, "_MAX_LOG_BYTES", 100_000)
    for number in range(200):
        assert (await file_ledger.call("echo", {"n": number})).success
    log = file_ledger.path.with_name(file_ledger.path.name + "-wal")
    assert log.stat().st_size < 300_000
    assert len(file_ledger.rows()) == 200


async def test_ledger_row_ids_sort_in_call_order(file_ledger: FileLedger) -> None:
    for number in range(20):
        await file_ledger.call("echo", {"n": number})
    rows = sorted(file_ledger.rows(), key=lambda row: str(row["id"]))
    assert [row["arguments"] for row in rows] == [f'{{"n": {n}}}' for n in range(20)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_process_opens_own_sqlite_connection(file_ledger: FileLedger) -> None:
    assert asyncio.run(file_ledger.call("echo")).success
    child = os.fork()
    if child == 0:
        answered = asyncio.run(file_ledger.call("echo")).success
        os._exit(0 if answered else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asyncio.run(file_ledger.call("echo")).success
    asyncio.run(file_ledger.calls.close())
    assert [row["outcome"] for row in file_ledger.rows()] == ["ok"] * 3


async def test_late_start_record_does_not_overwrite_a_call_end(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    started = Record("1", "toys", "echo", None, "2026-01-01T00:00:00+00:00", {})
    await ledger.write(replace(started, outcome="ok", result=1, seconds=0.5))
    await ledger.write(started)
    await ledger.close()
    (row,) = FileLedger(tmp_path / "ledger.sqlite3").rows()
    assert (row["outcome"], row["result"], row["seconds"]) == ("ok", "1", 0.5)
