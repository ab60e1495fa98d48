"""A project that is somebody else's, a home that is not, and commands that must end."""

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
SECONDS = 20
SEEN_BY_TERMINALS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


@dataclass
class Clone:
    """A project, and what is outside of it.

    Attributes:
        root: the project.
        outside: a folder beside it, in which nothing may change.
    """

    root: Path
    outside: Path

    def state(self) -> dict[str, tuple[Any, ...]]:
        """Everything outside of the project: kind, mode, time of change and bytes."""
        found = {}
        for path in [self.outside, *sorted(self.outside.rglob("*"))]:
            status = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (status.st_mode, status.st_mtime_ns, data)
        return found

    def has_templates(self) -> bool:
        """Whether its folder of templates is anything but an empty folder."""
        folder = self.root / "templates"
        return not folder.is_dir() or folder.is_symlink() or any(folder.iterdir())

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command; it ends in time, and what it prints steers no terminal."""

        def too_long(*_: object) -> None:
            raise AssertionError(f"{words} is waiting for something")

        own_templates = self.has_templates()
        if own_templates:
            create_environment.cache_clear()  # As in a process of its own.
        before = signal.signal(signal.SIGALRM, too_long)
        signal.alarm(SECONDS)
        try:
            done = toolcast(self.root, *words)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            if own_templates:
                create_environment.cache_clear()
        for text in (done.stdout, done.stderr):
            assert not SEEN_BY_TERMINALS.search(text), ascii(text)
        assert done.returncode in (0, 1, 2), done
        return done


@pytest.fixture
def clone(
    make_project: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Clone]:
    """A project with a template of its own and a schema for editors, generated."""
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
    made = Clone(project.root, outside)
    assert made.run("schema", "--write").returncode == 0
    assert made.run("generate").returncode == 0
    assert made.run("check").returncode == 0
    subprocess.run(["git", "init", "--quiet"], cwd=made.root, check=True)
    subprocess.run(["git", "add", "."], cwd=made.root, check=True)
    yield made
