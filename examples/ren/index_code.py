"""Index a folder for `search_code`: `python -m examples.ren.index_code FOLDER`."""

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

CHUNK_LINES = 40
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
    """Replace the index with the source files of a folder; return the number of chunks.

    Hidden folders, files over 1 MiB and files that are not UTF-8 are skipped.

    Raises:
        ToolError: the database fails.
    """
    chunks = [
        chunk for file in _list_files(folder) for chunk in _split_file(folder, file)
    ]
    with main_pool(write=True) as connection:
        connection.execute(delete(code_chunks))
        if chunks:
            connection.execute(insert(code_chunks), chunks)
    return len(chunks)


def _list_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in SUFFIXES and path.is_file() and not is_hidden:
            yield path


def _split_file(folder: Path, file: Path) -> Iterator[dict[str, object]]:
    if file.stat().st_size > MAX_BYTES:
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    lines = text.replace("\x00", " ").splitlines()
    for start in range(0, len(lines), CHUNK_LINES):
        part = lines[start : start + CHUNK_LINES]
        yield {
            "file": file.relative_to(folder).as_posix(),
            "start_line": start + 1,
            "end_line": start + len(part),
            "content": "\n".join(part),
        }


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Index source code for search_code.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    if not folder.is_dir():
        parser.error(f"{folder} is not a folder")
    try:
        print(f"{index_folder(folder)} chunks")
    except ToolError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
