"""The look of files from outside: what the operating system says of them, unopened.

Two equal looks mean that nothing was written, replaced, added or removed in between. A write
that restores the time of a file still changes the time of its inode, which is part of it.

A run without changes does little else than look at every file, so the calls are few: one for
each file, and none for the names in a folder whose own times say that they are the same.
"""

from __future__ import annotations

import os
import time
from array import array
from functools import partial
from itertools import chain
from operator import attrgetter

from .seen import ALONE, BELOW, LINKED, TOP, Folder, Look, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing it takes as long as looking at a thousand files.
    from collections.abc import Callable, Iterable

__all__ = ["MANY", "TICK", "UNKNOWN", "has_names", "is_same", "look_at", "stamp_of"]

TICK = 20_000_000
"""Nanoseconds within which a file may change twice and look the same; 1 jiffy is 10 ms."""
MANY = 20_000
"""From so many files on, two processes look at them."""
UNKNOWN = bytes(16)
"""The stamp of a folder in a tree whose names are to be compared each time."""

# Caches of interpreters and tools, which come and go without anybody's doing.
PASSING = frozenset([b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache"])
_FOLDER, _LINK, _KIND = 0o040000, 0o120000, 0o170000
_ABSENT = (0, 0, 0)
# A name below an open folder is found quicker than a whole path.
_BY_FOLDER = os.stat in os.supports_dir_fd
_NUMBERS = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


def stamp_of(seen: os.stat_result) -> bytes:
    """The stamp of a folder."""
    return array("q", (seen.st_mtime_ns, seen.st_ctime_ns)).tobytes()


def look_at(root: str, watched: Watched) -> Look:
    """Looks at everything that is watched. What cannot be read looks as if it were absent."""
    look = Look({}, {})
    base = os.fsencode(root)
    for file in map(os.fsencode, watched.files):
        look.numbers[file] = _one(os.path.join(base, file))
    for alone in map(os.fsencode, watched.folders):
        _folder(look, base, alone, ALONE)
    for tree in map(os.fsencode, watched.trees):
        is_link = os.path.islink(os.path.join(base, tree))
        waiting = [(tree, LINKED if is_link else TOP)]
        while waiting:
            path, kind = waiting.pop()
            _folder(look, base, path, kind)
            below = look.folders[path].below
            waiting += [(path + b"/" + name, BELOW) for name in below]
    return look


def is_same(root: str, look: Look) -> bool:
    """Whether looking again would give the same look. It ends at the first difference."""
    base = os.fsencode(root)
    for path, numbers in look.numbers.items():
        if _one(os.path.join(base, path)) != numbers:
            return False

    def is_part_same(folders: list[tuple[bytes, Folder]]) -> bool:
        return all(
            _is_same_folder(os.path.join(base, path), folder)
            for path, folder in folders
        )

    folders = [*look.folders.items()]
    if sum(len(folder.names) for _, folder in folders) < MANY:
        return is_part_same(folders)
    # Half of so many files pays for a second process.
    from .halves import both, halves

    return both(is_part_same, *halves(folders, lambda item: len(item[1].names)))


def has_names(path: bytes, folder: Folder) -> bool:
    """Whether in a folder that is there stands what was seen, and nothing else.

    Raises:
        OSError: it cannot be read.
    """
    listed = set(os.listdir(path))
    seen = {*folder.below, *folder.names}
    return seen <= listed and all(
        _is_passed_over(os.path.join(path, name), name) for name in listed - seen
    )


def _is_passed_over(path: bytes, name: bytes) -> bool:
    return name in PASSING and os.lstat(path).st_mode & _KIND == _FOLDER


def _one(path: bytes) -> bytes:
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return array("q", _ABSENT).tobytes()
    size = 0 if seen.st_mode & _KIND == _FOLDER else seen.st_size
    return array("q", (size, seen.st_mtime_ns, seen.st_ctime_ns)).tobytes()


def _is_same_folder(path: bytes, folder: Folder) -> bool:
    try:
        kind = folder.kind
        if kind in (TOP, LINKED) and os.path.islink(path) != (kind == LINKED):
            return False
        with _Open(path, kind) as opened:
            if opened.stamp != folder.stamp and (
                folder.kind == ALONE or not folder.stamp or not has_names(path, folder)
            ):
                return False
            seen = map(_NUMBERS, opened.stats(folder.names))
            return array("q", chain.from_iterable(seen)).tobytes() == folder.numbers
    except (OSError, ValueError):
        return not folder.stamp


def _folder(look: Look, base: bytes, path: bytes, kind: bytes) -> None:
    """Adds a folder to what was seen."""
    absolute = os.path.join(base, path)
    seen = look.folders[path] = Folder(kind, b"", [], [], b"")
    numbers = array("q")
    try:
        with _Open(absolute, kind) as opened:
            # First: what comes into the folder after this makes its times others.
            stamp = opened.stamp
            listed = os.listdir(absolute)
            for name, found in zip(listed, opened.stats(listed), strict=True):
                what = found.st_mode & _KIND
                if what == _FOLDER:
                    if kind != ALONE and name not in PASSING:
                        seen.below.append(name)
                    continue
                seen.names.append(name)
                numbers.extend(_NUMBERS(found))
                if what == _LINK:
                    link = path + b"/" + name
                    look.numbers[link] = _one(os.path.join(base, link))
    except OSError:
        # It is not there, or went away while it was looked at.
        return
    if kind != ALONE and max(array("q", stamp)) > time.time_ns() - TICK:
        # It may change once more without another time.
        stamp = UNKNOWN
    seen.stamp, seen.numbers = stamp, numbers.tobytes()


class _Open:
    """A folder while it is looked at; only the top of a tree may be behind a link.

    Raises:
        OSError: it cannot be read, or is no folder.
    """

    def __init__(self, path: bytes, kind: bytes) -> None:
        self._path = path
        self._descriptor: int | None = None
        if _BY_FOLDER:
            within = os.O_NOFOLLOW if kind == BELOW else 0
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | within)
            seen = os.fstat(self._descriptor)
        else:
            seen = os.stat(path, follow_symlinks=kind != BELOW)
            if seen.st_mode & _KIND != _FOLDER:
                raise NotADirectoryError(os.fsdecode(path))
        self.stamp = stamp_of(seen)

    def __enter__(self) -> _Open:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def stats(self, names: list[bytes]) -> Iterable[os.stat_result]:
        """What the operating system says of things in it, links themselves."""
        if self._descriptor is None:
            return map(os.lstat, [os.path.join(self._path, name) for name in names])
        stat: Callable[[bytes], os.stat_result] = partial(
            os.stat, dir_fd=self._descriptor, follow_symlinks=False
        )
        return map(stat, names)
