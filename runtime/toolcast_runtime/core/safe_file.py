"""Safe reading of regular files: Toolcast reads every file by its path through this module.

A pipe, socket or device is never opened, because opening it could block or have effects. If one
replaces the file between the check and the opening, it is opened without blocking and not read.

Secrets are read from environment variables, or from files that variables name, as systemd
credentials, Docker secrets and Kubernetes secrets provide them.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ = os.O_RDONLY
# With O_NONBLOCK, opening does not block if a pipe has replaced the file after the check.
for _flag in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"):
    _READ |= getattr(os, _flag, 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CHUNK_BYTES = 64 * 1024
_MAX_SECRET_BYTES = 64 * 1024
"""Maximum size of a file with a secret."""


class NotRegularFileError(OSError):
    """The path leads to a folder, pipe, socket, device or link instead of a regular file."""


def read_regular_file(
    path: str, max_bytes: int, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """Return the first bytes of a regular file.

    Args:
        path: the path of the file, or its name in `folder`.
        max_bytes: the maximum number of bytes; a smaller file needs no more memory than its
            own size.
        follow: whether the path may be a symbolic link.
        folder: the descriptor of an open folder.

    Raises:
        NotRegularFileError: the path leads to something else.
        OSError: the file cannot be read.
    """
    status = os.stat(path, dir_fd=folder, follow_symlinks=follow)
    _require_regular(status, path)
    descriptor = os.open(path, _READ | (0 if follow else _NO_LINK), dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        _require_regular(status, path)
        # Do not trust size 0: files in /proc report it although they have content.
        chunk_bytes = status.st_size + 1 if status.st_size else _CHUNK_BYTES
        remaining, chunks = max_bytes, []
        while remaining > 0:
            chunk = os.read(descriptor, min(remaining, chunk_bytes))
            if not chunk:
                break
            chunks.append(chunk)
            remaining -= len(chunk)
    finally:
        os.close(descriptor)
    return b"".join(chunks)


def _require_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    for is_kind, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if is_kind(status.st_mode):
            raise NotRegularFileError(None, f"this is {name}, not a regular file", path)
    raise NotRegularFileError(None, "this is a device, not a regular file", path)


def load_secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a secret from a variable, or from the file that `<name>_FILE` names.

    Return None if neither variable is set.

    Raises:
        ValueError: both variables are set, or the file cannot be read or is empty. The
            message never contains the secret.
    """
    value = environment.get(name, "").strip()
    path = environment.get(f"{name}_FILE", "").strip()
    if not path:
        return value or None
    if value:
        raise ValueError(f"set {name} or {name}_FILE, not both")
    try:
        text = read_secret_file(path).strip()
    except (OSError, ValueError):
        text = ""
    if not text:
        raise ValueError(f"the file that {name}_FILE names is empty or cannot be read")
    return text


def read_secret_file(path: str) -> str:
    """Return the text of a UTF-8 file of at most 64 KiB, without a byte order mark.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8, or too large for a secret.
    """
    data = read_regular_file(path, _MAX_SECRET_BYTES + 1)
    if len(data) > _MAX_SECRET_BYTES:
        raise ValueError("too large")
    return data.decode("utf-8-sig")
