"""The changes of one file of specs, whose two states git gives."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ...findings import has_errors
from ...model.folders import DEFINITIONS_FILE, TOOLSET_FILE
from ...model.loading import KnownTools, load_workspace
from ...model.model import Workspace
from ...project import WORKSPACE_FILE
from ...reading.project_files import DiskFiles, Entry
from ..change import Change
from ..comparison import compare

__all__ = ["Unreadable", "changes_of_file"]


class Unreadable(Exception):
    """A state of the file cannot be compared; the text says why."""


def changes_of_file(
    root: str, before: tuple[str, bytes | None], after: tuple[str, bytes | None]
) -> list[Change]:
    """What has changed in a file, seen in the project as it is on disk.

    What follows for clients as a whole is left out: it is not this file's alone.

    Args:
        root: the folder of toolcast.yaml.
        before: the file's path below the root, and its bytes; None where it was not there.
        after: the same for now; another path where the file was renamed.

    Raises:
        Unreadable: one of the states has errors, or the file is no spec of the project.
    """
    known: KnownTools = {}
    sides = _loaded(root, *before, known), _loaded(root, *after, known)
    for path, data in (before, after):
        folders = [folder for side in sides for folder in side.toolset_folders]
        is_spec = path == WORKSPACE_FILE or any(
            posixpath.dirname(path) == one or path.startswith(f"{one}/")
            for one in folders
        )
        if data is not None and not is_spec:
            raise Unreadable("it is no spec of the project")
    return compare(*sides).changes


def _loaded(root: str, path: str, data: bytes | None, known: KnownTools) -> Workspace:
    loaded = load_workspace(root, files=_OneFile(root, path, data), known=known)
    if loaded.workspace is None or has_errors(loaded.findings):
        first = max(loaded.findings, key=lambda one: one.severity)
        line = f":{first.place.line}" if first.place.line else ""
        raise Unreadable(f"{first.place.file}{line}: {first.message}")
    return loaded.workspace


class _OneFile(DiskFiles):
    """A project on disk of which only one file is looked at, with other bytes."""

    def __init__(self, root: str, path: str, data: bytes | None) -> None:
        super().__init__(root)
        self._path, self._data = path, data

    def read(self, path: str, most: int) -> bytes:
        if posixpath.normpath(path) != self._path:
            return super().read(path, most)
        if self._data is None:
            raise FileNotFoundError(None, "there is no such file", path)
        return self._data[:most]

    def entries(self, folder: str) -> Sequence[Entry]:
        above, name = posixpath.split(self._path)
        # Of definitions every tool is looked at, for each may use them.
        there = {
            entry.name: entry
            for entry in super().entries(folder)
            if name == DEFINITIONS_FILE
            or entry.name in (TOOLSET_FILE, DEFINITIONS_FILE)
        }
        if above == posixpath.normpath(folder):
            there.pop(name, None)
            if self._data is not None:
                there[name] = Entry(name)
        return sorted(there.values())

    def is_there(self, path: str) -> bool:
        if posixpath.normpath(path) == self._path:
            return self._data is not None
        return super().is_there(path)
