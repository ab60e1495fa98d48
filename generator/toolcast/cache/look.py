"""The look of files from outside: what the operating system says of them, unopened.

Two equal looks mean that nothing was written, replaced, added or removed in between. A write
that restores the time of a file still changes the time of its inode, which is part of it.
"""

from __future__ import annotations

import os
from array import array
from typing import NamedTuple

__all__ = ["Look", "Watched", "look_at", "outputs_watched"]

# Caches of interpreters and tools, which come and go without anybody's doing.
PASSING = frozenset(["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"])
_ABSENT = (0, 0, 0, 0, 0)
# Some file systems number their inodes with all 64 bits.
_MOST = 0x7FFF_FFFF_FFFF_FFFF


class Watched(NamedTuple):
    """What is looked at; relative paths are below the root.

    Attributes:
        files: files or folders themselves, whether they are there or not.
        folders: everything directly in these folders.
        trees: everything below these folders, apart from caches.
    """

    files: list[str]
    folders: list[str]
    trees: list[str]


def outputs_watched(output: str) -> Watched:
    """What is watched of the output folder, which is a path below the root."""
    return Watched([], [], [output])


class Look(NamedTuple):
    """What was seen.

    Attributes:
        names: the paths, in the order in which they were come across.
        numbers: five for each: mode, size, time of change, of the inode's change, inode.
    """

    names: list[str]
    numbers: array[int]

    def to_bytes(self) -> bytes:
        """The look as bytes: equal looks have equal bytes."""
        text = "\0".join(self.names).encode("utf-8", "surrogateescape")
        return b"%d\0%b" % (len(text), text) + self.numbers.tobytes()

    def newest(self) -> int:
        """The last change of anything that was seen, in nanoseconds since 1970."""
        return max([*self.numbers[2::5], *self.numbers[3::5]], default=0)


def look_at(root: str, watched: Watched) -> Look:
    """Looks at everything that is watched. What cannot be read looks as if it were absent."""
    look = Look([], array("q"))
    for path in watched.files:
        _one(look, path, os.path.join(root, path))
    for path in watched.folders:
        _one(look, path, os.path.join(root, path))
        _folder(look, os.path.join(root, path), is_tree=False)
    for path in watched.trees:
        _one(look, path, os.path.join(root, path), is_root=True)
        _folder(look, os.path.join(root, path), is_tree=True)
    return look


def _one(look: Look, name: str, path: str, *, is_root: bool = False) -> None:
    try:
        seen = os.lstat(path) if is_root else os.stat(path)
    except (OSError, ValueError):
        look.names.append(name)
        look.numbers.extend(_ABSENT)
        return
    look.names.append(name)
    if is_root:
        # Caches come and go in it, and with them its times change.
        look.numbers.extend((seen.st_mode, 0, 0, 0, seen.st_ino & _MOST))
    else:
        size = 0 if _is_folder(seen.st_mode) else seen.st_size
        times = (seen.st_mtime_ns, seen.st_ctime_ns)
        look.numbers.extend((seen.st_mode, size, *times, seen.st_ino & _MOST))


def _is_folder(mode: int) -> bool:
    return mode & 0o170000 == 0o040000


def _folder(look: Look, start: str, *, is_tree: bool) -> None:
    add_name, add_numbers = look.names.append, look.numbers.extend
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        # Says where the entries of one folder end and those of the next begin.
        add_name(f"/{len(waiting)}")
        add_numbers(_ABSENT)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if is_tree and entry.name not in PASSING:
                            add_name(entry.name)
                            add_numbers(_ABSENT)
                            waiting.append(entry.path)
                        continue
                    seen = entry.stat(follow_symlinks=False)
                    add_name(entry.name)
                    add_numbers(
                        (
                            seen.st_mode,
                            seen.st_size,
                            seen.st_mtime_ns,
                            seen.st_ctime_ns,
                            seen.st_ino & _MOST,
                        )
                    )
                    if entry.is_symlink():
                        _one(look, f"{entry.name} ->", entry.path)
        except OSError:
            # It went away while it was looked at: the look ends here, and is another one.
            add_name("?")
            add_numbers(_ABSENT)
