"""Reads a small file with no more calls than that takes."""

from __future__ import annotations

import os

__all__ = ["first_bytes"]

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def first_bytes(path: str, most: int) -> bytes:
    """A file's bytes, but no more than `most` of them.

    The caller knows that it is a regular file: of another kind it might wait without end.

    Raises:
        OSError: it cannot be read.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        data = os.read(descriptor, most)
        # One call gives all of a regular file, if the operating system has no reason not to.
        while (
            data
            and len(data) < most
            and (more := os.read(descriptor, most - len(data)))
        ):
            data += more
    finally:
        os.close(descriptor)
    return data
