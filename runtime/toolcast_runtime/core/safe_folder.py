"""Safe access to folders: all files are written, locked and deleted through this module.

A `Folder` is opened once and then accessed by its file descriptor. No name in it is followed
through a symbolic link, so replacing a folder by a link during a run has no effect: the run
continues in the folder that it opened. Files are written under random, new names and then
renamed. On systems without these calls (Windows), paths are checked and then joined, and a link
that is created between the two steps is followed.

The runtime's own files, which it appends to, are readable only by their owner, and are never
created or opened through a link. A user who can change the folder above them can still replace
them, so that folder should also belong to the owner.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import TextIO, TypedDict

from .safe_file import NotRegularFileError, read_regular_file

_HAS_DESCRIPTORS = os.scandir in os.supports_fd and os.supports_dir_fd.issuperset(
    [os.open, os.stat, os.mkdir, os.unlink, os.rmdir, os.rename]
)
_COMMON = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = _COMMON | getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
_LEFTOVER = re.compile(r"\.toolcast-[0-9a-f]{16}\.tmp")
_LOCKED_ERRORS = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class SymlinkError(OSError):
    """Symbolic link in the path to a folder, which is not followed."""


class ConcurrentRunError(Exception):
    """Lock of a folder that another run holds."""


class _DirFd(TypedDict, total=False):
    dir_fd: int


class Folder:
    """Open folder, which a `with` block closes. Every `OSError` contains the whole path.

    Args:
        path: the folder's path.
        descriptor: its open descriptor; None if the system cannot open folders.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor
        self._dir_fd: _DirFd = {} if descriptor is None else {"dir_fd": descriptor}

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    @classmethod
    def open_path(cls, path: str, *, create: bool = False, mode: int = 0o777) -> Folder:
        """Open a folder that the user named; links in its path are followed.

        Args:
            path: the folder's path.
            create: whether to create the folder and its missing parents.
            mode: the permissions of created folders, before the umask is applied.

        Raises:
            OSError: the folder cannot be created or opened.
        """
        with _PathInErrors(path, ""):
            if create:
                os.makedirs(path, mode=mode, exist_ok=True)
            return cls(path, os.open(path, _FOLDER) if _HAS_DESCRIPTORS else None)

    def open_subfolder(self, path: str, *, create: bool = False) -> Folder:
        """Open a folder below this one without following links.

        Args:
            path: the relative path, with forward slashes.
            create: whether to create missing folders.

        Raises:
            SymlinkError: a part of the path is a link.
            OSError: a part of the path is missing, is not a folder, or cannot be opened.
        """
        names = path.split("/") if path else []
        duplicate = os.dup(self.descriptor) if self.descriptor is not None else None
        folder = Folder(self.path, duplicate)
        for name in names:
            with folder:
                folder = folder._open_child(name, create=create)
        return folder

    def _open_child(self, name: str, *, create: bool) -> Folder:
        with self._path_in_errors(name):
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self._resolve(name), **self._dir_fd)
            status = self.lstat(name)
            mode = status.st_mode
            # Reject Windows junctions too: `os.stat` reports a junction as a folder, although
            # it is a kind of link.
            if stat.S_ISLNK(mode) or getattr(status, "st_reparse_tag", None):
                raise SymlinkError(None, "a symbolic link is not followed here")
            if not stat.S_ISDIR(mode):
                raise NotADirectoryError(None, "this is not a folder")
            flags = _FOLDER | _NO_LINK
            descriptor = os.open(name, flags, **self._dir_fd) if self._dir_fd else None
        return Folder(os.path.join(self.path, name), descriptor)

    def is_private(self) -> bool:
        """Return whether only the user of this process may change the folder."""
        if self.descriptor is None:
            # On Windows, other users cannot change a user's folders by default.
            return True
        status = os.fstat(self.descriptor)
        return status.st_uid == os.geteuid() and not status.st_mode & 0o022

    def list_entries(self) -> list[os.DirEntry[str]]:
        """Return the folder's entries, sorted by name."""
        # Scan by descriptor if possible: `stat` calls of the entries then use it, too.
        target = self.path if self.descriptor is None else self.descriptor
        with self._path_in_errors(""), os.scandir(target) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def lstat(self, name: str) -> os.stat_result:
        """Return the status of an entry; a link is not followed.

        Raises:
            OSError: the entry does not exist.
        """
        with self._path_in_errors(name):
            return os.stat(self._resolve(name), follow_symlinks=False, **self._dir_fd)

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the first bytes of a regular file; a link is not followed.

        Raises:
            NotRegularFileError: the entry is not a regular file.
            OSError: the file cannot be read.
        """
        with self._path_in_errors(name):
            path = self._resolve(name)
            return read_regular_file(
                path, max_bytes, follow=False, folder=self.descriptor
            )

    def write(
        self,
        name: str,
        data: bytes,
        *,
        mode: int = 0o666,
        durable: bool = False,
        is_new: bool = False,
        temporary_folder: Folder | None = None,
    ) -> None:
        """Write a file atomically: to a temporary file, which is then renamed.

        An existing file keeps its permissions and owner. A link is replaced by the file.

        Args:
            name: the file's name.
            data: the file's content.
            mode: the permissions of a new file, before the umask is applied.
            durable: whether to wait until the bytes are on the disk.
            is_new: whether the file must not exist yet, even at the moment of renaming.
            temporary_folder: the folder for the temporary file, in the same file system;
                default: this one. A process that is killed leaves the temporary file there.

        Raises:
            NotRegularFileError: the existing entry is neither a file nor a link.
            FileExistsError: the file must be new, and an entry exists.
            OSError: the file cannot be written; the old content is unchanged.
        """
        existing = None
        with contextlib.suppress(FileNotFoundError):
            existing = None if is_new else self.lstat(name)
        if existing is not None and stat.S_ISLNK(existing.st_mode):
            existing = None
        with self._path_in_errors(name):
            if existing is not None and not stat.S_ISREG(existing.st_mode):
                raise NotRegularFileError(None, "this is not a regular file")
            temporary = f".toolcast-{os.urandom(8).hex()}.tmp"
            folder = temporary_folder or self
            try:
                folder._create(temporary, data, mode, existing, durable=durable)
                source, target = folder._resolve(temporary), self._resolve(name)
                descriptors = {
                    "src_dir_fd": folder.descriptor,
                    "dst_dir_fd": self.descriptor,
                }
                if not is_new:
                    os.replace(source, target, **descriptors)
                    return
                try:
                    # Use a hard link: creating it fails if the name exists, while a rename
                    # would replace the existing file.
                    os.link(source, target, **descriptors, follow_symlinks=False)
                except FileExistsError as error:
                    # The original error may name the temporary file; `_path_in_errors` adds the
                    # path of the target to a new error.
                    raise FileExistsError(error.errno, error.strerror) from error
                except OSError:
                    # The file system has no hard links: create the target file directly.
                    self._create(name, data, mode, None, durable=durable)
                os.unlink(source, **folder._dir_fd)
            except BaseException:
                with contextlib.suppress(OSError):
                    folder.remove_file(temporary)
                raise

    def _create(
        self,
        name: str,
        data: bytes,
        mode: int,
        existing: os.stat_result | None,
        *,
        durable: bool,
    ) -> None:
        """Create a new file with data and the permissions and owner of `existing`, if any."""
        if existing is not None:
            mode = stat.S_IMODE(existing.st_mode) & 0o777
        descriptor = os.open(self._resolve(name), _NEW, mode, **self._dir_fd)
        try:
            if existing is not None and hasattr(os, "fchmod"):
                # Only root may change the owner. For other users the new file usually has the
                # right owner already.
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, existing.st_uid, existing.st_gid)
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
        """Remove a file or a link."""
        with self._path_in_errors(name):
            os.unlink(self._resolve(name), **self._dir_fd)

    def remove_leftovers(self) -> None:
        """Remove temporary files that killed processes left in this folder.

        The caller must hold a lock, so that no other process writes into the folder.
        """
        for entry in self.list_entries():
            if _LEFTOVER.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    self.remove_file(entry.name)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        with self._path_in_errors(name):
            os.rmdir(self._resolve(name), **self._dir_fd)

    def open_lock_file(self, name: str) -> int:
        """Return the descriptor of an empty file for a lock; create the file if missing."""
        with self._path_in_errors(name):
            flags = os.O_RDWR | os.O_CREAT | _NO_LINK
            return os.open(self._resolve(name), flags, 0o600, **self._dir_fd)

    def _resolve(self, name: str) -> str:
        """Return the path for a system call: relative to the descriptor if there is one."""
        return name if self._dir_fd else os.path.join(self.path, name)

    def _path_in_errors(self, name: str) -> _PathInErrors:
        if name == ".." or name != os.path.basename(name):
            path = os.path.join(self.path, name)
            raise OSError(errno.EINVAL, "this leads out of the folder", path)
        return _PathInErrors(self.path, name)


class _PathInErrors:
    """Context manager that replaces a bare name in an `OSError` by the whole path."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder = folder
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):
            filename = error.filename
            if not isinstance(filename, str) or not os.path.isabs(filename):
                error.filename = os.path.join(self.folder, self.name)
                error.filename2 = None


@contextlib.contextmanager
def lock_output_folder(folder: Folder) -> Iterator[None]:
    """Lock an output folder for a run; the system releases the lock if the process ends.

    The folder itself is locked, so no lock file is needed. On a file system without locks
    the run continues unlocked: files are still written atomically.

    Raises:
        ConcurrentRunError: another process has locked the folder.
    """
    if folder.descriptor is None:
        with _lock_user_file(folder.path):
            yield
        return
    import fcntl

    try:
        fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCKED_ERRORS:
            raise ConcurrentRunError(
                "another run is writing into this folder"
            ) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(folder.descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def wait_for_folder_lock(folder: Folder) -> Iterator[None]:
    """Wait for the lock on a folder; the system releases the lock of a killed process.

    Without effect on Windows and on file systems without locks. The lock is released when
    the folder is closed.
    """
    if folder.descriptor is not None:
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(folder.descriptor, fcntl.LOCK_EX)
    yield


@contextlib.contextmanager
def _lock_user_file(path: str) -> Iterator[None]:
    """Lock a file in the user's temporary folder instead of a folder, on Windows."""
    import msvcrt

    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:32]
    with Folder.open_path(os.environ.get("TEMP") or os.path.dirname(path)) as temporary:
        descriptor = temporary.open_lock_file(f"toolcast-{name}.lock")
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


def create_private_file(path: str, suffixes: Sequence[str] = ()) -> None:
    """Create an empty file that only its owner can read, and its folder, if missing.

    Args:
        path: the file's path.
        suffixes: suffixes of the names of further files that a library will create next to
            this one, such as a database's journal. If they exist, they are checked as well.

    Raises:
        NotRegularFileError: a link, pipe, device or folder exists at the path.
        PermissionError: the file belongs to another user.
        OSError: the file or its folder cannot be created.
    """
    os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PRIVATE
        os.close(os.open(path, flags, 0o600))
    _require_own_file(path, os.lstat(path))
    for suffix in suffixes:
        with contextlib.suppress(FileNotFoundError):
            _require_own_file(path + suffix, os.lstat(path + suffix))


def open_for_append(path: str) -> TextIO:
    """Open a private text file for appending; create it if missing.

    Raises:
        NotRegularFileError: a link, pipe, device or folder exists at the path.
        PermissionError: the file belongs to another user.
        OSError: the file cannot be opened.
    """
    with contextlib.suppress(FileNotFoundError):
        # Check the type before opening: opening a pipe can block, and opening a device can
        # have effects.
        _require_own_file(path, os.lstat(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PRIVATE
    descriptor = os.open(path, flags, 0o600)
    try:
        _require_own_file(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "a", encoding="utf-8")
    except BaseException:
        os.close(descriptor)
        raise


def _require_own_file(path: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NotRegularFileError(None, "a symbolic link is not written through", path)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFileError(None, "this is not a regular file", path)
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise PermissionError(None, "the file belongs to another user", path)
