"""200 HTTP sessions calling mixed tools on Toolcast, the plain SDK and FastMCP: `make bench-load`.

Each server is one process over the same work, and has two minutes of load in turns of ten
seconds, one server after the other, so that a machine whose speed drifts hits all the same.
Ratios are medians over the turns. Half of the sessions speak each era of the protocol; what
they call is in `load_calls.MIXED`. Toolcast alone checks arguments, knows its callers by a
token, hides a tool from them, and commits two rows to SQLite a call of the tool with a ledger.

It fails when an answer is not right, when the ledger lacks a call, and when Toolcast's memory
grows after a fourth of the time.

SECONDS (of each server) and SESSIONS in the environment change how long and how many.
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
from load_servers import OURS, Running, servers

SECONDS = float(os.environ.get("SECONDS", "120"))
TURN_SECONDS = min(10.0, SECONDS / 4)
TURNS = round(SECONDS / TURN_SECONDS)
MOST_GROWTH = 8.0
"""MiB in a run; allocators give memory back in pieces of about this size."""


class Watched:
    """One server: its turns, and its memory at the start and after each."""

    def __init__(self, server: Running) -> None:
        self.server = server
        self.memory = [server.memory()]
        self.turns: list[Run] = []
        self.whole = Run()

    def take_turn(self) -> None:
        """All sessions call for one turn."""
        server = self.server
        turn = asyncio.run(load(server.port, server.path, TURN_SECONDS))
        self.turns.append(turn)
        self.whole.add(turn)
        self.memory.append(server.memory())

    @property
    def growth(self) -> float:
        """MiB by which memory grew after a fourth of the turns; the line of least squares."""
        after = self.memory[1 + TURNS // 4 :]
        if len(after) < 2:
            return 0.0
        line = statistics.linear_regression(range(len(after)), after)
        return line.slope * (len(after) - 1)


def main() -> int:
    """Prints the figures; 1 when something was lost, wrong or grew."""
    with tempfile.TemporaryDirectory(prefix="toolcast-load-") as name:
        folder = Path(name)
        watched = [Watched(server) for server in servers(folder)]
        try:
            print(f"{SESSIONS} sessions, {TURNS} turns of {TURN_SECONDS:g} s each")
            for _ in range(TURNS):
                for each in watched:
                    each.take_turn()
        finally:
            codes = [each.server.end() for each in watched]
        _print(watched)
        ours = watched[0]
        problems = [*_wrong(watched), *_lost(folder, ours.whole)]
        problems += ours.server.said("ERROR")
        if codes[0] != 0:
            problems.append(f"{OURS} ended with {codes[0]}")
        if ours.growth > MOST_GROWTH:
            problems.append(f"{OURS}: memory grows by {ours.growth:.1f} MiB")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def _print(watched: list[Watched]) -> None:
    names = [each.server.name for each in watched]
    print(f"\n{'':24}" + "".join(f"{name:>22}" for name in names))
    runs = [each.whole for each in watched]
    _row("calls", (f"{run.count:,}" for run in runs))
    _row("calls a second", (f"{run.rate:,.0f}" for run in runs))
    _row("p50 / p99, ms", (_both(run, None) for run in runs))
    for call in MIXED:
        _row(f"  {call.what}", (_both(run, call.what) for run in runs))
    _row("memory grew, MiB", (f"{each.growth:+.1f}" for each in watched))
    for each in watched:
        curve = " ".join(f"{size:.0f}" for size in each.memory)
        print(
            f"memory of {each.server.name}, MiB, at the start and after turns: {curve}"
        )
    print()
    ours, *others = watched
    for other in others:
        print(f"{other.server.name} / {OURS}, median of turns: {_ratios(other, ours)}")


def _row(name: str, cells: Iterable[str]) -> None:
    print(f"{name:24}" + "".join(f"{cell:>22}" for cell in cells))


def _both(run: Run, what: str | None) -> str:
    return f"{run.percentile(50, what):,.0f} / {run.percentile(99, what):,.0f}"


def _ratios(other: Watched, ours: Watched) -> str:
    pairs = list(zip(other.turns, ours.turns, strict=True))
    ratios: Mapping[str, list[float]] = {
        "calls a second": [a.rate / b.rate for a, b in pairs],
        "p50": [a.percentile(50) / b.percentile(50) for a, b in pairs],
        "p99": [a.percentile(99) / b.percentile(99) for a, b in pairs],
    }
    return ", ".join(f"{k} {statistics.median(v):.2f}" for k, v in ratios.items())


def _wrong(watched: list[Watched]) -> list[str]:
    return [
        f"{each.server.name}: {count} x {error}"
        for each in watched
        for error, count in each.whole.errors.items()
    ]


def _lost(folder: Path, run: Run) -> list[str]:
    query = "SELECT outcome, count(*) FROM calls GROUP BY outcome"
    with closing(sqlite3.connect(folder / "ledger.sqlite3")) as connection:
        rows = dict(connection.execute(query))
    called = len(run.times["ledger"])
    print(f"ledger of {OURS}: {called} calls, rows {rows}")
    return [] if rows == {"ok": called} else ["the ledger does not have them all as ok"]


if __name__ == "__main__":
    sys.exit(main())
