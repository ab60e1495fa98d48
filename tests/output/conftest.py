"""A small generated project for tests that damage its outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.git_command import run_git
from toolcast.commands.command_group import main

GREET = """
summary: Greet somebody.
when_to_use: At the beginning.
parameters:
  type: object
  properties: {name: {type: string, description: Who is greeted.}}
handler: handlers.toy:greet
"""
PART = """
summary: Part from somebody.
when_to_use: At the end.
parameters: {type: object, additionalProperties: false}
handler: handlers.toy:part
"""
HANDLER = """
def greet(*, name: str = "you") -> str:
    return f"Hello, {name}"


def part() -> str:
    return "Bye"
"""


@pytest.fixture
def small(make_project: Callable[..., Any], own_cache: Path) -> Any:
    """Return a generated project with two tools, two targets and its own cache."""
    project = make_project(
        {"greet": GREET, "part": PART},
        toolset="targets: {registry: {}, prompts: {}}\n",
        handlers=HANDLER,
    )
    project.generate()
    return project


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def run(small: Any) -> Callable[..., Result]:
    """Return a function that runs the command in this process, in the small project."""

    def run_(*arguments: str) -> Result:
        # click 8.2 and later separate stdout and stderr.
        done = CliRunner().invoke(main, [*arguments, "--project", str(small.root)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done

    return run_


@pytest.fixture
def git(small: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Return a function that runs git in the project, with all outputs in the index."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def git_(*arguments: str) -> str:
        return run_git(small.root, *arguments, check=False)

    git_("init", "--quiet", "--initial-branch=main")
    git_("add", ".")
    git_("commit", "--quiet", "-m", "first")
    yield git_


def read_outputs(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file in the output folder."""
    folder = root / "generated"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
