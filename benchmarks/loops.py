"""Time of `generate` with renamed tools, and of `generate --watch` after an edit."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generation import TOOLCAST, Sizes, generate_and_commit, make_cold_command
from paired import Command, Sample, child_environment, compare, run_in_turn
from results import Part
from workspaces import Workspace, make_synthetic_project

_DEADLINE_S = 120


def renamed_part(folder: Path, sizes: Sizes) -> Part:
    """Compare `generate` with and without `renamed_from` in every spec."""
    (folder / "renamed").mkdir()
    renamed, plain = (
        make_synthetic_project(path, sizes.made_up)
        for path in (folder / "renamed", folder)
    )
    for path in renamed.root.glob("specs/things/thing_*.yaml"):
        line = f"renamed_from: [former_{path.stem}]\n"
        path.write_text(path.read_text("utf-8") + line, "utf-8")
    commands = [
        make_cold_command(generate_and_commit(renamed), "all tools renamed"),
        make_cold_command(generate_and_commit(plain), "none renamed"),
    ]
    samples = run_in_turn(commands, sizes.few_rounds)
    return Part([compare(plain.name, samples, *(c.name for c in commands))])


def watch_part(folder: Path, sizes: Sizes) -> Part:
    """Compare the run of `--watch` after an edit with a `generate` after an edit."""
    workspace = generate_and_commit(make_synthetic_project(folder, sizes.made_up))
    command = Command(
        "generate", [*TOOLCAST, "generate"], str(workspace.root), workspace.edit
    )
    samples: dict[str, list[Sample]] = {"watch": [], command.name: []}
    for _ in range(sizes.few_rounds):
        samples[command.name] += run_in_turn([command], 1)[command.name]
        with _run_watch(workspace, folder / "watch.log") as (log, process):
            for _ in range(2):
                _wait_for_run(log)
                started, cpu_seconds = time.monotonic(), _read_processor_seconds(
                    process
                )
                workspace.edit()
            _wait_for_run(log)
            clock = time.monotonic() - started
            cpu_seconds = _read_processor_seconds(process) - cpu_seconds
        samples["watch"].append(Sample(cpu_seconds, clock, 0.0))
    return Part([compare(workspace.name, samples, "watch", command.name)])


@contextmanager
def _run_watch(
    workspace: Workspace, log: Path
) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Run `generate --watch` with its output in a log file."""
    arguments = [*TOOLCAST, "generate", "--watch"]
    _RUNS.pop(log, None)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            arguments,
            cwd=workspace.root,
            env=child_environment(),
            stdout=stream,
            stderr=stream,
        )
        try:
            yield log, process
        finally:
            process.terminate()
            process.wait()


def _read_processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return processor seconds of a process and its finished children (Linux)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _wait_for_run(log: Path) -> None:
    """Wait for the end of the next run, which prints a blank line.

    Raises:
        SystemExit: no run ended before the deadline.
    """
    count = _RUNS.get(log, 0)
    end = time.monotonic() + _DEADLINE_S
    while log.read_bytes().count(b"\n\n") <= count:
        if time.monotonic() > end:
            raise SystemExit(f"no run ended in {_DEADLINE_S} s: {log.read_text()}")
        time.sleep(0.005)
    _RUNS[log] = count + 1


_RUNS: dict[Path, int] = {}
