"""Runs commands in turn and compares them within a round.

Every round runs each command once, and a ratio is of two runs of the same round, so that a
machine whose speed drifts does not matter. Times are of whole processes, by the operating
system's own accounting: processor time (user and system, of the process and of all that it
waited for) stays put while others use the machine; wall time stands beside it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "PYTHON",
    "Command",
    "Row",
    "Sample",
    "child_environment",
    "compare",
    "run_in_turn",
]

PYTHON = sys.executable


@dataclass(frozen=True)
class Command:
    """A command to measure.

    Attributes:
        name: what it is, in a few words.
        words: the program, as an absolute path, and its arguments.
        folder: where it runs.
        before: makes the state that it starts from; it is not timed.
    """

    name: str
    words: Sequence[str]
    folder: str
    before: Callable[[], None] | None = None


@dataclass(frozen=True)
class Sample:
    """A run: CPU seconds, elapsed seconds, peak memory in MiB."""

    processor: float
    clock: float
    peak: float


@dataclass(frozen=True)
class Row:
    """A command compared with another on the same task.

    Attributes:
        work: what both did.
        one: the first command.
        other: the second.
        processor: the median of the ratios `one / other` of processor time.
        clock: the same by the clock.
        one_seconds: medians of the first: processor, clock.
        other_seconds: medians of the second.
        peak: MiB of memory of the first at its peak.
        rounds: how many pairs.
    """

    work: str
    one: str
    other: str
    processor: float
    clock: float
    one_seconds: tuple[float, float]
    other_seconds: tuple[float, float]
    peak: float
    rounds: int

    def line(self) -> str:
        """Format the row for a terminal."""
        what = f"{self.work}: {self.one} / {self.other}"
        seconds = f"{self.one_seconds[1]:.3f} / {self.other_seconds[1]:.3f} s"
        return (
            f"{what:84} cpu {self.processor:8.2f}  clock {self.clock:8.2f}"
            f"  {seconds:>18}  {self.peak:5.0f} MiB  n={self.rounds}"
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Row:
        """Create a row from its JSON form."""
        pairs = {key: tuple(value[key]) for key in ("one_seconds", "other_seconds")}
        return cls(**{**value, **pairs})


def child_environment() -> dict[str, str]:
    """Return the environment of measured commands, in which Python may cache bytecode."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED")
    return {name: text for name, text in os.environ.items() if name not in left_out}


def run_in_turn(
    commands: Sequence[Command], rounds: int, warming: int = 1
) -> dict[str, list[Sample]]:
    """Run the commands in turn in each round.

    Args:
        commands: of different names.
        rounds: how often each is measured.
        warming: how many rounds come before, so that compiled files and caches are there.

    Returns:
        The samples by the commands' names.
    """
    found: dict[str, list[Sample]] = {command.name: [] for command in commands}
    for turn in range(warming + rounds):
        for command in commands:
            sample = _measured(command)
            if turn >= warming:
                found[command.name].append(sample)
    return found


def compare(
    work: str, samples: Mapping[str, Sequence[Sample]], one: str, other: str
) -> Row:
    """Return the row that compares two commands."""
    pairs = list(zip(samples[one], samples[other], strict=True))
    return Row(
        work,
        one,
        other,
        statistics.median(a.processor / b.processor for a, b in pairs),
        statistics.median(a.clock / b.clock for a, b in pairs),
        _seconds(samples[one]),
        _seconds(samples[other]),
        max(sample.peak for sample in samples[one]),
        len(pairs),
    )


def _seconds(samples: Sequence[Sample]) -> tuple[float, float]:
    return (
        statistics.median(sample.processor for sample in samples),
        statistics.median(sample.clock for sample in samples),
    )


def _measured(command: Command) -> Sample:
    """One run to its end.

    Raises:
        SystemExit: the command failed.
    """
    if command.before is not None:
        command.before()
    runner = _runner()
    assert runner.stdin is not None and runner.stdout is not None
    asked = [list(command.words), command.folder, child_environment()]
    runner.stdin.write(json.dumps(asked) + "\n")
    runner.stdin.flush()
    code, *figures = json.loads(runner.stdout.readline())
    if code != 0:
        raise SystemExit(f"failed: {' '.join(command.words)} in {command.folder}")
    return Sample(*figures)


@cache
def _runner() -> subprocess.Popen[str]:
    """Start a small process that runs the commands and ends with this process."""
    words = [PYTHON, "-I", "-S", str(Path(__file__).with_name("run_apart.py"))]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
