"""Runs commands in turn and takes ratios within a round.

Every round runs each command once, and a ratio is of two runs of the same round, so that a
machine whose speed drifts does not matter. Times are of whole processes, by the operating
system's own accounting: processor time (user and system, of the process and of those that it
waited for) decides, because it stays put while others use the machine; wall time stands
beside it.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CLICK", "PYTHON", "TOOLCAST", "Command", "Row", "Sample", "ratio", "rounds"]

PYTHON = sys.executable


@dataclass(frozen=True)
class Command:
    """One thing to run.

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
    """One run: seconds of the processor, seconds of the clock, peak memory in MiB."""

    processor: float
    clock: float
    peak: float


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: what is measured, over what.
        figure: the median of the ratios of processor time, or a size.
        unit: `x` for a ratio, else the unit of the size.
        goal: what is aimed at; None where nothing is.
        at_least: the goal is a lower bound; otherwise it is an upper one.
        clock: the median of the ratios of wall time; None for a size.
        seconds: the medians of processor time of the two, ours first where one is ours.
        rounds: how many pairs.
        is_waited_for: somebody waits for it, so that the goal holds by the clock, too.
    """

    what: str
    figure: float
    unit: str
    goal: float | None
    at_least: bool
    clock: float | None
    seconds: tuple[float, ...]
    rounds: int
    is_waited_for: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.goal is None:
            return None
        figures = [self.figure]
        if self.is_waited_for and self.clock is not None:
            figures.append(self.clock)
        if self.at_least:
            return min(figures) >= self.goal
        return max(figures) <= self.goal

    @property
    def bound(self) -> str:
        """The goal in words."""
        if self.goal is None:
            return "-"
        return f"{'>=' if self.at_least else '<='} {self.goal:g}"

    def line(self) -> str:
        """The row of the table in a terminal."""
        clock = "" if self.clock is None else f"{self.clock:.2f}"
        seconds = " / ".join(f"{second:.3f}" for second in self.seconds)
        mark = {None: "", True: "reached", False: "MISSED"}[self.is_met]
        return (
            f"{self.what:66} {self.figure:9.2f} {self.unit:3} {self.bound:>7}"
            f" {mark:8} {clock:>8} {seconds:>19} {self.rounds:4}"
        )

    def to_json(self) -> dict[str, Any]:
        """The row as it is kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Row:
        """The row that was kept."""
        return cls(**{**kept, "seconds": tuple(kept["seconds"])})


def child_environment() -> dict[str, str]:
    """The environment of what is measured: Python may keep its compiled files."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED")
    return {name: text for name, text in os.environ.items() if name not in left_out}


def measure(command: Command) -> Sample:
    """One run to its end.

    Raises:
        SystemExit: the command failed.
    """
    if command.before is not None:
        command.before()
    quiet = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
    here = os.getcwd()
    os.chdir(command.folder)
    begun = time.perf_counter()
    try:
        child = os.posix_spawn(
            command.words[0],
            command.words,
            child_environment(),
            file_actions=actions,
        )
    finally:
        os.chdir(here)
        os.close(quiet)
    _, status, usage = os.wait4(child, 0)
    clock = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"failed: {' '.join(command.words)} in {command.folder}")
    return Sample(usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 1024)


def rounds(
    commands: Sequence[Command], count: int, warming: int
) -> dict[str, list[Sample]]:
    """Runs them in turn.

    Args:
        commands: of different names.
        count: how often each is measured.
        warming: how many rounds come before, so that caches and compiled files are there.

    Returns:
        The samples by the commands' names.
    """
    found: dict[str, list[Sample]] = {command.name: [] for command in commands}
    for turn in range(warming + count):
        for command in commands:
            sample = measure(command)
            if turn >= warming:
                found[command.name].append(sample)
    return found


def ratio(
    samples: Mapping[str, Sequence[Sample]],
    one: str,
    other: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Row:
    """The row of one command over another."""
    pairs = list(zip(samples[one], samples[other], strict=True))
    return Row(
        f"{one} / {other}",
        statistics.median(a.processor / b.processor for a, b in pairs),
        "x",
        at_most if at_least is None else at_least,
        at_least is not None,
        statistics.median(a.clock / b.clock for a, b in pairs),
        tuple(
            statistics.median(sample.processor for sample in samples[name])
            for name in (one, other)
        ),
        len(pairs),
    )


CLICK = Command("import click", [PYTHON, "-c", "import click"], os.getcwd())
TOOLCAST = [PYTHON, "-m", "toolcast"]
