"""Retention: rows older than `keep` are removed, and no call waits for it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.question import PendingQuestion
from toolcast_runtime.ledger import LedgerError, LedgerSettings, Record, tables
from toolcast_runtime.ledger.recorder import open_ledger
from toolcast_runtime.ledger.tables import ApprovalsTable, remove_old, stop_retention

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> LedgerSettings:
    path = str(tmp_path / "calls.sqlite3")
    return LedgerSettings("toys", "NO_LEDGER_VARIABLE", path, keep="90d")


def format_hours_ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).isoformat(timespec="microseconds")


async def write_records(settings: LedgerSettings, rows: Mapping[str, Any]) -> None:
    """Record calls by id, with age in hours and optional toolset and outcome."""
    ledger = open_ledger(settings)
    for id_, (hours, *more) in rows.items():
        toolset, outcome = [*more, *("toys", "ok")[len(more) :]]
        start = format_hours_ago(hours)
        await ledger.write(
            Record(id_, toolset, "spin", None, start, {}, outcome=outcome)
        )
    await ledger.close()


def list_ids(settings: LedgerSettings, what: str = "id FROM calls") -> list[str]:
    with closing(sqlite3.connect(settings.get_file())) as connection:
        found = connection.execute(f"SELECT {what} ORDER BY 1")
        return [row[0] for row in found]


@pytest.mark.parametrize(
    ("keep", "stay"),
    [
        ("1h", ["new", "other's"]),
        ("24h", ["day", "new", "other's"]),
        ("2d", ["day", "new", "other's"]),
        ("90d", ["day", "killed", "month", "new", "other's"]),
        ("9999d", ["day", "killed", "month", "new", "old", "other's"]),
    ],
)
def test_toolset_ledger_rows_are_removed_after_the_time_in_keep(
    settings: LedgerSettings, keep: str, stay: list[str]
) -> None:
    settings = replace(settings, keep=keep)
    rows = {
        "new": (0.9,),
        "day": (23.9,),
        "month": (24 * 30,),
        "old": (24 * 100,),
        "killed": (24 * 60, "toys", "started"),
        "other's": (24 * 1000, "other"),
    }
    asyncio.run(write_records(settings, rows))
    gone = remove_old(settings, threading.Event(), NOW)
    assert (list_ids(settings), gone) == (stay, len(rows) - len(stay))


@pytest.mark.parametrize(
    ("hours", "is_taken", "is_there"),
    [
        (0.5, False, True),
        (0.5, True, True),
        # A used answer cannot be used again, so its row can be removed.
        (2, True, False),
        # The question can still be answered.
        (2, False, True),
        (24 * 29, False, True),
        (24 * 31, False, False),
    ],
)
def test_ledger_keeps_a_confirmation_question_until_answered_or_30_days_old(
    settings: LedgerSettings, hours: float, is_taken: bool, is_there: bool
) -> None:
    settings = replace(settings, keep="1h")
    table = ApprovalsTable(replace(settings, keep=None))
    asked = PendingQuestion(
        "round", "1", "spin", None, None, "Sure?", {}, {}, format_hours_ago(hours)
    )

    async def use() -> bool:
        await table.record_question(asked)
        if is_taken:
            assert await table.claim_round("round")
        remove_old(settings, threading.Event(), NOW)
        return await table.claim_round("round")

    can_be_used = asyncio.run(use())
    assert list_ids(settings, "round FROM approvals") == ["round"] * is_there
    assert can_be_used is (is_there and not is_taken)


def test_old_rows_are_removed_in_batches_of_500(settings: LedgerSettings) -> None:
    rows = {f"{number:04}": (24 * 100,) for number in range(600)}
    ended = threading.Event()
    ended.set()
    asyncio.run(write_records(settings, rows))
    # Each run removes one batch, because the event requests its end.
    for left in (100, 0):
        remove_old(settings, ended, NOW)
        assert len(list_ids(settings)) == left
    assert remove_old(settings, threading.Event(), NOW) == 0


async def test_call_end_is_recorded_again_after_retention_removed_its_row(
    settings: LedgerSettings,
) -> None:
    """The content of the removed row is erased from the file."""
    ledger = open_ledger(settings)
    started = format_hours_ago(24 * 100)
    record = Record("1", "toys", "spin", None, started, {"note": "s3cret"})
    await ledger.write(record)
    await ledger.close()
    assert b"s3cret" in settings.get_file().read_bytes()
    assert remove_old(settings, threading.Event(), NOW) == 1
    assert b"s3cret" not in settings.get_file().read_bytes()
    ended = replace(record, outcome="ok", seconds=1.0, arguments={"note": 1})
    await ledger.write(ended)
    await ledger.close()
    assert list_ids(settings, "outcome || arguments FROM calls") == ['ok{"note": 1}']


@pytest.mark.parametrize("keep", ["1h", None])
async def test_first_tool_call_in_a_process_removes_old_ledger_rows(
    file_ledger: FileLedger, handlers: Any, keep: str | None
) -> None:
    handlers.spin = lambda: "done"
    file_ledger.settings = replace(file_ledger.settings, keep=keep)
    file_ledger.calls = ToolCalls(file_ledger.settings, "tests")
    await write_records(file_ledger.settings, {"0": (24 * 4000,)})
    assert (await file_ledger.call("spin")).success
    await file_ledger.calls.close()
    assert len(file_ledger.rows()) == (1 if keep else 2)


def test_ledger_retention_thread_is_started_once_and_again_after_its_end(
    settings: LedgerSettings,
) -> None:
    """In a forked child, the thread has ended."""
    tables.start_retention(settings)
    first = tables._sweeping[settings]
    tables.start_retention(settings)
    assert tables._sweeping[settings] is first
    first.ended.set()
    first.join()
    tables.start_retention(settings)
    assert tables._sweeping[settings] is not first
    tables.stop_retention(settings)


def test_failed_old_ledger_row_removal_is_logged_and_keeps_the_rows(
    settings: LedgerSettings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.get_file().mkdir()
    with pytest.raises((OSError, LedgerError, sqlite3.Error)):
        remove_old(settings, threading.Event(), NOW)

    async def ask() -> None:
        with pytest.raises(OSError):
            asked = PendingQuestion(
                "1", "1", "spin", None, None, "Sure?", {}, {}, format_hours_ago(0)
            )
            await ApprovalsTable(settings).record_question(asked)

    caplog.set_level(logging.WARNING, "toolcast.ledger")
    asyncio.run(ask())
    stop_retention(settings)
    assert "rows older than 90d cannot be removed" in caplog.text
