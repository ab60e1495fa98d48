"""Write errors: the message names the file, and nothing incomplete stays.

A limit on the size of this process's files simulates a full disk: in both cases the system
refuses the rest of a file, with another error number.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.program import toolcast
from tests.refactoring.conftest import read_files

from .conftest import Clone


def run_with_file_limit(
    folder: Path, max_bytes: int, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run a command that can write at most `max_bytes` to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # An incomplete bytecode file would be imported by later processes.
    with mock.patch.object(sys, "dont_write_bytecode", True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, hard))
        try:
            return toolcast(folder, *arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_command_on_a_full_disk_names_the_file_and_changes_nothing(
    clone: Clone,
) -> None:
    spec = clone.root / "specs/toy/greet.yaml"
    text = spec.read_text("utf-8").replace("Greet somebody.", "Greet anybody.")
    spec.write_text(text, encoding="utf-8")
    schema = clone.root / "specs/schemas/tool.schema.json"
    schema.write_text(schema.read_text("utf-8") + "\n", encoding="utf-8")
    before = read_files(clone.root)
    for command, error in (
        ("generate", "generated/toy/prompts/preamble.md: File too large"),
        ("new wave", "specs/toy/wave.yaml: File too large; nothing was written"),
        ("schema --write", "specs/schemas/tool.schema.json: File too large"),
    ):
        result = run_with_file_limit(clone.root, 64, *command.split())
        assert (result.returncode, result.stderr) == (2, f"error: {error}\n")
        assert read_files(clone.root) == before


def test_init_on_full_disk_names_file_and_leaves_no_files(tmp_path: Path) -> None:
    result = run_with_file_limit(tmp_path, 600, "init", "demo")
    assert result.returncode == 2
    assert re.fullmatch(
        r"error: specs/demo/\w+\.yaml: File too large; nothing was written\n",
        result.stderr,
    )
    assert list((tmp_path / "demo").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("folder", ["generated/toy/tools", "specs/toy"])
def test_generate_and_new_commands_exit_with_2_and_name_a_read_only_folder(
    clone: Clone, folder: str
) -> None:
    spec = clone.root / "specs/toy/greet.yaml"
    spec.write_text(spec.read_text("utf-8").replace("Greet s", "Greet S"), "utf-8")
    (clone.root / folder).chmod(0o555)
    command = ("new", "wave") if folder.startswith("specs") else ("generate",)
    result = clone.run(*command)
    (clone.root / folder).chmod(0o755)
    assert result.returncode == 2
    assert f"error: {folder}/" in result.stderr and "Permission denied" in result.stderr
