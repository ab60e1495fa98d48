"""Reading of specs: once per run, independent of line endings and folder order."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.safety.hostile_cases import copy_hostile_case
from toolcast.commands.command_group import main
from toolcast.pipeline import generate
from toolcast.rules.runner import check_workspace


def test_spec_that_changes_during_a_generator_run_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copy_hostile_case("12-enum-values", tmp_path / "project")
    real_check = check_workspace

    def change_and_check(workspace: Any, *arguments: Any) -> Any:
        for path in (root / "specs" / "x").iterdir():
            path.write_text("name: [")
        return real_check(workspace, *arguments)

    expected = generate(str(root)).files
    monkeypatch.setattr("toolcast.pipeline.check_workspace", change_and_check)
    result = CliRunner().invoke(main, ["generate", "--project", str(root)])
    assert result.exit_code == 0
    for path, data in expected.items():
        assert (root / "generated" / path).read_bytes() == data


@pytest.mark.parametrize("format_", ["github", "json", "sarif", "markdown"])
def test_spec_file_name_control_characters_are_escaped_in_machine_readable_reports(
    format_: str, tmp_path: Path
) -> None:
    root = copy_hostile_case("52-file-names", tmp_path / "project")
    options = ["--project", str(root), "--format", format_]
    for command in ("generate", "check"):
        result = CliRunner().invoke(main, [command, *options])
        if result.exit_code == 2 and "Invalid value for '--format'" in result.stderr:
            continue
        assert result.exit_code == 1
        assert result.stdout.replace("\n", "").isprintable()
        if format_ == "github":
            for annotation in result.stdout.splitlines():
                assert annotation.startswith("::error file=specs/x/")


def test_specs_with_crlf_line_endings_generate_the_same_files(tmp_path: Path) -> None:
    root = copy_hostile_case("01-docstring-quotes", tmp_path / "project")
    expected = generate(str(root)).files
    for path in root.rglob("*.yaml"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert generate(str(root)).files == expected


def test_folder_listing_file_order_does_not_change_the_generated_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copy_hostile_case("23-names-of-modules", tmp_path / "project")
    expected = generate(str(root))
    listdir, rng = os.listdir, random.Random(3)

    def list_shuffled(folder: Any = ".") -> Any:
        names = listdir(folder)
        rng.shuffle(names)
        return names

    monkeypatch.setattr(os, "listdir", list_shuffled)
    for _ in range(5):
        result = generate(str(root))
        assert result.files == expected.files
        assert result.findings == expected.findings
    assert expected.files
