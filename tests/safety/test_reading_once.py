"""Specs are read once, their files' names harm no report, and order is nobody's."""

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


def test_a_spec_that_changes_during_the_run(
    hostile: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hostile("12-enum-values")
    real = check_workspace

    def change_and_check(workspace: Any, *more: Any) -> Any:
        for path in (root / "specs" / "x").iterdir():
            path.write_text("name: [")
        return real(workspace, *more)

    expected = generate(str(root)).files
    monkeypatch.setattr("toolcast.pipeline.check_workspace", change_and_check)
    result = CliRunner().invoke(main, ["generate", "--project", str(root)])
    assert result.exit_code == 0
    for path, data in expected.items():
        assert (root / "generated" / path).read_bytes() == data


@pytest.mark.parametrize("format_", ["github", "json", "sarif", "markdown"])
def test_names_of_files_in_reports_for_machines(
    format_: str, hostile: Callable[[str], Path]
) -> None:
    root = hostile("52-file-names")
    words = ["--project", str(root), "--format", format_]
    for command in ("generate", "check"):
        result = CliRunner().invoke(main, [command, *words])
        if result.exit_code == 2 and "Invalid value for '--format'" in result.stderr:
            continue
        assert result.exit_code == 1
        assert result.stdout.replace("\n", "").isprintable()
        if format_ == "github":
            rows = result.stdout.splitlines()
            assert all(row.startswith("::error file=specs/x/") for row in rows)
            assert not any(row.startswith("::error file=x") for row in rows)


def test_line_ends_of_a_checkout_change_nothing(hostile: Callable[[str], Path]) -> None:
    root = hostile("01-docstring-quotes")
    expected = generate(str(root)).files
    for path in root.rglob("*.yaml"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert generate(str(root)).files == expected


def test_order_of_listings_changes_nothing(
    hostile: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hostile("23-names-of-modules")
    expected = generate(str(root))
    listdir, chance = os.listdir, random.Random(3)

    def shuffled(folder: Any = ".") -> Any:
        names = listdir(folder)
        chance.shuffle(names)
        return names

    monkeypatch.setattr(os, "listdir", shuffled)
    for _ in range(5):
        again = generate(str(root))
        assert again.files == expected.files
        assert again.findings == expected.findings
    assert expected.files
