"""Paired runs: commands run in turn, and ratios are computed within a round.

A ratio compares two runs of the same round, so changes of the machine's speed cancel out.
Times are of whole processes, as the operating system accounts them: processor time (user and
system, of the process and its finished children), which other load hardly affects, and
wall-clock time.
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

PYTHON = sys.executable


@dataclass(frozen=True)
class Command:
    """A command to measure.

    Attributes:
        name: short description.
        arguments: absolute path of the program, and its arguments.
        folder: working directory.
        prepare: restores the initial state before each run; not timed.
    """

    name: str
    arguments: Sequence[str]
    folder: str
    prepare: Callable[[], None] | None = None


@dataclass(frozen=True)
class Sample:
    """A run: processor seconds, wall-clock seconds, peak memory in MiB."""

    processor: float
    clock: float
    peak: float


@dataclass(frozen=True)
class Row:
    """The comparison of a command with a baseline, on the same work.

    Attributes:
        work: description of the work.
        subject: name of the compared command.
        baseline: name of the command it is compared with.
        processor: median ratio `subject / baseline` of processor time.
        clock: median ratio of wall-clock time.
        subject_seconds: median processor and wall-clock seconds of the subject.
        baseline_seconds: the same for the baseline.
        peak: peak memory of the subject in MiB.
        rounds: number of pairs.
    """

    work: str
    subject: str
    baseline: str
    processor: float
    clock: float
    subject_seconds: tuple[float, float]
    baseline_seconds: tuple[float, float]
    peak: float
    rounds: int

    def format_line(self) -> str:
        """Format the row for a terminal."""
        title = f"{self.work}: {self.subject} / {self.baseline}"
        seconds = f"{self.subject_seconds[1]:.3f} / {self.baseline_seconds[1]:.3f} s"
        return (
            f"{title:84} cpu {self.processor:8.2f}  clock {self.clock:8.2f}"
            f"  {seconds:>18}  {self.peak:5.0f} MiB  n={self.rounds}"
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Row:
        """Restore a row from its `dataclasses.asdict` value after JSON."""
        pairs = {
            key: tuple(value[key]) for key in ("subject_seconds", "baseline_seconds")
        }
        return cls(**{**value, **pairs})


def child_environment() -> dict[str, str]:
    """Return the environment of measured commands, in which Python writes `.pyc` files."""
    excluded = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED")
    return {name: text for name, text in os.environ.items() if name not in excluded}


def run_in_turn(
    commands: Sequence[Command], rounds: int, warmup_rounds: int = 1
) -> dict[str, list[Sample]]:
    """Run the commands in turn, in several rounds.

    Args:
        commands: commands with unique names.
        rounds: number of measured rounds.
        warmup_rounds: previous rounds that only fill caches and write `.pyc` files.

    Returns:
        The samples of each command, by its name.
    """
    samples: dict[str, list[Sample]] = {command.name: [] for command in commands}
    for turn in range(warmup_rounds + rounds):
        for command in commands:
            sample = _run_command(command)
            if turn >= warmup_rounds:
                samples[command.name].append(sample)
    return samples


def compare(
    work: str, samples: Mapping[str, Sequence[Sample]], subject: str, baseline: str
) -> Row:
    """Compare a command with a baseline, by the samples of both."""
    pairs = list(zip(samples[subject], samples[baseline], strict=True))
    return Row(
        work,
        subject,
        baseline,
        statistics.median(a.processor / b.processor for a, b in pairs),
        statistics.median(a.clock / b.clock for a, b in pairs),
        _get_median_seconds(samples[subject]),
        _get_median_seconds(samples[baseline]),
        max(sample.peak for sample in samples[subject]),
        len(pairs),
    )


def _get_median_seconds(samples: Sequence[Sample]) -> tuple[float, float]:
    return (
        statistics.median(sample.processor for sample in samples),
        statistics.median(sample.clock for sample in samples),
    )


def _run_command(command: Command) -> Sample:
    """Run a command to its end.

    Raises:
        SystemExit: the command failed.
    """
    if command.prepare is not None:
        command.prepare()
    runner = _start_runner()
    assert runner.stdin is not None and runner.stdout is not None
    request = [list(command.arguments), command.folder, child_environment()]
    runner.stdin.write(json.dumps(request) + "\n")
    runner.stdin.flush()
    code, *figures = json.loads(runner.stdout.readline())
    if code != 0:
        raise SystemExit(f"failed: {' '.join(command.arguments)} in {command.folder}")
    return Sample(*figures)


@cache
def _start_runner() -> subprocess.Popen[str]:
    """Start a small process that runs commands, and ends with this process."""
    argv = [PYTHON, "-I", "-S", str(Path(__file__).with_name("run_apart.py"))]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)
