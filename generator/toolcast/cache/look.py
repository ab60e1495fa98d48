"""The look of files from outside: what the operating system says of them, unopened.

Two equal looks mean that nothing was written, replaced, added or removed in between. A write
that restores the time of a file still changes the time of its inode, which is part of it.
"""

from __future__ import annotations

import os
from array import array
from typing import Any, NamedTuple

__all__ = ["Look", "Watched", "look_at", "outputs_watched"]

# Caches of interpreters and tools, which come and go without anybody's doing.
PASSING = frozenset(["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"])
_ABSENT = (0, 0, 0)
_FOLDER, _LINK = 0o040000, 0o120000
# A name below an open folder is found quicker than a whole path.
_BY_FOLDER = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd


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
        numbers: three for each: size, time of change, time of the inode's change. What
            replaces a file, or is another kind of thing, has another inode, made later.
    """

    names: list[str]
    numbers: array[int]

    def to_bytes(self) -> bytes:
        """The look as bytes: equal looks have equal bytes."""
        text = "\0".join(self.names).encode("utf-8", "surrogateescape")
        return b"%d\0%b" % (len(text), text) + self.numbers.tobytes()

    def newest(self) -> int:
        """The last change of anything that was seen, in nanoseconds since 1970."""
        return max([*self.numbers[1::3], *self.numbers[2::3]], default=0)


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
        look.numbers.extend((seen.st_ino & 0x7FFF_FFFF_FFFF_FFFF, seen.st_mode, 0))
    else:
        size = 0 if seen.st_mode & 0o170000 == _FOLDER else seen.st_size
        look.numbers.extend((size, seen.st_mtime_ns, seen.st_ctime_ns))


def _folder(look: Look, start: str, *, is_tree: bool) -> None:
    names: list[str] = []
    numbers: list[int] = []
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        # Says where the entries of one folder end and those of the next begin.
        names.append(f"/{len(waiting)}")
        numbers += _ABSENT
        try:
            _entries(folder, is_tree, names, numbers, waiting)
        except OSError:
            # It went away while it was looked at: the look ends here, and is another one.
            names.append("?")
            numbers += _ABSENT
    look.names.extend(names)
    look.numbers.extend(array("q", numbers))


def _entries(
    folder: str, is_tree: bool, names: list[str], numbers: list[int], waiting: list[str]
) -> None:
    """Adds what stands in a folder.

    Raises:
        OSError: it cannot be read, or something in it has just gone away.
    """
    way: dict[str, Any] = {"follow_symlinks": False}
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY) if _BY_FOLDER else None
    if descriptor is not None:
        way["dir_fd"] = descriptor
    before = "" if _BY_FOLDER else folder + os.sep
    stat, add_name, add_number = os.stat, names.append, numbers.append
    try:
        for name in os.listdir(folder if descriptor is None else descriptor):
            seen = stat(before + name, **way)
            kind = seen.st_mode & 0o170000
            if kind == _FOLDER:
                if is_tree and name not in PASSING:
                    add_name(name)
                    numbers += _ABSENT
                    waiting.append(os.path.join(folder, name))
                continue
            add_name(name)
            add_number(seen.st_size)
            add_number(seen.st_mtime_ns)
            add_number(seen.st_ctime_ns)
            if kind == _LINK:
                _behind(name, os.path.join(folder, name), names, numbers)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _behind(name: str, path: str, names: list[str], numbers: list[int]) -> None:
    """Adds what a link leads to."""
    beyond = Look([], array("q"))
    _one(beyond, f"{name} ->", path)
    names += beyond.names
    numbers += beyond.numbers
