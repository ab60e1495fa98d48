"""How `toolcast` exits: exit codes, complete output and no traceback."""

from __future__ import annotations

import os
import pstats
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolcast.pipeline
from tests.call.conftest import start_module
from tests.program import toolcast as run_toolcast

SPEC = "summary: Greet.\nparameters: {type: object}\nhandler: handlers.toy:greet\n"


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    handlers = "def greet() -> str:\n    return 'hello'\n"
    project_ = make_project(
        {"ann": SPEC}, toolset="targets: {registry: {}}\n", handlers=handlers
    )
    project_.generate()
    project_.edit("specs/toy/ann.yaml", "Greet.", "Greet Ann.")
    return project_


def test_toolcast_program_runs_under_cprofile(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    command = [sys.executable, "-m", "cProfile", "-o", str(profile)]
    # Python 3.13 searches the profiled module in the working directory.
    program = tmp_path / "program.py"
    program.write_text("from toolcast.commands.main import main\nmain()\n")
    done = subprocess.run(
        [*command, str(program), "--version"], check=True, capture_output=True
    )
    assert done.stdout.startswith(b"toolcast")
    assert pstats.Stats(str(profile)).total_calls  # type: ignore[attr-defined]  # its stub lacks it


def test_generate_with_an_invalid_spec_exits_with_1_and_writes_nothing(
    project: Any,
) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "sumary:")
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert "did you mean `summary`?" in run.stderr
    assert run.stderr.endswith("nothing was written\n")


def test_generate_prints_non_ascii_messages_to_utf_8_and_ascii_streams_without_traceback(
    project: Any,
) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "grüße:")
    # The second run repeats the stored output of the first.
    for _ in range(2):
        run = project.toolcast("generate")
        assert (run.returncode, "grüße" in run.stderr) == (1, True)
        plain = project.toolcast("generate", env={"PYTHONIOENCODING": "ascii"})
        assert (plain.returncode, "Traceback" in plain.stderr) == (1, False)


def test_interrupted_generate_exits_with_1_without_traceback(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(toolcast.pipeline, "generate", interrupt)
    run = project.toolcast("generate")
    assert (run.returncode, run.stderr.strip()) == (1, "Aborted!")


def test_generate_with_closed_stdout_exits_with_1_without_message(project: Any) -> None:
    # Later runs repeat the stored output of the first.
    for _ in range(3):
        reader, writer = os.pipe()
        os.close(reader)
        process = start_module(project.root, "toolcast", "generate", stdout=writer)
        os.close(writer)
        assert process.communicate(timeout=60)[1] == b""
        assert process.wait() == 1


def test_generate_uses_the_project_given_by_project_option_or_working_directory(
    project: Any,
) -> None:
    folder = Path(project.root)
    assert project.toolcast("generate", "--force").returncode == 0
    named = project.toolcast("generate", f"--project={folder}", cwd=folder.parent)
    assert named.returncode == 0


def test_generate_reports_a_file_size_limit_as_error_and_leaves_no_temporary_files(
    project: Any,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        failed = project.toolcast("generate")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: generated/")
    assert failed.stderr.endswith(": File too large\n")
    assert not list((project.root / "generated").rglob("*.tmp"))
    assert project.toolcast("generate").returncode == 0


@pytest.mark.parametrize("folder", ["generated/toy/tools", "."])
def test_generate_into_a_read_only_folder_prints_one_error_line_and_exits_with_2(
    project: Any, folder: str
) -> None:
    if folder == ".":
        (project.root / "generated").rename(project.root.parent / "generated")
    # Root can write anywhere unless it drops this capability.
    plain = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    os.chmod(project.root / folder, 0o555)
    try:
        failed = subprocess.run(
            [*plain, sys.executable, "-m", "toolcast", "generate"],
            cwd=project.root,
            capture_output=True,
            encoding="utf-8",
        )
    finally:
        os.chmod(project.root / folder, 0o755)
    assert failed.returncode == 2, failed
    assert failed.stderr.endswith(": Permission denied\n")
    assert failed.stderr.startswith("error: generated")
    assert failed.stderr.count("\n") == 1
    assert not list(project.root.rglob("*.tmp"))


def test_concurrent_generate_is_rejected_while_check_is_allowed(project: Any) -> None:
    from toolcast_runtime.core.safe_folder import Folder, lock_output_folder

    with (
        Folder.open_path(str(project.root / "generated")) as folder,
        lock_output_folder(folder),
    ):
        second = project.toolcast("generate")
        assert second.returncode == 2
        assert second.stderr == "error: another run is writing into this folder\n"
        # `check` is allowed during the other run.
        assert project.toolcast("check").returncode == 1
    assert project.toolcast("generate").returncode == 0


def test_project_option_with_a_subfolder_suggests_the_project(tmp_path: Path) -> None:
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: []\n")
    (tmp_path / "specs").mkdir()
    subfolder = run_toolcast(tmp_path, "check", "--project", "specs")
    assert subfolder.returncode == 2
    assert subfolder.stderr == (
        f"error: specs has no toolcast.yaml\n  help: use --project {tmp_path}\n"
    )
    missing = run_toolcast(tmp_path, "check", "--project", "nowhere")
    assert missing.stderr == "error: nowhere has no toolcast.yaml\n"
