"""The program ends at once, but not before everything is said."""

from __future__ import annotations

import pstats
import subprocess
import sys
from pathlib import Path

import pytest


def toolcast(*words: str, before: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """The exit code of the program and what it wrote into pipes."""
    command = [sys.executable, *before, "-m", "toolcast", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [(["--version"], 0, "toolcast"), (["check", "--nonsense"], 2, "--nonsense")],
)
def test_what_was_said_reaches_a_pipe_with_the_code(
    words: list[str], code: int, said: str
) -> None:
    ended, out, err = toolcast(*words)
    assert ended == code
    assert said in out + err


def test_a_profile_of_the_program_is_written(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    toolcast("--version", before=("-m", "cProfile", "-o", str(profile)))
    assert pstats.Stats(str(profile)).total_calls  # type: ignore[attr-defined]  # its stub lacks it
