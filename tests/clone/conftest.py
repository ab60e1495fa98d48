"""An untrusted clone of a project, and the files outside of it that must not change."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.git_command import run_git
from tests.program import toolcast
from toolcast.rendering.renderer import create_environment

GREET = """
summary: Greet somebody.
parameters:
  type: object
  properties: {name: {type: string, description: Who is greeted.}}
handler: handlers.toy:greet
"""
HANDLER = "def greet(*, name: str = 'you') -> str:\n    return name\n"
COMMAND_TIMEOUT_S = 20
TERMINAL_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


@dataclass
class Clone:
    """A project and a folder outside of it.

    Attributes:
        root: the project's folder.
        outside: a folder next to it, in which nothing may change.
    """

    root: Path
    outside: Path

    def read_outside(self) -> dict[str, tuple[Any, ...]]:
        """Return the mode, modification time and content of each file outside."""
        states = {}
        for path in [self.outside, *sorted(self.outside.rglob("*"))]:
            status = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            states[str(path)] = (status.st_mode, status.st_mtime_ns, data)
        return states

    def has_own_templates(self) -> bool:
        """Return whether the project's templates are not just an empty folder."""
        folder = self.root / "templates"
        return not folder.is_dir() or folder.is_symlink() or any(folder.iterdir())

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command; check that it ends and prints no control characters."""

        def fail(*_: object) -> None:
            raise AssertionError(f"{arguments} does not end")

        own_templates = self.has_own_templates()
        if own_templates:
            create_environment.cache_clear()  # A new process has no cached templates.
        before = signal.signal(signal.SIGALRM, fail)
        signal.alarm(COMMAND_TIMEOUT_S)
        try:
            result = toolcast(self.root, *arguments)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            if own_templates:
                create_environment.cache_clear()
        for text in (result.stdout, result.stderr):
            assert not TERMINAL_CONTROLS.search(text), ascii(text)
        assert result.returncode in (0, 1, 2), result
        return result


@pytest.fixture
def clone(
    make_project: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Clone]:
    """Yield a generated project in git with its own templates and an editor schema."""
    project = make_project(
        {"greet": GREET},
        toolset="targets: {registry: {}, prompts: {}}\n",
        workspace="templates: templates\n",
        handlers=HANDLER,
    )
    (project.root / "templates").mkdir()
    spec = project.root / "specs/toy/greet.yaml"
    comment = "# yaml-language-server: $schema=../schemas/tool.schema.json\n"
    spec.write_text(comment + spec.read_text("utf-8"), encoding="utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bashrc").write_text("echo mine\n", encoding="utf-8")
    (outside / "lock").write_bytes(b"")
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "TMPDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    clone = Clone(project.root, outside)
    assert clone.run("schema", "--write").returncode == 0
    assert clone.run("generate").returncode == 0
    run_git(clone.root, "init", "--quiet")
    run_git(clone.root, "add", ".")
    yield clone
