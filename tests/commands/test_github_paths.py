"""File paths in GitHub annotations, relative to the repository's root."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SPEC = "summary: Do nothing.\nparameters: {type: object}\n"


@pytest.mark.parametrize("command", ["check", "generate"])
@pytest.mark.parametrize(
    ("folder", "git", "workspace", "prefix"),
    [
        ("mono/services/agent", "mono/.git/", None, "services/agent/"),
        ("project", "project/.git/", None, ""),
        ("project", "project/.git/", "elsewhere", ""),
        # Worktrees have a file named `.git` instead of a folder.
        ("mono/agent", "mono/.git", None, "agent/"),
        ("checkout/agent", None, "checkout", "agent/"),
        ("workspace/main/agent", "workspace/main/.git/", "workspace", "agent/"),
        # A submodule belongs to the repository that is checked out.
        ("workspace/main/agent", "workspace/main/.git", "workspace", "main/agent/"),
    ],
)
def test_github_annotation_paths_start_at_the_git_folder_or_github_workspace(
    make_project: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    folder: str,
    git: str | None,
    workspace: str | None,
    prefix: str,
) -> None:
    project = make_project({"a": SPEC}, at=folder)
    if git is not None:
        marker = tmp_path / git
        if git.endswith("/"):
            marker.mkdir()
        else:
            marker.write_text("gitdir: ../.git/modules/main\n")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    if workspace is not None:
        monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / workspace))
    output = project.toolcast(command, "--format", "github").stdout
    [row] = [row for row in output.splitlines() if "handler/missing" in row]
    assert f"file={prefix}specs/toy/a.yaml," in row
