"""Which exit code a project that is not right gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_exit_codes_of_wrong_projects(small: Any, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for command in ("check", "generate"):
        nowhere = small.toolcast(command, cwd=empty)
        assert (nowhere.returncode, "toolcast init" in nowhere.stderr) == (2, True)
        assert small.toolcast(command, "--project", str(empty)).returncode == 2
        assert small.toolcast(command, "--format", "nope").returncode == 2
    assert small.toolcast("chekc").returncode == 2
    assert small.toolcast("check", cwd=small.root / "specs" / "toy").returncode == 0
    small.edit("specs/toy/greet.yaml", "summary:", "sumary:")
    for command in ("check", "generate"):
        wrong = small.toolcast(command)
        assert (wrong.returncode, "did you mean `summary`?" in wrong.stderr) == (
            1,
            True,
        )
    small.write("toolcast.yaml", "version: 2\n")
    for command in ("check", "generate"):
        invalid = small.toolcast(command)
        assert (invalid.returncode, invalid.stdout) == (2, "")
        assert "toolcast.yaml:1:10: error:" in invalid.stderr
