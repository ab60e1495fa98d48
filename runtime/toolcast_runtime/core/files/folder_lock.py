"""One run at a time writes into an output folder."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterator

from .folder import Folder

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class AnotherRun(Exception):
    """Another run is writing into this folder."""


@contextlib.contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Holds an output folder; the operating system lets go of it when the process ends.

    The lock is on the folder itself, so that no file is needed for it. Where a file system
    cannot lock, a run goes on without: every file is whole even then.

    Raises:
        AnotherRun: somebody else holds it.
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
            raise AnotherRun("another run is writing into this folder") from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(folder.descriptor, fcntl.LOCK_UN)


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
            raise AnotherRun("another run is writing into this folder") from error
        yield
    finally:
        os.close(descriptor)
