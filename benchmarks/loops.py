"""What the work of every day costs: tools that were renamed, and an edit while `--watch` runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generation import TOOLCAST, Sizes, cold, prepared
from paired import Command, Sample, child_environment, compare, run_in_turn
from results import Part
from workspaces import Workspace, made_up

__all__ = ["renamed_part", "watch_part"]

_DEADLINE_S = 120


def renamed_part(folder: Path, sizes: Sizes) -> Part:
    """Measure `generate` for renamed tools, compared with the same tools without old names."""
    (folder / "renamed").mkdir()
    renamed, plain = (
        made_up(below, sizes.made_up) for below in (folder / "renamed", folder)
    )
    for path in renamed.root.glob("specs/things/thing_*.yaml"):
        former = f"renamed_from: [former_{path.stem}]\n"
        path.write_text(path.read_text("utf-8") + former, "utf-8")
    commands = [
        cold(prepared(renamed), "all tools renamed"),
        cold(prepared(plain), "none renamed"),
    ]
    samples = run_in_turn(commands, sizes.few)
    return Part([compare(plain.name, samples, *(c.name for c in commands))])


def watch_part(folder: Path, sizes: Sizes) -> Part:
    """Measure a run of `--watch` after an edit, compared with `generate` after an edit."""
    workspace = prepared(made_up(folder, sizes.made_up))
    command = Command(
        "generate", [*TOOLCAST, "generate"], str(workspace.root), workspace.edit
    )
    samples: dict[str, list[Sample]] = {"watch": [], command.name: []}
    for _ in range(sizes.few):
        samples[command.name] += run_in_turn([command], 1)[command.name]
        with _watching(workspace, folder / "watch.log") as (log, process):
            for _ in range(2):
                _wait_for_run(log)
                started, used = time.monotonic(), _read_processor_seconds(process)
                workspace.edit()
            _wait_for_run(log)
            clock = time.monotonic() - started
            used = _read_processor_seconds(process) - used
        samples["watch"].append(Sample(used, clock, 0.0))
    return Part([compare(workspace.name, samples, "watch", command.name)])


@contextmanager
def _watching(
    workspace: Workspace, log: Path
) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Run `--watch` with its output in a file."""
    words = [*TOOLCAST, "generate", "--watch"]
    _RUNS.pop(log, None)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            words,
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
    """Return the CPU seconds of a process and of its ended children (Linux)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _wait_for_run(log: Path) -> None:
    """Wait for the blank line that ends the next run.

    Raises:
        SystemExit: no run ended in time.
    """
    seen = _RUNS.get(log, 0)
    end = time.monotonic() + _DEADLINE_S
    while log.read_bytes().count(b"\n\n") <= seen:
        if time.monotonic() > end:
            raise SystemExit(f"no run ended in {_DEADLINE_S} s: {log.read_text()}")
        time.sleep(0.005)
    _RUNS[log] = seen + 1


_RUNS: dict[Path, int] = {}
