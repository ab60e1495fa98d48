"""Reads regular files, the only way in which Toolcast reads one by its path.

A pipe, a socket or a device is never opened, let alone waited for, wherever a link leads; one
that takes a file's place meanwhile is opened without waiting and not read.

Secrets come from the environment or from files that it names, as systemd credentials, Docker and
Kubernetes secrets are.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ = os.O_RDONLY
for _flag in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"):
    _READ |= getattr(os, _flag, 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PART = 64 * 1024
_MAX_SECRET_BYTES = 64 * 1024
"""Size of a file with a secret."""


class NotRegularFileError(OSError):
    """Folder, pipe, socket, device or link in place of a regular file."""


def read_regular(
    path: str, most: int, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """The first bytes of a regular file.

    Args:
        most: how many at most; no more memory is taken than the file has bytes, about.
        follow: whether the path may be a link.
        folder: the descriptor of an open folder in which `path` is a name.

    Raises:
        NotRegularFileError: something else stands there.
        OSError: it cannot be read.
    """
    _refuse_others(
        os.stat(path, dir_fd=folder, follow_symlinks=follow), path, follow=follow
    )
    descriptor = os.open(path, _READ | (0 if follow else _NO_LINK), dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        _refuse_others(status, path, follow=follow)
        # A file may say that it has no bytes, and have some all the same.
        each = status.st_size + 1 if status.st_size else _PART
        left, parts = most, []
        while left > 0 and (part := os.read(descriptor, min(left, each))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


def _refuse_others(status: os.stat_result, path: str, *, follow: bool) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    for is_kind, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if is_kind(status.st_mode):
            raise NotRegularFileError(None, f"this is {name}, no regular file", path)
    raise NotRegularFileError(None, "this is a device, no regular file", path)


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The variable's text, or that of the file which the variable `<name>_FILE` names.

    None when nothing is set.

    Raises:
        ValueError: both are set, or the file cannot be read or is empty; never with its text.
    """
    given = environment.get(name, "").strip()
    path = environment.get(f"{name}_FILE", "").strip()
    if not path:
        return given or None
    if given:
        raise ValueError(f"set {name} or {name}_FILE, not both")
    try:
        text = read_secret(path).strip()
    except (OSError, ValueError):
        text = ""
    if not text:
        raise ValueError(f"the file that {name}_FILE names has no text to read")
    return text


def read_secret(path: str) -> str:
    """The text of a small file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no text, or far too large.
    """
    data = read_regular(path, _MAX_SECRET_BYTES + 1)
    if len(data) > _MAX_SECRET_BYTES:
        raise ValueError("too large")
    return data.decode()
