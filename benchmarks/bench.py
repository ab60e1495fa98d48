"""Ratios from paired runs on one machine: `make bench`.

Each row runs two commands in turn, A B A B ..., and prints the median of the ratios A / B, so
that a machine whose speed drifts does not matter. Times are of whole processes, by the
operating system's own accounting.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from specs import write_workspace

PYTHON = sys.executable
TOOLCAST = [PYTHON, "-m", "toolcast"]
CLICK = [PYTHON, "-c", "import click"]


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        name: what A is, over what B is.
        one: the command A.
        other: the command B.
        folder: where A runs.
        goal: the ratio that is aimed at, at most.
        before: makes the state that A starts from; it is not timed.
        runs: pairs.
    """

    name: str
    one: Sequence[str]
    other: Sequence[str]
    folder: Path
    goal: float | None = None
    before: Callable[[], None] | None = None
    runs: int = 7


def measure(command: Sequence[str], folder: Path) -> tuple[float, int]:
    """Processor seconds and peak memory in MiB of one run to its end."""
    quiet = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
    here = Path.cwd()
    os.chdir(folder)
    try:
        child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    finally:
        os.chdir(here)
        os.close(quiet)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"failed: {' '.join(command)} in {folder}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def compare(row: Row) -> None:
    """Runs the pairs of a row and prints it."""
    ratios, seconds, memory = [], [], 0
    for turn in range(row.runs + 1):
        if row.before is not None:
            row.before()
        one, peak = measure(row.one, row.folder)
        other, _ = measure(row.other, row.folder)
        if turn:  # the first pair warms the caches
            ratios.append(one / other)
            seconds.append(one)
            memory = max(memory, peak)
    goal = "" if row.goal is None else f"{row.goal:g}"
    print(
        f"{row.name:62} {statistics.median(ratios):8.2f} {goal:>6}"
        f" {statistics.median(seconds):8.3f} s {memory:5} MiB",
        flush=True,
    )


def rows(folder: Path) -> list[Row]:
    """Every comparison, over workspaces made below a folder."""
    thousand = write_workspace(folder / "thousand", 1_000)
    generated = thousand / "generated"
    spec = thousand / "specs" / "things" / "thing_00500.yaml"
    turns = iter(range(1_000_000))

    def cold() -> None:
        shutil.rmtree(generated, ignore_errors=True)
        shutil.rmtree(thousand / ".toolcast", ignore_errors=True)

    def one_changed() -> None:
        text = spec.read_text("utf-8")
        first = text.index("title:")
        end = text.index("\n", first)
        spec.write_text(f"{text[:first]}title: Turn {next(turns)}{text[end:]}", "utf-8")

    generate = [*TOOLCAST, "generate"]
    imports = "import generated.things.registry"
    (thousand / "empty").mkdir()
    (thousand / "empty" / "__init__.py").touch()
    empty = [PYTHON, "-c", "import json, empty"]
    base_tool = [PYTHON, "-c", "from langchain_core.tools import BaseTool"]
    wrappers = [PYTHON, "-c", "import generated.things.langchain_tools"]
    return [
        Row("toolcast --help / import click", [*TOOLCAST, "--help"], CLICK, thousand),
        Row(
            "cold generate, 1,000 tools / import click",
            generate,
            CLICK,
            thousand,
            None,
            cold,
            3,
        ),
        Row(
            "no-op generate, 1,000 tools / import click",
            generate,
            CLICK,
            thousand,
            1.5,
            None,
            3,
        ),
        Row(
            "one spec of 1,000 changed / import click",
            generate,
            CLICK,
            thousand,
            4,
            one_changed,
            3,
        ),
        Row(
            "check, 1,000 tools / no-op generate",
            [*TOOLCAST, "check"],
            generate,
            thousand,
            1,
            None,
            3,
        ),
        Row(
            "import of a registry of 1,000 tools / json and an empty package",
            [PYTHON, "-c", imports],
            empty,
            thousand,
            2,
        ),
        Row(
            "import of 1,000 LangChain wrappers / import BaseTool",
            wrappers,
            base_tool,
            thousand,
            1.2,
            None,
            3,
        ),
    ]


def main() -> None:
    """Prints the table."""
    print(f"{'A / B':62} {'ratio':>8} {'goal':>6} {'A, cpu':>10} {'peak':>9}")
    with tempfile.TemporaryDirectory(prefix="toolcast-bench-") as folder:
        for row in rows(Path(folder)):
            compare(row)


if __name__ == "__main__":
    main()
