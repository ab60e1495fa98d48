"""Exit codes of `check` and `generate` for invalid projects and options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from toolcast.commands.command_group import main


@pytest.mark.parametrize("command", ["check", "generate"])
def test_check_and_generate_exit_with_2_for_an_invalid_project_or_option(
    small: Any,
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """An error in a spec has the exit code 1."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    outside = CliRunner().invoke(main, [command])
    assert (outside.exit_code, "toolcast init" in outside.stderr) == (2, True)
    assert CliRunner().invoke(main, [command, "--project", "."]).exit_code == 2
    assert run(command, "--format", "nope").exit_code == 2
    monkeypatch.chdir(small.root / "specs" / "toy")
    assert CliRunner().invoke(main, [command]).exit_code == 0
    small.edit("specs/toy/greet.yaml", "summary:", "sumary:")
    typo = run(command)
    assert (typo.exit_code, "did you mean `summary`?" in typo.stderr) == (1, True)
    small.write("toolcast.yaml", "version: 2\n")
    invalid = run(command)
    assert (invalid.exit_code, invalid.stdout) == (2, "")
    assert "toolcast.yaml:1:10: error:" in invalid.stderr


def test_misspelled_toolcast_command_gets_a_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    missing = CliRunner().invoke(main, ["chekc"])
    assert (missing.exit_code, "`check`" in missing.stderr) == (2, True)


def test_generate_with_an_invalid_spec_writes_no_output(
    small: Any, run: Callable[..., Result]
) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    small.write("specs/toy/broken.yaml", "name: broken\n")
    before = (small.root / "generated/toy/tools/greet.json").read_bytes()
    failed = run("generate")
    assert failed.exit_code == 1
    assert failed.stderr.endswith("nothing was written\n")
    assert (small.root / "generated/toy/tools/greet.json").read_bytes() == before
