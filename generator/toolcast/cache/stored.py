"""Parts of what earlier runs left, which are read when somebody asks for them."""

from __future__ import annotations

import errno
from typing import NamedTuple

__all__ = ["TEXTS_FORMAT", "Section", "Stored", "StoredIsGone", "length_of", "part_of"]

TEXTS_FORMAT = b"toolcast texts 1\n"


class StoredIsGone(OSError):
    """A file of the cache was replaced or changed since its pack was read."""


class Stored(NamedTuple):
    """Some bytes of a file of the cache.

    Attributes:
        path: the file.
        mark: stands in the file's second line while it is the same file.
        start: where the bytes begin.
        length: how many there are.
    """

    path: str
    mark: str
    start: int
    length: int

    def __bytes__(self) -> bytes:
        """All of them.

        Raises:
            StoredIsGone: the file is another one, or none.
        """
        return self.part(0, self.length)

    def part(self, start: int, end: int) -> bytes:
        """Those from one place to another; raises as all of them do."""
        before = TEXTS_FORMAT + self.mark.encode("ascii") + b"\n"
        try:
            with open(self.path, "rb", buffering=0) as stream:
                if stream.read(len(before)) == before:
                    stream.seek(self.start + start)
                    data = stream.read(end - start) or b""
                    if len(data) == end - start:
                        return data
        except OSError as error:
            raise StoredIsGone(error.errno, error.strerror, self.path) from error
        raise StoredIsGone(errno.ESTALE, "another run has replaced it", self.path)


Section = bytes | memoryview | Stored
"""A part of a pack."""


def length_of(section: Section) -> int:
    """How many bytes a section has."""
    return section.length if isinstance(section, Stored) else len(section)


def part_of(section: Section, start: int, end: int) -> bytes:
    """Some bytes of a section.

    Raises:
        StoredIsGone: they cannot be read any more.
        ValueError: it has fewer.
    """
    if isinstance(section, Stored):
        return section.part(start, end)
    if end > len(section):
        raise ValueError("a section of a pack is too short")
    return bytes(section[start:end])
