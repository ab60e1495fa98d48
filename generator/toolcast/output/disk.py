"""What is on disk below the output folder, without following a link."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

__all__ = [
    "JOURNAL",
    "LEFTOVER",
    "TEMPORARY",
    "OnDisk",
    "link_above",
    "read_file",
    "scan",
]

LEFTOVER = ".toolcast-"
TEMPORARY = ".tmp"
JOURNAL = f"{LEFTOVER}run.json"
_NOT_OURS_TO_JUDGE = frozenset(
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"]
)


@dataclass
class OnDisk:
    """Paths below a folder, by what stands there.

    Attributes:
        files: regular files.
        folders: folders, without the caches of tools.
        links: symbolic links.
        special: pipes, sockets and devices, which are never opened.
        leftovers: temporary files and the journal of a run that was killed.
    """

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    special: set[str] = field(default_factory=set)
    leftovers: set[str] = field(default_factory=set)


def scan(folder: str) -> OnDisk:
    """Everything below a folder, which need not exist.

    Raises:
        OSError: it, or a folder in it, cannot be read.
    """
    disk = OnDisk()
    waiting = [""] if os.path.lexists(folder) else []
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_symlink():
                    disk.links.add(path)
                elif entry.is_dir():
                    if entry.name not in _NOT_OURS_TO_JUDGE:
                        disk.folders.add(path)
                        waiting.append(path)
                elif not entry.is_file():
                    disk.special.add(path)
                elif _is_leftover(path, entry.name):
                    disk.leftovers.add(path)
                else:
                    disk.files.add(path)
    return disk


def _is_leftover(path: str, name: str) -> bool:
    if not name.startswith(LEFTOVER):
        return False
    return name.endswith(TEMPORARY) or path == JOURNAL


def link_above(root: str, folder: str) -> bool:
    """Whether a link stands on the way from the project's folder to another one."""
    way = os.path.relpath(folder, root).split(os.sep)
    return any(
        os.path.islink(os.path.join(root, *way[: length + 1]))
        for length in range(len(way))
    )


def read_file(folder: str, path: str) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read.
    """
    with open(f"{folder}/{path}", "rb", buffering=0) as stream:
        return stream.readall()
