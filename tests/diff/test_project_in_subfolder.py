"""Comparison of a project in a subfolder of a repository."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.git_command import run_git

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"


@pytest.mark.parametrize("path", ["repository", "repository/services/agent"])
def test_diff_compares_a_project_in_a_subfolder_with_the_same_folder_in_a_commit(
    make_project: Callable[..., Any], path: str
) -> None:
    project = make_project({"a": TOOL, "b": TOOL}, at=path)
    repository = next(
        folder
        for folder in (project.root, *project.root.parents)
        if folder.name == "repository"
    )
    run_git(repository, "init", "--quiet", "-b", "main")
    run_git(repository, "add", ".")
    run_git(repository, "commit", "--quiet", "-m", "base")
    done = project.toolcast("diff")
    assert done.returncode == 0
    assert done.stdout.startswith("no change against ")
    (project.root / "specs/toy/b.yaml").unlink()
    done = project.toolcast("diff", "--against", "HEAD")
    assert done.returncode == 1
    assert "`b` is removed" in done.stdout
    assert "`a`" not in done.stdout
