"""How the program ends: at once, with everything said, and without a traceback."""

from __future__ import annotations

import os
import pstats
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.program import toolcast

SPEC = "summary: Greet.\nparameters: {type: object}\nhandler: handlers.toy:greet\n"
INTERRUPTED = """
import os, signal, sys
sys.argv[:] = ["toolcast", "generate"]
import toolcast.pipeline
from toolcast.commands.main import main

def generate(*_: object, **__: object) -> None:
    raise KeyboardInterrupt

toolcast.pipeline.generate = generate
main()
"""
LIMITED = """
import resource, sys
from toolcast.commands.main import main
sys.argv[:] = ["toolcast", "generate"]
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
main()
"""


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    handlers = "def greet() -> str:\n    return 'hello'\n"
    made = make_project(
        {"ann": SPEC}, toolset="targets: {registry: {}}\n", handlers=handlers
    )
    made.generate()
    made.edit("specs/toy/ann.yaml", "Greet.", "Greet Ann.")
    return made


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [(["--version"], 0, "toolcast"), (["check", "--nonsense"], 2, "--nonsense")],
)
def test_what_was_said_reaches_a_pipe_with_the_code(
    project: Any, words: list[str], code: int, said: str
) -> None:
    done = project.toolcast(*words)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_a_profile_of_the_program_is_written(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    command = [sys.executable, "-m", "cProfile", "-o", str(profile)]
    # Python 3.13 looks for the profiled module in the folder that it is called in.
    program = tmp_path / "program.py"
    program.write_text("from toolcast.commands.main import main\nmain()\n")
    subprocess.run(
        [*command, str(program), "--version"], check=True, capture_output=True
    )
    assert pstats.Stats(str(profile)).total_calls  # type: ignore[attr-defined]  # its stub lacks it


def test_findings_end_it_with_1(project: Any) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "sumary:")
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert "did you mean `summary`?" in run.stderr
    assert run.stderr.endswith("nothing was written\n")


def test_other_letters_than_ascii_are_said_too(project: Any) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "grüße:")
    for _ in range(2):
        run = project.toolcast("generate")
        assert (run.returncode, "grüße" in run.stderr) == (1, True)
        plain = project.toolcast("generate", env={"PYTHONIOENCODING": "ascii"})
        assert (plain.returncode, "Traceback" in plain.stderr) == (1, False)


def test_an_interrupt_ends_it_with_1_and_no_traceback(project: Any) -> None:
    run = project.run("-c", INTERRUPTED)
    assert (run.returncode, run.stderr.strip()) == (1, "Aborted!")


@pytest.mark.slow
def test_so_it_does_where_a_shell_ignores_interrupts() -> None:
    """nohup and background jobs do, and whatever they start inherits it."""
    test = f"{__file__}::test_an_interrupt_ends_it_with_1_and_no_traceback"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            test,
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert done.returncode == 0, done.stdout


def test_a_reader_that_goes_away_ends_it_quietly(project: Any) -> None:
    for _ in range(3):
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(
            [sys.executable, "-m", "toolcast", "generate"],
            cwd=project.root,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(writer)
        assert (run.returncode, run.stderr) == (1, "")


def test_where_a_project_is(project: Any) -> None:
    folder = Path(project.root)
    assert project.toolcast("generate", "--force").returncode == 0
    named = project.toolcast("generate", f"--project={folder}", cwd=folder.parent)
    assert named.returncode == 0
    lacking = project.toolcast("generate", cwd=folder.parent)
    assert lacking.returncode == 2
    assert lacking.stderr.startswith("error: no toolcast.yaml here or above\n")


def test_a_limit_on_file_sizes(project: Any) -> None:
    failed = project.run("-c", LIMITED)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: generated/")
    assert failed.stderr.endswith(": File too large\n")
    assert not list((project.root / "generated").rglob("*.tmp"))
    assert project.toolcast("generate").returncode == 0


@pytest.mark.parametrize("folder", ["generated/toy/tools", "."])
def test_a_read_only_folder(project: Any, folder: str) -> None:
    if folder == ".":
        (project.root / "generated").rename(project.root.parent / "generated")
    # Root may write anywhere, unless it gives that power up.
    plain = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    os.chmod(project.root / folder, 0o555)
    try:
        failed = subprocess.run(
            [*plain, sys.executable, "-m", "toolcast", "generate"],
            cwd=project.root,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    finally:
        os.chmod(project.root / folder, 0o755)
    assert failed.returncode == 2, failed
    assert failed.stderr.endswith(": Permission denied\n")
    assert failed.stderr.startswith("error: generated")
    assert failed.stderr.count("\n") == 1
    assert not list(project.root.rglob("*.tmp"))


def test_another_run_is_writing(project: Any) -> None:
    from toolcast_runtime.core.safe_folder import Folder, lock_output_folder

    with (
        Folder.open_path(str(project.root / "generated")) as folder,
        lock_output_folder(folder),
    ):
        second = project.toolcast("generate")
        assert second.returncode == 2
        assert second.stderr == "error: another run is writing into this folder\n"
        # Looking is allowed meanwhile.
        assert project.toolcast("check").returncode == 1
    assert project.toolcast("generate").returncode == 0


def test_a_folder_within_a_project_is_answered_with_the_project(tmp_path: Path) -> None:
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: []\n")
    (tmp_path / "specs").mkdir()
    within = toolcast(tmp_path, "check", "--project", "specs")
    assert within.returncode == 2
    assert within.stderr == (
        f"error: specs has no toolcast.yaml\n  help: use --project {tmp_path}\n"
    )
    nowhere = toolcast(tmp_path, "check", "--project", "nowhere")
    assert nowhere.stderr == "error: nowhere has no toolcast.yaml\n"
