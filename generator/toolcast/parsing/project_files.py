"""The files of a project: where specs are read from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from toolcast_runtime.core.safe_file import read_regular_file


class OutsideProject(OSError):
    """A path leads out of the project through a link."""


class Entry(NamedTuple):
    """What a folder has under a name; a link to a folder is both."""

    name: str
    is_folder: bool = False
    is_link: bool = False


class ProjectFiles(Protocol):
    """A project's files by their paths below its root, with forward slashes.

    On disk, or as a commit has them.
    """

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of a regular file.

        Raises:
            OutsideProject: the path is a link out of the project.
            NoRegularFile: something else stands there.
            OSError: it cannot be read.
        """

    def entries(self, folder: str) -> Sequence[Entry]:
        """What a folder has, by name.

        Raises:
            OSError: it cannot be read.
        """

    def is_there(self, path: str) -> bool:
        """Whether anything stands there, were it a broken link."""

    def leads_out(self, path: str, folder: str = ".") -> bool:
        """Whether a path, its links followed, is not below a folder; by default the root."""


class DiskFiles:
    """The files of a folder as they are now."""

    def __init__(self, root: str) -> None:
        self._root = root

    def read(self, path: str, most: int) -> bytes:
        """See `ProjectFiles`."""
        place = os.path.join(self._root, path)
        if os.path.islink(place):
            if self.leads_out(path):
                raise OutsideProject(None, "a link out of the project", path)
            place = os.path.realpath(place)
        return read_regular_file(place, most, follow=False)

    def entries(self, folder: str) -> Sequence[Entry]:
        """See `ProjectFiles`."""
        with os.scandir(os.path.join(self._root, folder)) as found:
            entries = [Entry(e.name, _is_folder(e), e.is_symlink()) for e in found]
        return sorted(entries)

    def is_there(self, path: str) -> bool:
        """See `ProjectFiles`."""
        return os.path.lexists(os.path.join(self._root, path))

    def leads_out(self, path: str, folder: str = ".") -> bool:
        """See `ProjectFiles`."""
        root = os.path.realpath(os.path.join(self._root, folder))
        place = os.path.realpath(os.path.join(self._root, path))
        return os.path.commonpath([root, place]) != root


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is one, or a link to one; a link that leads in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


class EditedFiles:
    """A project's files as they will be once some of them are written and removed.

    Args:
        files: the others.
        changed: the bytes of what is written, and None for what is removed.
    """

    def __init__(
        self, files: ProjectFiles, changed: Mapping[str, bytes | None]
    ) -> None:
        self._files = files
        self._changed = changed

    def read(self, path: str, most: int) -> bytes:
        """See `ProjectFiles`."""
        if path not in self._changed:
            return self._files.read(path, most)
        data = self._changed[path]
        if data is None:
            raise FileNotFoundError(None, "it is removed", path)
        return data[:most]

    def entries(self, folder: str) -> Sequence[Entry]:
        """See `ProjectFiles`."""
        there = {entry.name: entry for entry in self._entries(folder)}
        for path, data in self._changed.items():
            above, _, name = path.rpartition("/")
            if above == folder and data is None:
                there.pop(name, None)
            elif above == folder:
                there[name] = Entry(name)
        return sorted(there.values())

    def _entries(self, folder: str) -> Sequence[Entry]:
        try:
            return self._files.entries(folder)
        except FileNotFoundError:
            if any(path.startswith(f"{folder}/") for path in self._changed):
                return ()  # it will be made
            raise

    def is_there(self, path: str) -> bool:
        """See `ProjectFiles`."""
        if path in self._changed:
            return self._changed[path] is not None
        return self._files.is_there(path)

    def leads_out(self, path: str, folder: str = ".") -> bool:
        """See `ProjectFiles`."""
        return self._files.leads_out(path, folder)
