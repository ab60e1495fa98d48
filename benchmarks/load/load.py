"""Load test of Toolcast, the plain SDK and FastMCP with 200 HTTP sessions: `make bench-load`.

Each server is one process with the same tools, and gets two minutes of load in turns of ten
seconds. The servers take turns, so changes of the machine's speed affect all of them. Ratios
are medians over the turns. Half of the sessions use each protocol version; `load_calls.MIXED`
lists the calls. Only Toolcast validates arguments, authenticates callers by a token, hides a
tool from them, and commits two rows to SQLite per call of the tool with a ledger.

The test fails if an answer is wrong, if the ledger lacks a call, or if Toolcast's memory grows
after the first quarter.

The environment variables SECONDS (per server) and SESSIONS change the defaults.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from load_calls import MIXED, SESSIONS, Run, load
from load_servers import OURS, ServerProcess, start_servers

SECONDS = float(os.environ.get("SECONDS", "120"))
TURN_SECONDS = min(10.0, SECONDS / 4)
TURNS = round(SECONDS / TURN_SECONDS)
MAX_GROWTH_MIB = 8.0
"""Limit for a whole run; allocators release memory in blocks of about this size."""


class MeasuredServer:
    """A server with its turns, and its memory at the start and after each turn."""

    def __init__(self, process: ServerProcess) -> None:
        self.process = process
        self.memory = [process.read_memory()]
        self.turns: list[Run] = []
        self.total = Run()

    def run_turn(self) -> None:
        """Run all sessions for one turn."""
        process = self.process
        turn = asyncio.run(load(process.port, process.path, TURN_SECONDS))
        self.turns.append(turn)
        self.total.add(turn)
        self.memory.append(process.read_memory())

    @property
    def growth(self) -> float:
        """Memory growth in MiB after the first quarter of the turns, by linear regression."""
        after = self.memory[1 + TURNS // 4 :]
        if len(after) < 2:
            return 0.0
        line = statistics.linear_regression(range(len(after)), after)
        return line.slope * (len(after) - 1)


def main() -> int:
    """Print the figures; return 1 if an answer, the ledger or the memory is wrong."""
    with tempfile.TemporaryDirectory(prefix="toolcast-load-") as name:
        folder = Path(name)
        measured = [MeasuredServer(process) for process in start_servers(folder)]
        try:
            print(f"{SESSIONS} sessions, {TURNS} turns of {TURN_SECONDS:g} s each")
            for _ in range(TURNS):
                for server in measured:
                    server.run_turn()
        finally:
            codes = [server.process.stop() for server in measured]
        _print(measured)
        ours = measured[0]
        problems = [*_list_errors(measured), *_check_ledger(folder, ours.total)]
        problems += ours.process.find_log_lines("ERROR")
        if codes[0] != 0:
            problems.append(f"{OURS} ended with {codes[0]}")
        if ours.growth > MAX_GROWTH_MIB:
            problems.append(f"{OURS}: memory grows by {ours.growth:.1f} MiB")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def _print(measured: list[MeasuredServer]) -> None:
    names = [server.process.name for server in measured]
    print(f"\n{'':24}" + "".join(f"{name:>22}" for name in names))
    runs = [server.total for server in measured]
    _print_row("calls", (f"{run.count:,}" for run in runs))
    _print_row("calls a second", (f"{run.rate:,.0f}" for run in runs))
    _print_row("p50 / p99, ms", (_format_times(run, None) for run in runs))
    for call in MIXED:
        _print_row(f"  {call.kind}", (_format_times(run, call.kind) for run in runs))
    _print_row("memory grew, MiB", (f"{server.growth:+.1f}" for server in measured))
    for server in measured:
        curve = " ".join(f"{size:.0f}" for size in server.memory)
        print(
            f"memory of {server.process.name}, MiB, at the start and after turns: {curve}"
        )
    print()
    ours, *others = measured
    for other in others:
        print(
            f"{other.process.name} / {OURS}, median of turns: {_format_ratios(other, ours)}"
        )


def _print_row(name: str, cells: Iterable[str]) -> None:
    print(f"{name:24}" + "".join(f"{cell:>22}" for cell in cells))


def _format_times(run: Run, kind: str | None) -> str:
    return f"{run.percentile(50, kind):,.0f} / {run.percentile(99, kind):,.0f}"


def _format_ratios(other: MeasuredServer, ours: MeasuredServer) -> str:
    pairs = list(zip(other.turns, ours.turns, strict=True))
    ratios: Mapping[str, list[float]] = {
        "calls a second": [a.rate / b.rate for a, b in pairs],
        "p50": [a.percentile(50) / b.percentile(50) for a, b in pairs],
        "p99": [a.percentile(99) / b.percentile(99) for a, b in pairs],
    }
    return ", ".join(f"{k} {statistics.median(v):.2f}" for k, v in ratios.items())


def _list_errors(measured: list[MeasuredServer]) -> list[str]:
    return [
        f"{server.process.name}: {count} x {error}"
        for server in measured
        for error, count in server.total.errors.items()
    ]


def _check_ledger(folder: Path, run: Run) -> list[str]:
    query = "SELECT outcome, count(*) FROM calls GROUP BY outcome"
    with closing(sqlite3.connect(folder / "ledger.sqlite3")) as connection:
        rows = dict(connection.execute(query))
    called = len(run.times["ledger"])
    print(f"ledger of {OURS}: {called} calls, rows {rows}")
    return (
        []
        if rows == {"ok": called}
        else ["the ledger does not contain every call with outcome ok"]
    )


if __name__ == "__main__":
    sys.exit(main())
