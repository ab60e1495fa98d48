"""Deterministic outputs, independent of the folder, locale and environment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.repository import own_project

from .conftest import read_outputs


@pytest.mark.slow
def test_generated_files_are_identical_in_any_folder_locale_and_environment(
    tmp_path: Path, project_copy: Any
) -> None:
    root = tmp_path / "with spaces, и юникод 🦊"
    project_copy.root.rename(root)
    expected = read_outputs(root)
    shutil.rmtree(root / "generated")
    other_folder = tmp_path / "away"
    other_folder.mkdir()
    environment = {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0"}
    args = ["generate", "--project", str(root)]
    done = project_copy.toolcast(*args, env=environment, cwd=other_folder)
    assert done.returncode == 0, done.stderr
    assert read_outputs(root) == expected
    # `check` compares the outputs with those of its own environment.
    environment = {
        "PYTHONHASHSEED": "2",
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONOPTIMIZE": "2",
    }
    environment["TZ"] = "Pacific/Kiritimati"
    args = ["check", "--project", str(root)]
    done = project_copy.toolcast(*args, env=environment, cwd=other_folder)
    assert done.returncode == 0, done.stderr


def test_generated_files_in_this_repository_are_up_to_date() -> None:
    from toolcast.output.disk_differences import compare_with_disk
    from toolcast.output.output_folder import diagnose
    from toolcast.pipeline import generate

    root = str(own_project())
    files = generate(root).files
    difference = compare_with_disk(root, "generated", files)
    findings = diagnose(root, "generated", files, difference)
    assert [f"{f.location.file}: {f.message}" for f in findings] == []
