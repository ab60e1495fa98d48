"""Makes and opens the runtime's own files; `folder` replaces files in a folder.

They are for their owner alone, and are never made or opened through a link at their name.
Somebody who may change the folder above them can swap them all the same: it has to be the
owner's, too.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from typing import TextIO

from .regular_file import NoRegularFile

_ALL = 0
for _flag in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"):
    _ALL |= getattr(os, _flag, 0)


def make_private(path: str, beside: Sequence[str] = ()) -> None:
    """Makes an empty file where there is none, and the folder that it is to be in.

    Args:
        beside: endings of its name with which somebody will make other files later, which
            must be no links or others' files either.

    Raises:
        NoRegularFile: a link, pipe, device or folder stands there.
        PermissionError: the file is somebody else's.
        OSError: it, or its folder, cannot be made.
    """
    os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ALL
        os.close(os.open(path, flags, 0o600))
    _refuse_others(path, os.lstat(path))
    for ending in beside:
        with contextlib.suppress(FileNotFoundError):
            _refuse_others(path + ending, os.lstat(path + ending))


def append_to(path: str) -> TextIO:
    """A file to append text to, made when it is not there.

    Raises:
        NoRegularFile: a link, pipe, device or folder stands there.
        PermissionError: the file is somebody else's.
        OSError: it cannot be opened.
    """
    with contextlib.suppress(FileNotFoundError):
        # What would be waited for, or does something when it is opened, is not opened.
        _refuse_others(path, os.lstat(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _ALL
    descriptor = os.open(path, flags, 0o600)
    try:
        _refuse_others(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "a", encoding="utf-8")
    except BaseException:
        os.close(descriptor)
        raise


def _refuse_others(path: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NoRegularFile(None, "a symbolic link is not written through", path)
    if not stat.S_ISREG(status.st_mode):
        raise NoRegularFile(None, "this is no regular file", path)
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise PermissionError(None, "the file belongs to another user", path)
