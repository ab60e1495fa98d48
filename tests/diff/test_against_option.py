"""`--against`: commits, branches and folders, and errors for other values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.git_command import run_git
from tests.program import toolcast
from tests.project_files import write_files

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    """Return a repository with one commit; a tool was removed after it."""
    repository = make_project({"a": TOOL, "b": TOOL})
    commit_all(repository.root)
    (repository.root / "specs/toy/b.yaml").unlink()
    return repository


def commit_all(folder: Path) -> None:
    """Make a folder a repository with one commit."""
    run_git(folder, "init", "--quiet", "-b", "main")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "base")


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("", "`` is neither a commit nor a folder"),
        (" ", "` ` is not a commit of this repository"),
        (".", "the folder `.` is the project itself"),
        ("specs/..", "the folder `specs/..` is the project itself"),
        ("specs", "the folder `specs` has no toolcast.yaml"),
        ("./nowhere", "`./nowhere` is neither a commit nor a folder"),
        ("nowhere", "`nowhere` is not a commit of this repository"),
        ("--help", "`--help` is not a commit of this repository"),
        ("HEAD:specs", "`HEAD:specs` is not a commit of this repository"),
        ("HEAD^{tree}", "`HEAD^{tree}` is not a commit of this repository"),
    ],
)
def test_diff_against_a_value_that_is_no_commit_or_project_exits_with_2(
    project: Any, against: str, message: str
) -> None:
    done = project.toolcast("diff", "--against", against)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "help: pass a commit, a branch or a folder to `--against`" in done.stderr


def test_diff_against_a_name_prefers_the_branch_to_the_folder(project: Any) -> None:
    for name in ("toolcast.yaml", "specs/toy/toolset.yaml", "specs/toy/a.yaml"):
        project.write(f"main/{name}", (project.root / name).read_text())
    done = project.toolcast("diff", "--against", "main")
    assert done.returncode == 1
    assert "`b` is removed" in done.stdout
    done = project.toolcast("diff", "--against", "./main")
    assert (done.returncode, done.stdout) == (0, "no change against ./main\n")


def test_diff_against_a_branch_not_in_a_shallow_clone_fails(project: Any) -> None:
    run_git(project.root, "commit", "--quiet", "-am", "two")
    shallow = project.root.parent / "shallow"
    run_git(project.root.parent, "clone", "--quiet", "--depth=1", project.root.as_uri(), str(shallow))  # fmt: skip
    names = ("toolcast.yaml", "specs/toy/toolset.yaml", "specs/toy/a.yaml")
    files = {name: (shallow / name).read_bytes() for name in names}
    write_files(shallow / "origin/other", files)
    done = toolcast(shallow, "diff", "--against", "origin/other")
    assert done.returncode == 2
    assert "this clone is shallow and does not contain origin/other" in done.stderr
    assert "set `fetch-depth: 0`" in done.stderr


@pytest.mark.parametrize("name", ["-dash", "tag"])
def test_diff_against_a_tag_accepts_a_leading_dash(project: Any, name: str) -> None:
    run_git(project.root, "update-ref", f"refs/tags/{name}", "HEAD")
    done = project.toolcast("diff", f"--against={name}")
    assert done.returncode == 1
    assert f"against {name}: " in done.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ("branch", "-m", "trunk"),
            "no branch is named origin/main, origin/master, main or master",
        ),
        (("update-ref", "-d", "HEAD"), "the repository has no commit yet"),
    ],
)
def test_diff_without_a_main_branch_or_a_commit_exits_with_2(
    project: Any, command: tuple[str, ...], message: str
) -> None:
    run_git(project.root, *command)
    done = project.toolcast("diff")
    assert done.returncode == 2
    assert message in done.stderr


def test_diff_finds_changes_of_a_project_in_a_subfolder_of_the_git_repository(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"a": TOOL, "b": TOOL}, at="repository/services/agent")
    commit_all(project.root.parents[1])
    done = project.toolcast("diff")
    assert done.returncode == 0
    assert done.stdout.startswith("no change against ")
    (project.root / "specs/toy/b.yaml").unlink()
    done = project.toolcast("diff", "--against", "HEAD")
    assert done.returncode == 1
    assert "`b` is removed" in done.stdout
    assert "`a`" not in done.stdout
