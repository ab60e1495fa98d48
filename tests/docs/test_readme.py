"""The README's first project is real: its excerpts and its shell session are compared with a run.

`REGENERATE=1 pytest tests/docs` writes the output of the session.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import toolcast

README = Path(__file__).parents[2] / "README.md"
SESSION = re.compile(r"(?<=<!-- session -->\n```console\n).*?(?=^```$)", re.M | re.S)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the README, generated."""
    folder = tmp_path_factory.mktemp("readme")
    for root, command in ((folder, "init my-tools"), (folder / "my-tools", "generate")):
        done = toolcast(root, *command.split())
        assert done.returncode == 0, done.stderr
    return folder / "my-tools"


def record_session(project: Path, session: str) -> str:
    """Return a shell session with the output that its commands have now."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", session, re.M):
        program, *arguments = shlex.split(command)
        assert program == "toolcast"
        done = subprocess.run(
            [sys.executable, "-m", "toolcast", *arguments],
            cwd=project,
            capture_output=True,
            text=True,
        )
        lines.append(f"$ {command}\n{done.stdout}{done.stderr}")
    return "".join(lines)


def test_the_session_prints_what_is_shown(project: Path) -> None:
    text = README.read_text("utf-8")
    (shown,) = SESSION.findall(text)
    printed = record_session(project, shown)
    if os.environ.get("REGENERATE"):
        README.write_text(text.replace(shown, printed), "utf-8")
        shown = printed
    assert shown == printed, "REGENERATE=1 pytest tests/docs"


def test_excerpts_of_the_new_project_are_in_its_files(project: Path) -> None:
    excerpts = re.findall(
        r"<!-- new project: (\S+) -->\n```\w*\n(.*?)^```$",
        README.read_text("utf-8"),
        re.M | re.S,
    )
    assert len(excerpts) >= 4
    for path, excerpt in excerpts:
        file = (project / path).read_text("utf-8")
        position = 0
        for part in re.split(r"^\.\.\.\n", excerpt, flags=re.M):
            found = file.find(part, position)
            assert found >= 0, f"{path} has no\n{part}"
            position = found + len(part)


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 900
