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

import external
import router

from specs import write_workspace

PYTHON = sys.executable
TOOLCAST = [PYTHON, "-m", "toolcast"]
CLICK = [PYTHON, "-c", "import click"]
# The same pipeline as a generator has it that does not know how black lays code out.
BLACK_TOO = """\
import black
from toolcast.pipeline import generate
mode = black.Mode(target_versions={black.TargetVersion.PY311})
for path, data in generate(".").files.items():
    if path.endswith(".py"):
        black.format_str(data.decode(), mode=mode)
"""


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
        before_other: makes the state that B starts from.
    """

    name: str
    one: Sequence[str]
    other: Sequence[str]
    folder: Path
    goal: float | None = None
    before: Callable[[], None] | None = None
    runs: int = 7
    before_other: Callable[[], None] | None = None


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
        if row.before_other is not None:
            row.before_other()
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


def forget(root: Path) -> None:
    """Takes the outputs and the cache of a workspace away."""
    shutil.rmtree(root / "generated", ignore_errors=True)
    shutil.rmtree(root / ".toolcast", ignore_errors=True)


def rows(folder: Path) -> list[Row]:
    """Every comparison, over workspaces made below a folder."""
    thousand = write_workspace(folder / "thousand", 1_000)
    spec = thousand / "specs" / "things" / "thing_00500.yaml"
    turns = iter(range(1_000_000))

    hundred = write_workspace(folder / "hundred", 100)
    ten_thousand = write_workspace(folder / "ten_thousand", 10_000)

    def cold() -> None:
        forget(thousand)

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
            "check without any cache, 1,000 tools / cold generate",
            [*TOOLCAST, "check"],
            generate,
            thousand,
            1,
            None,
            3,
            before_other=cold,
        ),
        Row(
            "cold generate with black over each file / without",
            [PYTHON, "-c", BLACK_TOO],
            generate,
            hundred,
            None,
            None,
            1,
            before_other=lambda: forget(hundred),
        ),
        Row(
            "cold generate, 10,000 tools / 1,000 tools",
            [*TOOLCAST, "generate", "--project", str(ten_thousand)],
            generate,
            thousand,
            11,
            lambda: forget(ten_thousand),
            1,
            before_other=cold,
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
    external.main()
    router.main()


if __name__ == "__main__":
    main()
