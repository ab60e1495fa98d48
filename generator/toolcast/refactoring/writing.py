"""Writing of a planned edit: all of its files, or none."""

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

Files = Mapping[str, bytes | None]


def write_edit(root: str, edit: ProjectEdit) -> None:
    """Write and remove the files of an edit below `root`, which is created if missing.

    Raises:
        EditRefusedError: a file changed since it was read, is a symbolic link or
            read-only, or cannot be written; or another run has the project's lock. All
            files are then restored, and new folders removed.
    """
    try:
        with Folder.open_path(root, create=True) as top, lock_output_folder(top):
            for path, data in edit.before.items():
                _validate_unchanged(top, path, data, edit.after)
            # A run that was killed can have left temporary files in these folders.
            _remove_leftovers(top, edit.after)
            _replace_files(top, edit.before, edit.after)
    except ConcurrentRunError as error:
        raise EditRefusedError("another run is writing into this project") from error
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root).replace(os.sep, "/")
        message = f"{name}: {error.strerror or error}; nothing was written"
        raise EditRefusedError(message) from error


def validate_removals(root: str, folder: str, edit: ProjectEdit) -> None:
    """Raise EditRefusedError if git could not restore a file that the edit removes.

    Git can restore a file if its index has the file with the same bytes.

    Args:
        root: the project's root.
        folder: the folder of the removed files.
        edit: the planned edit.
    """
    index = read_index(root, folder)
    unrecoverable = [
        path
        for path, data in edit.before.items()
        if edit.after[path] is None
        and data is not None
        and (index is None or not index.has(path.removeprefix(f"{folder}/"), data))
    ]
    if unrecoverable:
        raise EditRefusedError(
            f"git cannot restore {', '.join(unrecoverable)}",
            "run `git add` for it first, or remove it with `--force`",
        )


def _validate_unchanged(
    top: Folder, path: str, data: bytes | None, after: Files
) -> None:
    """Raise EditRefusedError if a path does not have the bytes that were read.

    A symbolic link, and a file without write permission, are refused, too.

    Args:
        top: the project's folder.
        path: the path of the file.
        data: the bytes that were read; None for a new file.
        after: the new bytes of all files.
    """
    parent, _, name = path.rpartition("/")
    link_help = "edit the target of the link"
    try:
        with top.open_subfolder(parent) as folder:
            status = folder.lstat(name)
            if stat.S_ISLNK(status.st_mode):
                raise EditRefusedError(f"{path} is a symbolic link", link_help)
            if not status.st_mode & stat.S_IWUSR:
                raise EditRefusedError(f"{path} is read-only", "make it writable first")
            # One more byte shows that the file is longer than the data.
            current = folder.read(name, len(data or b"") + 1)
    except SymlinkError as error:
        message = f"a folder of {path} is a symbolic link"
        raise EditRefusedError(message, link_help) from error
    except FileNotFoundError:
        current = None
    if current == data:
        return
    if data is not None:
        raise EditRefusedError(
            f"{path} was changed by another program", "run the command again"
        )
    # On a file system that ignores case, the new path can already exist because it is
    # the path of a file that the edit removes.
    is_case_change = any(
        old.casefold() == path.casefold() and after[old] is None for old in after
    )
    if not is_case_change:
        raise EditRefusedError(f"{path} exists already", "move or remove it first")


def _remove_leftovers(top: Folder, after: Files) -> None:
    """Remove temporary files of killed runs from the folders of an edit."""
    for parent in {path.rpartition("/")[0] for path in after}:
        with contextlib.suppress(OSError), top.open_subfolder(parent) as folder:
            folder.remove_leftovers()


def _replace_files(top: Folder, before: Files, after: Files) -> None:
    """Write files, then remove files; on an error, restore all and raise it again."""
    finished: list[str] = []
    parents = {folder for path in after for folder in _list_parents(path)}
    new_folders = [
        folder
        for folder in sorted(parents)
        if not os.path.lexists(os.path.join(top.path, folder))
    ]
    removed = [path for path, data in after.items() if data is None]
    removed_keys = {path.casefold() for path in removed}
    written: list[str] = []
    # On a file system that ignores case, removing the old file also removes a new one whose
    # path differs only in case. Such files are written last.
    written_last: list[str] = []
    for path, data in after.items():
        if data is not None:
            is_case_change = path.casefold() in removed_keys
            (written_last if is_case_change else written).append(path)
    try:
        for path in (*written, *removed, *written_last):
            _write_or_remove(top, path, after[path], is_new=before[path] is None)
            finished.append(path)
    # Restore the files also after Ctrl+C: an edit is written as a whole or not at all.
    except BaseException:
        # Restore as many files as possible: another error must not hide the first one.
        for path in reversed(finished):
            with contextlib.suppress(OSError):
                _write_or_remove(top, path, before[path])
        for folder in reversed(new_folders):
            parent, _, name = folder.rpartition("/")
            with contextlib.suppress(OSError), top.open_subfolder(parent) as opened:
                opened.remove_folder(name)
        raise


def _list_parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _write_or_remove(
    top: Folder, path: str, data: bytes | None, *, is_new: bool = False
) -> None:
    """Write a file, or remove it if `data` is None."""
    parent, _, name = path.rpartition("/")
    with top.open_subfolder(parent, create=data is not None) as folder:
        if data is None:
            folder.remove_file(name)
        else:
            folder.write(name, data, is_new=is_new)
