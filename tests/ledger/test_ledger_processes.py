"""Processes that exit or are killed lose no record of an answered call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.file_ledger import FileLedger

ROOT = Path(__file__).parents[2]


PROGRAM = """
import asyncio, os, sys
from generated.kirishima.registry import call_tool, call_tool_sync
sys.stdout.reconfigure(line_buffering=True)
arguments = {"action": "list"}
if sys.argv[1] == "end":
    for _ in range(20):
        answered = call_tool_sync("stickynotes", arguments, "internal")
        assert answered.success, answered
elif sys.argv[1] == "killed":
    while True:
        answered = call_tool_sync("stickynotes", arguments, "internal")
        assert answered.success, answered
        print("answered")
"""


def start_process(mode: str, ledger: str, folder: Path) -> subprocess.Popen[str]:
    environment = {"KIRISHIMA_LEDGER": ledger, "KIRISHIMA_DATA": str(folder / "data")}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, mode],
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
    )


def assert_killed_process_loses_no_answered_call(
    file_ledger: FileLedger, ledger: str, folder: Path
) -> None:
    process = start_process("killed", ledger, folder)
    assert process.stdout is not None
    answered = [process.stdout.readline() for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    answered += process.communicate()[0].splitlines()
    rows = file_ledger.rows()
    ended = [row for row in rows if row["outcome"] == "ok"]
    assert len(ended) >= len(answered) >= 25
    assert len(rows) - len(ended) <= 1


def test_exiting_processes_lose_no_ledger_row(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    processes = [start_process("end", str(path), tmp_path) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    rows = FileLedger(path).rows()
    assert [row["outcome"] for row in rows] == ["ok"] * 40


def test_killed_process_loses_no_answered_call_in_ledger_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    assert_killed_process_loses_no_answered_call(FileLedger(path), str(path), tmp_path)


CONNECTED = """
import sys, time
from pathlib import Path
from toolcast_runtime.ledger.sqlite_ledger import open_connection
began = float(sys.argv[2])
for number in range(50):
    while time.time() < began + number / 100:
        pass
    open_connection(Path(sys.argv[1], f"{number}.sqlite3")).close()
"""


@pytest.mark.slow
def test_concurrent_processes_open_the_same_new_ledger_file(tmp_path: Path) -> None:
    began = str(time.time() + 1)
    command = [sys.executable, "-c", CONNECTED, str(tmp_path), began]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
