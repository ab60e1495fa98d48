"""Independence from the Letta extension: source files, help and schemas."""

from __future__ import annotations

from pathlib import Path

from tests.program import run_toolcast

ROOT = Path(__file__).parents[2]


def test_core_source_does_not_mention_letta() -> None:
    for folder in ("generator", "runtime", "templates"):
        files = [file for file in (ROOT / folder).rglob("*") if file.is_file()]
        texts = {
            file: file.read_bytes().lower() for file in files if not is_cached(file)
        }
        assert len(texts) > 10
        assert [str(file) for file, text in texts.items() if b"letta" in text] == []


def is_cached(file: Path) -> bool:
    """Return whether a file belongs to the cache of a tool."""
    return file.suffix == ".pyc" or any(part.startswith(".") for part in file.parts)


def test_output_outside_a_project_does_not_mention_letta(tmp_path: Path) -> None:
    for command in ("--help", "explain", "schema toolset"):
        assert "letta" not in run_toolcast(tmp_path, *command.split()).lower()
