"""Read access to a project's files: on disk, in a commit, or with pending edits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from toolcast_runtime.core.safe_file import read_regular_file


class OutsideProjectError(OSError):
    """Path that leads out of the project through a symbolic link."""


class Entry(NamedTuple):
    """An entry of a folder.

    `is_folder` is also true for a symbolic link to a folder.
    """

    name: str
    is_folder: bool = False
    is_link: bool = False


class ProjectFiles(Protocol):
    """Interface for reading a project's files on disk, in a commit or with edits.

    Paths are relative to the project root, with forward slashes.
    """

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return at most `max_bytes` bytes from the start of a regular file.

        Raises:
            OutsideProjectError: the path is a symbolic link out of the project.
            NotRegularFileError: the path is not a regular file.
            OSError: the file cannot be read.
        """

    def entries(self, folder: str) -> Sequence[Entry]:
        """Return the entries of a folder, sorted by name.

        Raises:
            OSError: the folder cannot be read.
        """

    def is_there(self, path: str) -> bool:
        """Return whether the path exists; True for a broken symbolic link, too."""

    def is_outside(self, path: str, folder: str = ".") -> bool:
        """Return whether a path, with links resolved, is outside `folder` (default: root)."""


class DiskFiles:
    """The current files of a folder on disk."""

    def __init__(self, root: str) -> None:
        self._root = root

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return at most `max_bytes` bytes of a file; see `ProjectFiles.read`."""
        full_path = os.path.join(self._root, path)
        if os.path.islink(full_path):
            if self.is_outside(path):
                raise OutsideProjectError(None, "a link out of the project", path)
            # A link inside the project is followed; `read_regular_file` would refuse
            # it.
            full_path = os.path.realpath(full_path)
        return read_regular_file(full_path, max_bytes, follow=False)

    def entries(self, folder: str) -> Sequence[Entry]:
        """Return the entries of a folder, sorted by name."""
        with os.scandir(os.path.join(self._root, folder)) as found:
            entries = [Entry(e.name, _is_folder(e), e.is_symlink()) for e in found]
        return sorted(entries)

    def is_there(self, path: str) -> bool:
        """Return whether the path exists, also as a broken symbolic link."""
        return os.path.lexists(os.path.join(self._root, path))

    def is_outside(self, path: str, folder: str = ".") -> bool:
        """Return whether a path, with links resolved, is outside a folder."""
        root = os.path.realpath(os.path.join(self._root, folder))
        target = os.path.realpath(os.path.join(self._root, path))
        return os.path.commonpath([root, target]) != root


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder or a link to one.

    False for a link to itself, which cannot be resolved.
    """
    try:
        return entry.is_dir()
    except OSError:
        return False


class EditedFiles:
    """A project's files as they will be after pending edits.

    Args:
        files: the files without the edits.
        changed: the new bytes by path; None for a removed file.
    """

    def __init__(
        self, files: ProjectFiles, changed: Mapping[str, bytes | None]
    ) -> None:
        self._files = files
        self._changed = changed

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return at most `max_bytes` bytes of a file after the edits.

        Raises:
            FileNotFoundError: the edits remove the file.
            OSError: see `ProjectFiles.read`.
        """
        if path not in self._changed:
            return self._files.read(path, max_bytes)
        data = self._changed[path]
        if data is None:
            raise FileNotFoundError(None, "the file is removed", path)
        return data[:max_bytes]

    def entries(self, folder: str) -> Sequence[Entry]:
        """Return the entries of a folder after the edits, sorted by name.

        A folder that only the edits create has entries, too.
        """
        entries = {entry.name: entry for entry in self._read_entries(folder)}
        for path, data in self._changed.items():
            parent, _, name = path.rpartition("/")
            if parent == folder and data is None:
                entries.pop(name, None)
            elif parent == folder:
                entries[name] = Entry(name)
        return sorted(entries.values())

    def _read_entries(self, folder: str) -> Sequence[Entry]:
        try:
            return self._files.entries(folder)
        except FileNotFoundError:
            if any(path.startswith(f"{folder}/") for path in self._changed):
                return ()  # The edits create this folder.
            raise

    def is_there(self, path: str) -> bool:
        """Return whether the path exists after the edits."""
        if path in self._changed:
            return self._changed[path] is not None
        return self._files.is_there(path)

    def is_outside(self, path: str, folder: str = ".") -> bool:
        """Return whether a path is outside a folder; edits do not change that."""
        return self._files.is_outside(path, folder)
