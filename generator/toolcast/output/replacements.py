"""Replaces files of the project itself, of which a run has written a part anew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolcast_runtime.files.folder import Folder

from ..findings import Finding, Place, Severity

__all__ = ["Replacement", "changed_meanwhile", "replace_files"]


class Replacement(NamedTuple):
    """A file that is to have other bytes.

    Attributes:
        path: below the project's root.
        before: the bytes that it was read with; it is replaced only while it has them.
        after: the bytes that it gets.
    """

    path: str
    before: bytes
    after: bytes


def changed_meanwhile(
    project: Folder, replacements: Sequence[Replacement]
) -> Iterator[Finding]:
    """A finding for each file that is not what was read any more."""
    for one in replacements:
        with contextlib.suppress(OSError):
            if _bytes_of(project, one) == one.before:
                continue
        yield Finding(
            "output/region",
            Severity.ERROR,
            Place(one.path),
            "the file was changed while the run went on",
            "run `toolcast generate` again",
        )


def replace_files(
    project: Folder, output: Folder, replacements: Sequence[Replacement]
) -> int:
    """Replaces each file that is what was read, as a whole; how many those were.

    No folder or file is reached through a link.

    Args:
        output: the output folder, in which a file is written before it is moved: there the
            next run removes what a killed one left.

    Raises:
        OSError: a file cannot be written; what was not reached stays as it was.
    """
    count = 0
    for one in replacements:
        below, _, name = one.path.rpartition("/")
        with project.below(below) as folder:
            if folder.read(name, len(one.before) + 1) == one.before:
                folder.write(name, one.after, by_way_of=output)
                count += 1
    return count


def _bytes_of(project: Folder, one: Replacement) -> bytes:
    below, _, name = one.path.rpartition("/")
    with project.below(below) as folder:
        return folder.read(name, len(one.before) + 1)
