"""A folder held by its descriptor: the one place that opens for writing, and deletes.

No name in a folder is reached through a link. Whoever swaps a folder for a link while a run is
writing gets nothing by it: the run goes on in the folder that it opened. Files are written
under names that nobody can guess and that must not be there, and moved into their place. Where
a system has no such calls (Windows), paths are looked at and then joined, which leaves that one
moment open.

The runtime's own files, to which something is added as long as a process runs, are for their
owner alone, and are never made or opened through a link at their name. Somebody who may change
the folder above them can swap them all the same: it has to be the owner's, too.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from typing import TextIO, TypedDict

from .safe_file import NotRegularFileError, read_regular

_BY_DESCRIPTOR = os.scandir in os.supports_fd and os.supports_dir_fd.issuperset(
    [os.open, os.stat, os.mkdir, os.unlink, os.rmdir, os.rename]
)
_ALL = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = _ALL | getattr(os, "O_NOFOLLOW", 0)
_OWN = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _ALL
_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class SymlinkError(OSError):
    """Symbolic link in the path of a folder that is to be opened."""


class ConcurrentRunError(Exception):
    """Another run that is writing into the folder."""


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
    def at(cls, path: str, *, create: bool = False, mode: int = 0o777) -> Folder:
        """A folder that a person named, by whatever way its path leads there.

        Args:
            create: makes it and what is missing above it.
            mode: what it gets then, but for what the umask takes.

        Raises:
            OSError: it cannot be made or opened.
        """
        with _Naming(path, ""):
            if create:
                os.makedirs(path, mode=mode, exist_ok=True)
            return cls(path, os.open(path, _FOLDER) if _BY_DESCRIPTOR else None)

    def below(self, path: str, *, create: bool = False) -> Folder:
        """A folder further down, open; `path` has forward slashes.

        Args:
            create: makes what is missing of the way.

        Raises:
            SymlinkError: part of the way is a link.
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
            status = self.lstat(name)
            mode = status.st_mode
            # A junction of Windows is a folder to `stat`, and leads elsewhere.
            if stat.S_ISLNK(mode) or getattr(status, "st_reparse_tag", None):
                raise SymlinkError(None, "a symbolic link is in the way")
            if not stat.S_ISDIR(mode):
                raise NotADirectoryError(None, "a folder belongs here")
            flags = _FOLDER | _NO_LINK
            opened = os.open(name, flags, **self._at) if self._at else None
        return Folder(os.path.join(self.path, name), opened)

    def is_private(self) -> bool:
        """Whether nobody but its owner, who runs this, may change what is in it."""
        if self.descriptor is None:
            return True  # Windows, where the folders of a user are closed to others.
        status = os.fstat(self.descriptor)
        return status.st_uid == os.geteuid() and not status.st_mode & 0o022

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
        """The first `most` bytes of a regular file, which no link leads to.

        Raises:
            NotRegularFileError: something else stands there.
            OSError: it cannot be read.
        """
        with self._naming(name):
            path = self._name(name)
            return read_regular(path, most, follow=False, folder=self.descriptor)

    def write(
        self,
        name: str,
        data: bytes,
        *,
        mode: int = 0o666,
        durable: bool = False,
        is_new: bool = False,
        by_way_of: Folder | None = None,
    ) -> None:
        """Writes a file whole: beside its place, then moved there.

        A file that is there keeps its mode and owner; of a link the link is replaced.

        Args:
            mode: what a new file gets, but for what the umask takes.
            durable: waits until the bytes are on the disk.
            is_new: only where nothing is, whoever makes something there meanwhile.
            by_way_of: the folder of the same file system in which it is written before it is
                moved; default: this one. What a killed run leaves behind is there.

        Raises:
            NotRegularFileError: what is there is neither file nor link.
            FileExistsError: something is where a new file belongs.
            OSError: it cannot be written; then what was there is there.
        """
        there = None
        with contextlib.suppress(FileNotFoundError):
            there = None if is_new else self.lstat(name)
        if there is not None and stat.S_ISLNK(there.st_mode):
            there = None
        with self._naming(name):
            if there is not None and not stat.S_ISREG(there.st_mode):
                raise NotRegularFileError(None, "this is no regular file")
            temporary = f".toolcast-{os.urandom(8).hex()}.tmp"
            first = by_way_of or self
            try:
                first._create(temporary, data, mode, there, durable=durable)
                source, target = first._name(temporary), self._name(name)
                ends = {"src_dir_fd": first.descriptor, "dst_dir_fd": self.descriptor}
                if not is_new:
                    os.replace(source, target, **ends)
                    return
                try:
                    # Unlike a move, a second name is refused where something is.
                    os.link(source, target, **ends, follow_symlinks=False)
                except FileExistsError as error:
                    # It names the file beside, where paths are joined.
                    raise FileExistsError(error.errno, error.strerror) from error
                except OSError:
                    # This file system gives no file two names.
                    self._create(name, data, mode, None, durable=durable)
                os.unlink(source, **first._at)
            except BaseException:
                with contextlib.suppress(OSError):
                    first.remove_file(temporary)
                raise

    def _create(
        self,
        name: str,
        data: bytes,
        mode: int,
        like: os.stat_result | None,
        *,
        durable: bool,
    ) -> None:
        if like is not None:
            mode = stat.S_IMODE(like.st_mode) & 0o777
        descriptor = os.open(self._name(name), _NEW, mode, **self._at)
        try:
            if like is not None and hasattr(os, "fchmod"):
                # Only root may give a file away; anybody else owns it already.
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, mode)
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
            if durable:
                os.fsync(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove_file(name)
            raise
        finally:
            os.close(descriptor)

    def remove_file(self, name: str) -> None:
        """Removes a file or a link."""
        with self._naming(name):
            os.unlink(self._name(name), **self._at)

    def remove_folder(self, name: str) -> None:
        """Removes an empty folder."""
        with self._naming(name):
            os.rmdir(self._name(name), **self._at)

    def lock_file(self, name: str) -> int:
        """The descriptor of an empty file for a lock, made when it is not there."""
        with self._naming(name):
            flags = os.O_RDWR | os.O_CREAT | _NO_LINK
            return os.open(self._name(name), flags, 0o600, **self._at)

    def _name(self, name: str) -> str:
        return name if self._at else os.path.join(self.path, name)

    def _naming(self, name: str) -> _Naming:
        if name == ".." or name != os.path.basename(name):
            path = os.path.join(self.path, name)
            raise OSError(errno.EINVAL, "this leads out of the folder", path)
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


@contextlib.contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Holds an output folder; the operating system lets go of it when the process ends.

    The lock is on the folder itself, so that no file is needed for it. Where a file system
    cannot lock, a run goes on without: every file is whole even then.

    Raises:
        ConcurrentRunError: somebody else holds it.
    """
    if folder.descriptor is None:
        with _lock_file(folder.path):
            yield
        return
    import fcntl

    try:
        fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            raise ConcurrentRunError(
                "another run is writing into this folder"
            ) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(folder.descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def alone_in(folder: Folder) -> Iterator[None]:
    """Waits for others who are alone in a folder; whoever is killed keeps nobody out."""
    if folder.descriptor is not None:  # Windows cannot, nor some file systems
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(folder.descriptor, fcntl.LOCK_EX)
    yield


@contextlib.contextmanager
def _lock_file(path: str) -> Iterator[None]:
    """Windows cannot lock a folder: a file of the user's stands for it."""
    import msvcrt

    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:32]
    with Folder.at(os.environ.get("TEMP") or os.path.dirname(path)) as own:
        descriptor = own.lock_file(f"toolcast-{name}.lock")
    try:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows
        except OSError as error:
            raise ConcurrentRunError(
                "another run is writing into this folder"
            ) from error
        yield
    finally:
        os.close(descriptor)


def make_private(path: str, beside: Sequence[str] = ()) -> None:
    """Makes an empty file where there is none, and the folder that it is to be in.

    Args:
        beside: endings of its name with which somebody will make other files later, which
            must be no links or others' files either.

    Raises:
        NotRegularFileError: a link, pipe, device or folder stands there.
        PermissionError: the file is somebody else's.
        OSError: it, or its folder, cannot be made.
    """
    os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OWN
        os.close(os.open(path, flags, 0o600))
    _refuse_others(path, os.lstat(path))
    for ending in beside:
        with contextlib.suppress(FileNotFoundError):
            _refuse_others(path + ending, os.lstat(path + ending))


def append_to(path: str) -> TextIO:
    """A file to append text to, made when it is not there.

    Raises:
        NotRegularFileError: a link, pipe, device or folder stands there.
        PermissionError: the file is somebody else's.
        OSError: it cannot be opened.
    """
    with contextlib.suppress(FileNotFoundError):
        # What would be waited for, or does something when it is opened, is not opened.
        _refuse_others(path, os.lstat(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _OWN
    descriptor = os.open(path, flags, 0o600)
    try:
        _refuse_others(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "a", encoding="utf-8")
    except BaseException:
        os.close(descriptor)
        raise


def _refuse_others(path: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NotRegularFileError(None, "a symbolic link is not written through", path)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFileError(None, "this is no regular file", path)
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise PermissionError(None, "the file belongs to another user", path)
