"""A folder held by its descriptor: no name in it is reached through a link.

Whoever swaps a folder for a link while a run is writing gets nothing by it: the run goes on
in the folder that it opened. Where a system has no such calls (Windows), paths are looked at
and then joined, which leaves that one moment open.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TypedDict

__all__ = ["Folder", "LinkInTheWay"]

_BY_DESCRIPTOR = os.scandir in os.supports_fd and os.supports_dir_fd.issuperset(
    [os.open, os.stat, os.mkdir, os.unlink, os.rmdir, os.rename]
)
_ALL = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = _ALL | getattr(os, "O_NOFOLLOW", 0)
# A pipe that took a file's place would else be waited for.
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _ALL


class LinkInTheWay(OSError):
    """A symbolic link stands where a folder is to be opened."""


class _At(TypedDict, total=False):
    dir_fd: int


class Folder:
    """An open folder; a `with` block closes it. Every `OSError` names the whole path.

    Args:
        path: where it is.
        descriptor: None where the system cannot open folders.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor
        self._at: _At = {} if descriptor is None else {"dir_fd": descriptor}

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    @classmethod
    def of_project(cls, path: str) -> Folder:
        """A project's own folder, by whatever way the person who named it gets there.

        Raises:
            OSError: it cannot be opened.
        """
        return cls(path, os.open(path, _FOLDER) if _BY_DESCRIPTOR else None)

    def below(self, path: str, *, create: bool = False) -> Folder:
        """A folder further down, open; `path` has forward slashes.

        Args:
            create: makes what is missing of the way.

        Raises:
            LinkInTheWay: part of the way is a link.
            OSError: part of the way is missing, is no folder, or cannot be opened.
        """
        steps = path.split("/") if path else []
        own = os.dup(self.descriptor) if self.descriptor is not None else None
        folder = Folder(self.path, own)
        for step in steps:
            with folder:
                folder = folder._child(step, create=create)
        return folder

    def _child(self, name: str, *, create: bool) -> Folder:
        with self._naming(name):
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self._name(name), **self._at)
            mode = self.lstat(name).st_mode
            if stat.S_ISLNK(mode):
                raise LinkInTheWay(None, "a symbolic link is in the way")
            if not stat.S_ISDIR(mode):
                raise NotADirectoryError(None, "a folder belongs here")
            flags = _FOLDER | _NO_LINK
            opened = os.open(name, flags, **self._at) if self._at else None
        return Folder(os.path.join(self.path, name), opened)

    def entries(self) -> list[os.DirEntry[str]]:
        """What is in it, in the order of the names."""
        place = self.path if self.descriptor is None else self.descriptor
        with self._naming(""), os.scandir(place) as found:
            # Of a descriptor's entries the calls find their way by it, too.
            return sorted(found, key=lambda entry: entry.name)

    def lstat(self, name: str) -> os.stat_result:
        """What stands at a name, a link as itself.

        Raises:
            OSError: nothing does.
        """
        with self._naming(name):
            return os.stat(self._name(name), follow_symlinks=False, **self._at)

    def read(self, name: str, most: int) -> bytes:
        """The first `most` bytes of a regular file; none of what is no such file.

        Raises:
            OSError: it cannot be read.
        """
        with self._naming(name):
            descriptor = os.open(self._name(name), _READ, **self._at)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    return b""
                left, parts = min(most, status.st_size), []
                while left > 0 and (part := os.read(descriptor, left)):
                    parts.append(part)
                    left -= len(part)
            finally:
                os.close(descriptor)
        return b"".join(parts)

    def create(self, name: str, data: bytes, mode: int | None) -> None:
        """Makes a file that is not there; what was written of it stays after an error.

        Args:
            mode: None for what the umask leaves.

        Raises:
            OSError: it is there, or cannot be written.
        """
        with self._naming(name):
            descriptor = os.open(self._name(name), _NEW, 0o666, **self._at)
            try:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
                written = os.write(descriptor, data)
                while written < len(data):
                    written += os.write(descriptor, memoryview(data)[written:])
            finally:
                os.close(descriptor)

    def replace(self, old: str, new: str) -> None:
        """Moves a name of this folder to another one of it, whatever file stands there."""
        with self._naming(new):
            source, target = self._name(old), self._name(new)
            at = self.descriptor
            os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: str) -> None:
        """Removes a file or a link."""
        with self._naming(name):
            os.unlink(self._name(name), **self._at)

    def rmdir(self, name: str) -> None:
        """Removes an empty folder."""
        with self._naming(name):
            os.rmdir(self._name(name), **self._at)

    def _name(self, name: str) -> str:
        return name if self._at else os.path.join(self.path, name)

    def _naming(self, name: str) -> _Naming:
        return _Naming(self.path, name)


class _Naming:
    """Lets an error name the path that a person knows, not what the call was given."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder = folder
        self.name = name

    def __enter__(self) -> None:
        """Nothing is to be done before there is an error."""

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):
            given = error.filename
            if not isinstance(given, str) or not os.path.isabs(given):
                error.filename = os.path.join(self.folder, self.name)
                error.filename2 = None
