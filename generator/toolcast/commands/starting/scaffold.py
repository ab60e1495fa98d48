"""Writes new files of a project, all or none, never over something that is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping

from toolcast_runtime.files.folder import Folder

from ..exit_codes import fail

__all__ = ["in_the_way", "refuse", "write_new"]


def in_the_way(root: str, paths: Iterable[str]) -> list[str]:
    """The paths below `root` at which something is, or that lead through a file."""
    found: dict[str, None] = {}
    for path in paths:
        steps = path.split("/")
        for length in range(1, len(steps) + 1):
            part = "/".join(steps[:length])
            absolute = os.path.join(root, part)
            is_last = length == len(steps)
            if os.path.lexists(absolute) and (is_last or not os.path.isdir(absolute)):
                found[part] = None
                break
    return list(found)


def refuse(paths: list[str], help_: str = "") -> None:
    """Ends the program with exit code 2 when one of the paths is in the way."""
    if paths:
        rows = "".join(f"\n  {path}" for path in paths)
        help_line = f"\n  help: {help_}" if help_ else ""
        what = "this is" if len(paths) == 1 else "these are"
        fail(f"{what} in the way, nothing was written:{rows}{help_line}")


def write_new(root: str, files: Mapping[str, bytes]) -> None:
    """Writes the files below `root`; takes back what it wrote when one cannot be written.

    Ends the program with exit code 2 when a file is in the way or cannot be written.
    """
    refuse(in_the_way(root, files))
    absent = [
        folder
        for folder in sorted({above for path in files for above in _above(path)})
        if not os.path.lexists(os.path.join(root, folder))
    ]
    written: list[str] = []
    try:
        with Folder.at(root, create=True) as top:
            try:
                for path, data in files.items():
                    above, _, name = path.rpartition("/")
                    with top.below(above, create=True) as folder:
                        folder.create(name, data)
                        written.append(path)
            except OSError:
                _take_back(top, written, absent)
                raise
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}; nothing was written")


def _take_back(top: Folder, paths: list[str], folders: list[str]) -> None:
    for path in paths:
        above, _, name = path.rpartition("/")
        with contextlib.suppress(OSError), top.below(above) as folder:
            folder.remove_file(name)
    for path in reversed(folders):
        above, _, name = path.rpartition("/")
        with contextlib.suppress(OSError), top.below(above) as folder:
            folder.remove_folder(name)


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
