"""Reading of specs: once per run, independent of line endings and folder order."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolcast.commands.command_group import main
from toolcast.pipeline import generate
from toolcast.rules.runner import check_workspace


def test_spec_that_changes_during_a_generator_run_is_not_read_again(
    make_hostile_project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_hostile_project("12-enum-values")
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
    format_: str, make_hostile_project: Callable[[str], Path]
) -> None:
    root = make_hostile_project("52-file-names")
    options = ["--project", str(root), "--format", format_]
    for command in ("generate", "check"):
        result = CliRunner().invoke(main, [command, *options])
        if result.exit_code == 2 and "Invalid value for '--format'" in result.stderr:
            continue
        assert result.exit_code == 1
        assert result.stdout.replace("\n", "").isprintable()
        if format_ == "github":
            annotations = result.stdout.splitlines()
            assert all(
                annotation.startswith("::error file=specs/x/")
                for annotation in annotations
            )
            assert not any(
                annotation.startswith("::error file=x") for annotation in annotations
            )


def test_specs_with_crlf_line_endings_generate_the_same_files(
    make_hostile_project: Callable[[str], Path],
) -> None:
    root = make_hostile_project("01-docstring-quotes")
    expected = generate(str(root)).files
    for path in root.rglob("*.yaml"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert generate(str(root)).files == expected


def test_folder_listing_file_order_does_not_change_the_generated_files(
    make_hostile_project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_hostile_project("23-names-of-modules")
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
