"""Indexes a folder of source code for `search_code`: `python -m examples.ren.index_code FOLDER`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import delete, insert

from toolcast_runtime import ToolError

from .main_tables import code_chunks
from .pools import main_pool

__all__ = ["index_folder"]

LINES = 40
MAX_BYTES = 1024 * 1024
SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".js",
        ".ts",
        ".tsx",
        ".sql",
        ".sh",
        ".toml",
        ".yaml",
        ".yml",
        ".md",
    ]
)


def index_folder(folder: Path) -> int:
    """Replaces the index by the source files of a folder; gives the number of chunks.

    Hidden folders, files above a mebibyte and files that are not UTF-8 are left out.

    Raises:
        ToolError: the database fails.
    """
    chunks = [chunk for file in _files(folder) for chunk in _chunks(folder, file)]
    with main_pool(write=True) as connection:
        connection.execute(delete(code_chunks))
        if chunks:
            connection.execute(insert(code_chunks), chunks)
    return len(chunks)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in SUFFIXES and path.is_file() and not is_hidden:
            yield path


def _chunks(folder: Path, file: Path) -> Iterator[dict[str, object]]:
    if file.stat().st_size > MAX_BYTES:
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    lines = text.replace("\x00", " ").splitlines()
    for start in range(0, len(lines), LINES):
        part = lines[start : start + LINES]
        yield {
            "file": file.relative_to(folder).as_posix(),
            "start_line": start + 1,
            "end_line": start + len(part),
            "content": "\n".join(part),
        }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Indexes source code for search_code.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    if not folder.is_dir():
        parser.error(f"{folder} is no folder")
    try:
        print(f"{index_folder(folder)} chunks")
    except ToolError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
