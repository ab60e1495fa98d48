"""File paths in GitHub annotations, relative to the repository's root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.git_command import run_git

Make = Callable[..., Any]
BARE = "summary: Do nothing.\nparameters: {type: object}\n"


def list_annotated_files(project: Any, command: str = "check") -> set[str]:
    done = project.toolcast(command, "--format", "github")
    rows = [row for row in done.stdout.splitlines() if "handler/missing" in row]
    return {row.partition("file=")[2].partition(",")[0] for row in rows}


@pytest.fixture(autouse=True)
def without_github_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.mark.parametrize("command", ["check", "generate"])
def test_github_annotation_paths_include_the_projects_subfolder(
    make_project: Make, command: str
) -> None:
    project = make_project({"a": BARE}, at="mono/services/agent")
    mono = project.root.parents[1]
    run_git(mono, "init", "--quiet")
    assert list_annotated_files(project, command) == {"services/agent/specs/toy/a.yaml"}


def test_root_project_github_annotation_paths_have_no_prefix(
    make_project: Make,
) -> None:
    project = make_project({"a": BARE})
    run_git(project.root, "init", "--quiet")
    assert list_annotated_files(project) == {"specs/toy/a.yaml"}


def test_github_annotation_paths_start_at_the_folder_with_a_git_file(
    make_project: Make,
) -> None:
    """Worktrees and submodules have a file named `.git` instead of a folder."""
    project = make_project({"a": BARE}, at="mono/agent")
    (project.root.parent / ".git").write_text("gitdir: /elsewhere\n")
    assert list_annotated_files(project) == {"agent/specs/toy/a.yaml"}


def test_github_annotation_paths_start_at_github_workspace_without_git(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project({"a": BARE}, at="checkout/agent")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.root.parent))
    assert list_annotated_files(project) == {"agent/specs/toy/a.yaml"}


def test_github_annotation_paths_ignore_github_workspace_elsewhere(
    make_project: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    project = make_project({"a": BARE})
    run_git(project.root, "init", "--quiet")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert list_annotated_files(project) == {"specs/toy/a.yaml"}


def test_github_annotation_paths_start_at_a_git_folder_inside_github_workspace(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paths in a submodule include its folder."""
    project = make_project({"a": BARE}, at="workspace/main/agent")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.root.parents[1]))
    git_folder = project.root.parent / ".git"
    git_folder.mkdir()
    assert list_annotated_files(project) == {"agent/specs/toy/a.yaml"}
    # A submodule belongs to the repository that is checked out, so its paths include
    # it.
    git_folder.rmdir()
    git_folder.write_text("gitdir: ../.git/modules/main\n")
    assert list_annotated_files(project) == {"main/agent/specs/toy/a.yaml"}
