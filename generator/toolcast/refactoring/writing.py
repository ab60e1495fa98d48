"""Writes an edit: all of its files, or none."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping

from toolcast_runtime.core.safe_folder import (
    ConcurrentRunError,
    Folder,
    SymlinkError,
    lock_output_folder,
)

from ..git.index import read_index
from .project_edit import EditRefusedError, ProjectEdit

_MAX_FILE_BYTES = 4 * 1024 * 1024
"""Size of a file that an edit reads."""

Files = Mapping[str, bytes | None]


def write(root: str, edit: ProjectEdit) -> None:
    """Writes and removes the files of an edit below `root`, which is made where it is missing.

    Raises:
        EditRefusedError: a file is not what was read, a link or something else stands in its place,
            or it cannot be written. Then every file is what it was, and no folder is new.
    """
    try:
        with Folder.open_path(root, create=True) as top, lock_output_folder(top):
            for path, data in edit.before.items():
                _refuse_other(top, path, data, edit.after)
            _replace(top, edit.before, edit.after)
    except ConcurrentRunError as error:
        raise EditRefusedError("another run is writing into this project") from error
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root).replace(os.sep, "/")
        message = f"{name}: {error.strerror or error}; nothing was written"
        raise EditRefusedError(message) from error


def refuse_loss(root: str, folder: str, edit: ProjectEdit) -> None:
    """Refuses to remove what cannot be had back: bytes that git's index does not have.

    Args:
        folder: the folder of the files that are removed.

    Raises:
        EditRefusedError: with their names.
    """
    index = read_index(root, folder)
    lost = [
        path
        for path, data in edit.before.items()
        if edit.after[path] is None
        and data is not None
        and (index is None or not index.has(path.removeprefix(f"{folder}/"), data))
    ]
    if lost:
        raise EditRefusedError(
            f"git could not give back {', '.join(lost)}",
            "`git add` it first, or remove it with `--force`",
        )


def _refuse_other(top: Folder, path: str, data: bytes | None, after: Files) -> None:
    """Raise EditRefusedError if a path does not hold the bytes that were read."""
    above, _, name = path.rpartition("/")
    instead = "edit what it leads to"
    try:
        with top.open_subfolder(above) as folder:
            there = folder.lstat(name)
            if stat.S_ISLNK(there.st_mode):
                raise EditRefusedError(f"{path} is a symbolic link", instead)
            if not there.st_mode & stat.S_IWUSR:
                raise EditRefusedError(
                    f"{path} is read-only", "let yourself write it first"
                )
            held = folder.read(name, _MAX_FILE_BYTES)
    except SymlinkError as error:
        raise EditRefusedError(f"a symbolic link leads to {path}", instead) from error
    except FileNotFoundError:
        held = None
    if held == data:
        return
    is_other_spelling = data is None and any(
        old.casefold() == path.casefold() and after[old] is None for old in after
    )
    if data is None and not is_other_spelling:
        raise EditRefusedError(f"{path} is in the way")
    if data is not None:
        raise EditRefusedError(f"{path} was changed meanwhile", "run the command again")


def _replace(top: Folder, before: Files, after: Files) -> None:
    """Writes, then removes; takes everything back when something fails."""
    done: list[str] = []
    above = {folder for path in after for folder in _above(path)}
    absent = [
        folder
        for folder in sorted(above)
        if not os.path.lexists(os.path.join(top.path, folder))
    ]
    # On a disk that knows no case, a new spelling is the same file: it is written last.
    gone = [path for path, data in after.items() if data is None]
    removed = {path.casefold() for path in gone}
    written = [path for path in after if path not in gone]
    respelled = [path for path in written if path.casefold() in removed]
    try:
        for path in (*(p for p in written if p not in respelled), *gone, *respelled):
            _put(top, path, after[path], is_new=before[path] is None)
            done.append(path)
    except BaseException:
        for path in reversed(done):
            with contextlib.suppress(OSError):
                _put(top, path, before[path])
        for folder in reversed(absent):
            outer, _, name = folder.rpartition("/")
            with contextlib.suppress(OSError), top.open_subfolder(outer) as opened:
                opened.remove_folder(name)
        raise


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _put(top: Folder, path: str, data: bytes | None, *, is_new: bool = False) -> None:
    """Writes a file, or removes it where it is to have no bytes."""
    above, _, name = path.rpartition("/")
    with top.open_subfolder(above, create=data is not None) as folder:
        if data is None:
            folder.remove_file(name)
        else:
            folder.write(name, data, is_new=is_new)
