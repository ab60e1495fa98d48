"""A project in a folder of a repository is compared with that folder of a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


@pytest.mark.parametrize("below", ["repository", "repository/services/agent"])
def test_what_has_changed_is_found(
    make_project: Callable[..., Any], below: str
) -> None:
    project = make_project({"a": TOOL, "b": TOOL}, at=below)
    repository = next(
        folder
        for folder in (project.root, *project.root.parents)
        if folder.name == "repository"
    )
    git(repository, "init", "--quiet", "-b", "main")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "base")
    done = project.toolcast("diff")
    assert done.returncode == 0
    assert done.stdout.startswith("no change against ")
    (project.root / "specs/toy/b.yaml").unlink()
    done = project.toolcast("diff", "--against", "HEAD")
    assert done.returncode == 1
    assert "`b` is removed" in done.stdout
    assert "`a`" not in done.stdout
