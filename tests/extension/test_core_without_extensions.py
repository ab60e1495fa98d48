"""The core knows no extension: neither its code nor its help says the word of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["generator", "runtime", "templates"])
def test_the_core_does_not_name_its_extension(folder: str) -> None:
    files = [file for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = {file: file.read_bytes().lower() for file in files if not is_made(file)}
    assert len(texts) > 10
    assert [str(file) for file, text in texts.items() if b"letta" in text] == []


def is_made(file: Path) -> bool:
    """Whether a tool made it, beside what is committed."""
    return file.suffix == ".pyc" or any(part.startswith(".") for part in file.parts)


@pytest.mark.parametrize("words", [["--help"], ["explain"], ["schema", "toolset"]])
def test_nor_does_it_outside_of_a_project_that_lists_it(
    words: list[str], tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "toolcast", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "letta" not in ran.stdout.lower()
