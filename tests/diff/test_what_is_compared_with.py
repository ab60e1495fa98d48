"""`--against`: commits, branches and folders, and errors if there is none."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.program import toolcast

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    """Return a repository with one commit; a tool was removed after it."""
    made = make_project({"a": TOOL, "b": TOOL})
    git(made.root, "init", "--quiet", "-b", "main")
    git(made.root, "add", ".")
    git(made.root, "commit", "--quiet", "-m", "base")
    (made.root / "specs/toy/b.yaml").unlink()
    return made


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
def test_what_is_neither_compares_nothing(
    project: Any, against: str, message: str
) -> None:
    done = project.toolcast("diff", "--against", against)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "help: pass a commit, a branch or a folder to `--against`" in done.stderr


def test_a_folder_called_like_a_branch_hides_no_change(project: Any) -> None:
    for name in ("toolcast.yaml", "specs/toy/toolset.yaml", "specs/toy/a.yaml"):
        project.write(f"main/{name}", (project.root / name).read_text())
    done = project.toolcast("diff", "--against", "main")
    assert done.returncode == 1
    assert "`b` is removed" in done.stdout
    done = project.toolcast("diff", "--against", "./main")
    assert (done.returncode, done.stdout) == (0, "no change against ./main\n")


def test_in_a_shallow_clone_a_folder_may_not_stand_for_a_branch(project: Any) -> None:
    git(project.root, "commit", "--quiet", "-am", "two")
    shallow = project.root.parent / "shallow"
    git(project.root.parent, "clone", "--quiet", "--depth=1", project.root.as_uri(), str(shallow))  # fmt: skip
    for name in ("toolcast.yaml", "specs/toy/toolset.yaml", "specs/toy/a.yaml"):
        file = shallow / "origin/other" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((shallow / name).read_text())
    done = toolcast(shallow, "diff", "--against", "origin/other")
    assert done.returncode == 2
    assert "this clone is shallow and does not contain origin/other" in done.stderr
    assert "set `fetch-depth: 0`" in done.stderr


@pytest.mark.parametrize("name", ["-dash", "tag"])
def test_a_tag_or_a_branch_with_a_dash_is_a_commit(project: Any, name: str) -> None:
    git(project.root, "update-ref", f"refs/tags/{name}", "HEAD")
    done = project.toolcast("diff", f"--against={name}")
    assert done.returncode == 1
    assert f"against {name}: " in done.stdout


def test_a_repository_without_a_main_branch_is_told_so(project: Any) -> None:
    git(project.root, "branch", "-m", "trunk")
    done = project.toolcast("diff")
    assert done.returncode == 2
    assert "no branch is named origin/main, origin/master, main or master" in done.stderr  # fmt: skip


def test_a_repository_without_a_commit_is_told_so(project: Any) -> None:
    git(project.root, "update-ref", "-d", "HEAD")
    done = project.toolcast("diff")
    assert done.returncode == 2
    assert "the repository has no commit yet" in done.stderr
