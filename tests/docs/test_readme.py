"""Excerpts and shell session in the README, compared with a new project.

`REGENERATE=1 pytest tests/docs` rewrites the output of the session.
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
    """Generate the project that the README describes."""
    folder = tmp_path_factory.mktemp("readme")
    for root, command in ((folder, "init my-tools"), (folder / "my-tools", "generate")):
        result = toolcast(root, *command.split())
        assert result.returncode == 0, result.stderr
    return folder / "my-tools"


def record_session(project: Path, session: str) -> str:
    """Run the commands of a shell session; return it with their current output."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", session, re.M):
        program, *arguments = shlex.split(command)
        assert program == "toolcast"
        result = subprocess.run(
            [sys.executable, "-m", "toolcast", *arguments],
            cwd=project,
            capture_output=True,
            text=True,
        )
        lines.append(f"$ {command}\n{result.stdout}{result.stderr}")
    return "".join(lines)


def test_readme_shell_session_matches_the_real_output(project: Path) -> None:
    text = README.read_text("utf-8")
    (session,) = SESSION.findall(text)
    actual = record_session(project, session)
    if os.environ.get("REGENERATE"):
        README.write_text(text.replace(session, actual), "utf-8")
        session = actual
    assert session == actual, "REGENERATE=1 pytest tests/docs"


def test_readme_excerpts_match_the_files_created_by_init(project: Path) -> None:
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


def test_readme_has_at_most_900_words() -> None:
    assert len(README.read_text("utf-8").split()) <= 900
