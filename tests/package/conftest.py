"""Projects with the target `package`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.git_command import run_git

PYPROJECT = """\
[project]
name = "toy-mcp"
version = "1.2.0"
description = "Toys for agents."
license = "MIT"
requires-python = ">=3.11"
authors = [{name = "Ann"}]
dependencies = [
  "toolcast-runtime[mcp]",
]

[project.scripts]
toy-mcp = "generated.toy.mcp_server:SERVER.main"
"""
PING = """\
summary: Answer with pong.
parameters:
  type: object
  properties: {text: {type: string, description: What to answer.}}
  required: [text]
handler: handlers.toy:ping
"""
HANDLERS = """\
import os


def ping(text=""):
    return {"pong": text, "url": os.environ.get("TOY_URL", "")}
"""
TARGET = "targets: {mcp: {}, package: {namespace: io.github.ann}}\n"


@pytest.fixture
def make_package_project(
    make_project: Callable[..., Project],
) -> Callable[..., Project]:
    """Return a function that writes a project with the target `package`.

    The function adds tools to `ping`, and replaces toolset.yaml and pyproject.toml.
    """

    def make(
        tools: dict[str, str] | None = None,
        toolset: str = TARGET,
        pyproject: str = PYPROJECT,
        **more: Any,
    ) -> Project:
        project = make_project(
            {"ping": PING, **(tools or {})}, toolset=toolset, handlers=HANDLERS, **more
        )
        (project.root / "pyproject.toml").write_text(pyproject, "utf-8")
        run_git(project.root, "init", "--quiet")
        return project

    return make


def track(root: Path) -> None:
    """Add all files of a project to git's index, also ignored ones."""
    run_git(root, "-c", "core.autocrlf=false", "add", "--all", "--force", ".")


def read_manifests(root: Path) -> dict[str, Any]:
    """Return the generated manifests of the toolset `toy` by path in the folder `package`."""
    folder = root / "generated/toy/package"
    return {
        path.relative_to(folder).as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.json"))
    }
