"""Annotations name files as GitHub does: below the repository's folder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]
BARE = "summary: Do nothing.\nparameters: {type: object}\n"


def annotations(project: Any, command: str = "check") -> set[str]:
    done = project.toolcast(command, "--format", "github")
    rows = [row for row in done.stdout.splitlines() if "handler/missing" in row]
    return {row.partition("file=")[2].partition(",")[0] for row in rows}


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.mark.parametrize("command", ["check", "generate"])
def test_a_project_in_a_folder_of_a_repository(
    make_project: Make, command: str
) -> None:
    project = make_project({"a": BARE}, at="mono/services/agent")
    mono = project.root.parents[1]
    subprocess.run(["git", "init", "--quiet"], cwd=mono, check=True)
    assert annotations(project, command) == {"services/agent/specs/toy/a.yaml"}


def test_a_project_that_is_the_repository(make_project: Make) -> None:
    project = make_project({"a": BARE})
    subprocess.run(["git", "init", "--quiet"], cwd=project.root, check=True)
    assert annotations(project) == {"specs/toy/a.yaml"}


def test_a_work_tree_has_a_file_for_its_folder_of_git(make_project: Make) -> None:
    project = make_project({"a": BARE}, at="mono/agent")
    (project.root.parent / ".git").write_text("gitdir: /elsewhere\n")
    assert annotations(project) == {"agent/specs/toy/a.yaml"}


def test_the_checkout_of_a_workflow_needs_no_git(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project({"a": BARE}, at="checkout/agent")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.root.parent))
    assert annotations(project) == {"agent/specs/toy/a.yaml"}


def test_a_checkout_elsewhere_is_not_above(
    make_project: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    project = make_project({"a": BARE})
    subprocess.run(["git", "init", "--quiet"], cwd=project.root, check=True)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert annotations(project) == {"specs/toy/a.yaml"}


def test_a_checkout_in_a_folder_of_the_workspace(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project({"a": BARE}, at="workspace/main/agent")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.root.parents[1]))
    git_folder = project.root.parent / ".git"
    git_folder.mkdir()
    assert annotations(project) == {"agent/specs/toy/a.yaml"}
    # A submodule belongs to the repository that is checked out.
    git_folder.rmdir()
    git_folder.write_text("gitdir: ../.git/modules/main\n")
    assert annotations(project) == {"main/agent/specs/toy/a.yaml"}
