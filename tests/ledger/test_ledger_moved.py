"""A ledger file that is removed, moved or replaced during writes loses no row."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.test_ledger_processes import ROOT
from tests.runtime.file_ledger import FileLedger
from tests.waiting import wait_until_async
from toolcast_runtime.ledger import LedgerError, Record, records
from toolcast_runtime.ledger.records import RecordBatches

ENDINGS = ("", "-wal", "-shm")


def change_files(path: Path, how: str) -> None:
    """Remove or rename the database or all its files, or replace it by a backup."""
    if how == "backup":
        other = Path(f"{path}.new")
        with (
            closing(sqlite3.connect(path)) as source,
            closing(sqlite3.connect(other)) as copy,
        ):
            source.backup(copy)
        other.replace(path)
        return
    for ending in ENDINGS if how.endswith("all") else ENDINGS[:1]:
        file = Path(f"{path}{ending}")
        if how.startswith("remove"):
            file.unlink(missing_ok=True)
        elif file.exists():
            file.rename(f"{path}.1{ending}")


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not moved there")
@pytest.mark.parametrize(
    "how", ["remove", "remove all", "rename", "rename all", "backup"]
)
async def test_ledger_rows_are_written_to_the_path_after_its_file_was_replaced(
    file_ledger: FileLedger, handlers: Any, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    handlers.echo = lambda arguments, /: arguments["number"]
    for number in range(3):
        assert (await file_ledger.call("echo", {"number": number})).success
    change_files(file_ledger.path, how)
    caplog.set_level(logging.WARNING, "toolcast.ledger")
    for number in range(3, 9):
        assert (await file_ledger.call("echo", {"number": number})).success
    assert "was moved or removed" in caplog.text
    results = [row["result"] for row in file_ledger.rows()]
    assert results == [*("012" if how == "backup" else ""), *"345678"]
    if (old := Path(f"{file_ledger.path}.1")).exists():
        assert len(FileLedger(old).rows()) == 3
    await file_ledger.calls.close()


WRITER = """
import asyncio, sys
from pathlib import Path
from toolcast_runtime.ledger import LedgerError, Record
from toolcast_runtime.ledger.sqlite_ledger import SqliteLedger

async def main():
    ledger = SqliteLedger(Path(sys.argv[1]))
    for number in range(200):
        id = f"{sys.argv[2]}-{number}"
        record = Record(id, "toys", "spin", None, "2026-01-01", {}, "ok")
        try:
            await ledger.write(record)
        except LedgerError:
            # It was moved while it was made: a call is refused then.
            await ledger.write(record)
        if number % 10 == 0:
            await asyncio.sleep(0.01)
    await ledger.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not moved there")
def test_processes_lose_no_row_while_the_ledger_file_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "state" / "ledger.sqlite3"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen([*command, str(number)], cwd=ROOT) for number in range(4)
    ]
    try:
        for number in range(3):
            while not path.exists() or path.stat().st_size == 0:
                time.sleep(0.01)
            time.sleep(0.1)
            path.rename(f"{path}.{number}")
        assert [writer.wait(60) for writer in writers] == [0] * 4
    finally:
        for writer in writers:
            writer.kill()
    ids: list[str] = []
    for file in tmp_path.glob("state/ledger.sqlite3*"):
        if not file.name.endswith(("-wal", "-shm")):
            with closing(sqlite3.connect(file)) as found:
                assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                if not found.execute("SELECT 1 FROM sqlite_schema").fetchone():
                    continue  # moved before it was a ledger
                ids += [id for (id,) in found.execute("SELECT id FROM calls")]
    assert len(ids) == len(set(ids)) == 800


class UnavailableLedger(RecordBatches[sqlite3.Connection]):
    """A ledger that is unavailable while `is_away`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = True
        self.rows: list[Record] = []

    def _write_batch(
        self, connection: sqlite3.Connection | None, records: list[Record]
    ) -> tuple[sqlite3.Connection | None, dict[int, LedgerError]]:
        if self.is_away:
            lost = LedgerError("it is away")
            return None, dict.fromkeys(range(len(records)), lost)
        self.rows += records
        return sqlite3.connect(":memory:", check_same_thread=False), {}


@pytest.mark.parametrize("is_closed", [False, True])
async def test_calls_that_end_during_a_ledger_outage_are_recorded_afterwards(
    monkeypatch: pytest.MonkeyPatch, is_closed: bool
) -> None:
    monkeypatch.setattr(records, "_RETRY_INTERVAL_S", 60 if is_closed else 0.05)
    ledger = UnavailableLedger()
    begun = Record("1", "toys", "spin", None, "2026-01-01", {})
    ended = replace(begun, outcome="ok")
    for record in (begun, ended, replace(ended, id="2")):
        with pytest.raises(LedgerError):
            await ledger.write(record)
    ledger.is_away = False
    if is_closed:
        await ledger.close()
    await wait_until_async(lambda: ledger.rows)
    # The refused call with only a start is not recorded.
    assert [(row.id, row.outcome) for row in ledger.rows] == [("1", "ok"), ("2", "ok")]
    await ledger.close()
