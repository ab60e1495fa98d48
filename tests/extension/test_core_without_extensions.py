"""Independence from the Letta extension: source files, help and schemas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["generator", "runtime", "templates"])
def test_core_source_does_not_mention_letta(folder: str) -> None:
    files = [file for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = {file: file.read_bytes().lower() for file in files if not is_cached(file)}
    assert len(texts) > 10
    assert [str(file) for file, text in texts.items() if b"letta" in text] == []


def is_cached(file: Path) -> bool:
    """Return whether a file belongs to the cache of a tool."""
    return file.suffix == ".pyc" or any(part.startswith(".") for part in file.parts)


@pytest.mark.parametrize("args", [["--help"], ["explain"], ["schema", "toolset"]])
def test_output_outside_a_project_does_not_mention_letta(
    args: list[str], tmp_path: Path
) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "toolcast", *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "letta" not in result.stdout.lower()
