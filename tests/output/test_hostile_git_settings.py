"""Git settings of a project that name programs, none of which `generate` runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcast.git.index import read_index

CONFIG = """
[core]
    fsmonitor = {program}
    hooksPath = {hooks}
    sshCommand = {program}
    gitProxy = {program}
    pager = {program}
    editor = {program}
    askPass = {program}
    alternateRefsCommand = {program}
    untrackedCache = true
    attributesFile = {attributes}
[alias]
    ls-files = !{program}
[pager]
    ls-files = {program}
[filter "planted"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[diff "planted"]
    textconv = {program}
    command = {program}
[credential]
    helper = !{program}
[protocol "ext"]
    allow = always
[remote "origin"]
    url = ext::{program}
    promisor = true
    partialclonefilter = tree:0
    uploadpack = {program}
[extensions]
    partialClone = origin
[include]
    path = {included}
[uploadpack]
    packObjectsHook = {program}
[gpg]
    program = {program}
"""


@pytest.fixture
def program_mark(small: Any, git: Callable[..., str], tmp_path: Path) -> Path:
    """Return the file that a program of the project's git settings would create."""
    return plant_programs(small, tmp_path)


def plant_programs(small: Any, tmp_path: Path) -> Path:
    """Set a program in every git setting that can name one; return the file it creates."""
    mark = tmp_path / "sprung"
    program = small.write("tools/planted", f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    hooks = small.root / "hooks"
    hooks.mkdir()
    for name in ("fsmonitor-watchman", "post-index-change", "post-checkout"):
        shutil.copy(program, hooks / name)
    values = {
        "program": program,
        "hooks": hooks,
        "attributes": small.write("attributes", "* filter=planted diff=planted\n"),
        "included": small.write(".included", f"[core]\n fsmonitor = {program}\n"),
    }
    small.write(".gitattributes", "* filter=planted diff=planted\n")
    with (small.root / ".git/config").open("a", encoding="utf-8") as config:
        config.write(CONFIG.format(**values))
    return mark


def test_git_status_runs_the_program_in_the_hostile_project_settings(
    small: Any, git: Callable[..., str], program_mark: Path
) -> None:
    """Without this, the other tests of these settings could not fail."""
    git("status")
    assert program_mark.exists()


def test_reading_the_git_index_runs_no_program_in_the_project_settings(
    small: Any, program_mark: Path
) -> None:
    index = read_index(str(small.root), "generated")
    assert index is not None and len(index.objects) > 5
    assert not program_mark.exists()


def test_reading_a_sparse_git_index_runs_no_program_to_fetch_objects(
    small: Any, git: Callable[..., str], tmp_path: Path
) -> None:
    """A program in the settings would fetch the missing objects."""
    git("sparse-checkout", "set", "--cone", "--sparse-index", "specs")
    for path in (small.root / ".git/objects").rglob("*"):
        if path.is_file():
            path.unlink()
    mark = plant_programs(small, tmp_path)
    git("-c", "core.fsmonitor=false", "ls-files", "--stage")
    assert mark.exists(), "it is no test without a program that runs"
    mark.unlink()
    index = read_index(str(small.root), "generated")
    assert index is None or not index.objects
    assert not mark.exists()


def test_git_executable_inside_the_project_is_not_run(
    small: Any,
    git: Callable[..., str],
    program_mark: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside = small.root / "bin"
    inside.mkdir()
    shutil.copy(small.root / "tools/planted", inside / "git")
    outside = small.root.parent / "outside"
    outside.mkdir()
    (outside / "git").symlink_to(inside / "git")
    path = os.environ["PATH"]
    monkeypatch.chdir(small.root)
    for first in (str(inside), "bin", "", str(outside)):
        monkeypatch.setenv("PATH", f"{first}{os.pathsep}{path}")
        assert read_index(str(small.root), "generated") is not None
    monkeypatch.setenv("PATH", f"{inside}{os.pathsep}{outside}")
    assert read_index(str(small.root), "generated") is None
    assert not program_mark.exists()


def test_reading_the_git_index_ignores_git_environment_variables(
    small: Any,
    git: Callable[..., str],
    program_mark: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_EXEC_PATH", str(small.root / "tools"))
    monkeypatch.setenv("GIT_TRACE", str(trace))
    index = read_index(str(small.root), "generated")
    assert index is not None and "toy/tools/greet.json" in index.objects
    assert not trace.exists()


def test_git_index_of_another_user_is_read(small: Any, git: Callable[..., str]) -> None:
    """As in a container that runs as root on another user's checkout."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in [small.root, *small.root.rglob("*")]:
        os.lchown(path, 4711, 4711)
    assert "dubious ownership" in git("ls-files")
    assert read_index(str(small.root), "generated") is not None


@pytest.mark.parametrize("damage", ["no repository", "broken index", "hangs", "no git"])
def test_missing_broken_or_hanging_git_is_treated_as_no_git_index(
    small: Any,
    git: Callable[..., str],
    damage: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if damage == "no repository":
        shutil.rmtree(small.root / ".git")
    elif damage == "broken index":
        (small.root / ".git/index").write_bytes(b"DIRC nonsense")
    elif damage == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        monkeypatch.setattr("toolcast.git.program._TIMEOUT_S", 0.2)
        os.mkfifo(small.root / "pipe")
        with (small.root / ".git/config").open("a", encoding="utf-8") as config:
            config.write(f"[include]\n path = {small.root / 'pipe'}\n")
    assert read_index(str(small.root), "generated") is None
