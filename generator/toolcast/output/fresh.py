"""Writes an output folder that is not there yet: beside it, then moved into its place.

That is all or nothing with one move instead of one a file, which are a third of the time that
a disk takes for them. What a run that was killed leaves is in the project's own folder, where
the next one that writes removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping

__all__ = ["create", "remove_unfinished", "write_fresh"]

_UNFINISHED = re.compile(r"output-[0-9a-f]{12}\.tmp")


def create(path: str, data: bytes) -> None:
    """Makes a file with the mode that the umask leaves.

    Raises:
        OSError: it cannot be written, or is there; what is written of it stays.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, memoryview(data)[written:])
    finally:
        os.close(descriptor)


def write_fresh(
    own: str,
    folder: str,
    files: Mapping[str, bytes],
    step: Callable[[], object],
) -> bool:
    """Writes all files of a folder that does not exist.

    Args:
        own: the folder in the project that is Toolcast's, which exists.
        folder: the output folder.
        files: the bytes by the path below it.
        step: is called after each file.

    Returns:
        False where that cannot be done in one move, and nothing was.

    Raises:
        OSError: a file cannot be written; there is no output folder then.
    """
    if not _can_be_moved(own, folder):
        return False
    unfinished = f"{own}/output-{os.urandom(6).hex()}.tmp"
    there: set[str] = set()
    try:
        os.mkdir(unfinished)
        for path in sorted(files):
            parent = path.rpartition("/")[0]
            if parent not in there:
                os.makedirs(f"{unfinished}/{parent}", exist_ok=True)
                there.add(parent)
            create(f"{unfinished}/{path}", files[path])
            step()
        os.rename(unfinished, folder)
    except BaseException:
        _remove(unfinished)
        raise
    return True


def _can_be_moved(own: str, folder: str) -> bool:
    if os.name != "posix" or os.path.lexists(folder) or os.path.islink(own):
        return False
    try:
        # A project's own folder can be on another disk.
        return os.stat(own).st_dev == os.stat(os.path.dirname(folder)).st_dev
    except FileNotFoundError:
        return False


def remove_unfinished(own: str) -> None:
    """Removes what runs that were killed left; the caller knows that no other is writing.

    Raises:
        OSError: it cannot be removed.
    """
    if os.path.islink(own):
        return
    for name in os.listdir(own):
        if _UNFINISHED.fullmatch(name):
            _remove(f"{own}/{name}")


def _remove(folder: str) -> None:
    if os.path.islink(folder):
        return
    for where, folders, names in os.walk(folder, topdown=False):
        for name in names:
            os.unlink(os.path.join(where, name))
        for name in folders:
            path = os.path.join(where, name)
            (os.unlink if os.path.islink(path) else os.rmdir)(path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.rmdir(folder)
