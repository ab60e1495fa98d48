"""Runs that are killed, refused or starved: every file stays whole, the next run heals."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from toolcast.output.kept import digest
from toolcast.output.plan import make_plan
from toolcast.output.writer import exclusive, write

PRELUDE = """
import errno, os, sys
from toolcast.commands.entry import main
real, calls = os.replace, []
def replace(old, new):
    calls.append(new)
    if len(calls) == {nth}:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), new)
    real(old, new)
os.replace = replace
main(sys.argv[1:])
"""


def killed_at(step: int, action: Callable[[], object]) -> bool:
    """Runs an action in a child that dies by SIGKILL at its step-th change of the disk.

    Returns whether it died; False when it came to its end first.
    """
    child = os.fork()
    if child == 0:
        count = 0

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def change(*given: Any) -> Any:
                nonlocal count
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*given)

            return change

        for name in ("replace", "unlink", "rmdir", "chmod"):
            setattr(os, name, counted(getattr(os, name)))
        try:
            action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def files_for(version: int) -> dict[str, bytes]:
    """The outputs of a version of the specs; each has files that the others lack."""
    data = {
        "a.txt": f"a{version}".encode(),
        "same.txt": b"same",
        f"v{version}/only.txt": b"only",
        f"v{version}/deep/too.txt": str(version).encode(),
    }
    text = {"files": {path: digest(value) for path, value in data.items()}}
    return {**data, "MANIFEST.json": json.dumps(text).encode()}


def on_disk(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def run(folder: Path, files: dict[str, bytes]) -> None:
    """One run, as `generate` without --force does it."""
    plan = make_plan(str(folder), files)
    assert list(plan.refusals("out", force=False)) == []
    write(str(folder), files, plan)


def test_a_run_killed_at_any_step_heals(tmp_path: Path) -> None:
    old, new = files_for(1), files_for(2)
    step = 0
    while True:
        step += 1
        folder = tmp_path / str(step)
        run(folder, old)
        if not killed_at(step, partial(run, folder, new)):
            break
        whole = {value for files in (old, new) for value in files.values()}
        for path, data in on_disk(folder).items():
            assert ".toolcast-" in path or data in whole, f"step {step}: {path} is torn"
        plan = make_plan(str(folder), new)
        assert not plan.is_clean, f"step {step}: nobody sees that the run was killed"
        assert not plan.hand_edited, f"step {step}: own files are taken for others'"
        run(folder, new)
        assert on_disk(folder) == new
        assert make_plan(str(folder), new).is_clean
    assert step > 12


def test_runs_killed_again_and_again_while_the_specs_change(tmp_path: Path) -> None:
    """What any of the killed runs wrote is known to be the generator's."""
    chance = random.Random(7)
    run(tmp_path / "out", files_for(0))
    for version in range(1, 40):
        files = files_for(version)
        killed_at(chance.randint(1, 14), partial(run, tmp_path / "out", files))
        plan = make_plan(str(tmp_path / "out"), files)
        assert list(plan.refusals("out", force=False)) == []
    final = files_for(99)
    run(tmp_path / "out", final)
    assert on_disk(tmp_path / "out") == final


def test_the_command_killed_at_random_moments(small: Any) -> None:
    chance = random.Random(11)
    command = [sys.executable, "-m", "toolcast", "generate"]
    for round_ in range(10):
        small.edit(
            "specs/toy/greet.yaml",
            "Greet somebody." if round_ == 0 else f"Greet {round_ - 1}.",
            f"Greet {round_}.",
        )
        with subprocess.Popen(
            command, cwd=small.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                process.wait(chance.uniform(0.15, 0.9))
            except subprocess.TimeoutExpired:
                process.kill()
        for path in (small.root / "generated").rglob("*.py"):
            compile(path.read_bytes(), path, "exec")
    healed = small.toolcast("generate")
    assert healed.returncode == 0, healed.stderr
    assert small.toolcast("check").returncode == 0
    assert not list((small.root / "generated").rglob(".toolcast-*"))


def test_check_names_what_a_killed_run_left(small: Any) -> None:
    small.write("generated/toy/.toolcast-abc.tmp", "half a fi")
    small.write("generated/.toolcast-mine.txt", "not a temporary file")
    checked = small.toolcast("check").stderr
    assert (
        "toy/.toolcast-abc.tmp: error: output/orphaned: a run that was interr"
        in checked
    )
    assert ".toolcast-mine.txt: error: output/foreign" in checked
    (small.root / "generated/.toolcast-mine.txt").unlink()
    assert small.toolcast("generate").returncode == 0
    assert small.toolcast("check").returncode == 0


@pytest.mark.parametrize("nth", [1, 3])
def test_a_full_disk(small: Any, nth: int) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    failed = small.run("-c", PRELUDE.format(nth=nth), "generate")
    assert failed.returncode == 2
    assert failed.stderr.endswith(": No space left on device\n")
    assert failed.stderr.startswith("error: generated/")
    assert not list((small.root / "generated").rglob("*.tmp"))
    assert small.toolcast("check").returncode == 1
    assert small.toolcast("generate").returncode == 0
    assert small.toolcast("check").returncode == 0


def test_a_limit_on_file_sizes(small: Any) -> None:
    import resource

    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    failed = subprocess.run(
        [sys.executable, "-m", "toolcast", "generate"],
        cwd=small.root,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)),
    )
    assert failed.returncode == 2
    assert "File too large" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not list((small.root / "generated").rglob("*.tmp"))


@pytest.mark.parametrize("folder", ["generated/toy/tools", "generated", "."])
def test_a_read_only_folder(small: Any, folder: str) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    # Root may write anywhere, unless it gives that power up.
    plain = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    os.chmod(small.root / folder, 0o555)
    try:
        failed = subprocess.run(
            [*plain, sys.executable, "-m", "toolcast", "generate"],
            cwd=small.root,
            capture_output=True,
            encoding="utf-8",
        )
    finally:
        os.chmod(small.root / folder, 0o755)
    assert failed.returncode == 2, failed
    assert failed.stderr.endswith(": Permission denied\n")
    assert failed.stderr.count("\n") == 1
    assert not list((small.root / "generated").rglob("*.tmp"))
    assert small.toolcast("generate").returncode == 0


def test_two_runs_at_once(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    with exclusive(str(small.root)):
        second = small.toolcast("generate")
        assert second.returncode == 2
        assert second.stderr == "error: another run is writing into this project\n"
        # Looking is allowed meanwhile.
        assert small.toolcast("check").returncode == 1
    assert small.toolcast("generate").returncode == 0
