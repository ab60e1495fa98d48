"""Which differences a run may write away: only bytes that can be had back."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..findings import Finding, Place, Severity
from ..git.index import GitIndex, read_index
from .disk_differences import DiskDifferences, Found

__all__ = ["Decision", "Recoverable", "decide", "digest", "foreign", "never"]


def digest(data: bytes) -> str:
    """The digest by which runs know the bytes that they left."""
    return hashlib.sha256(data).hexdigest()[:32]


class Recoverable:
    """Tells bytes that can be had back from those that only the disk has.

    Args:
        root: the project's folder.
        output: the output folder below it.
        known: by path, the digests of what earlier runs left there or found right.
    """

    def __init__(
        self, root: str, output: str, known: Mapping[str, Collection[str]]
    ) -> None:
        self._root = root
        self._output = output
        self._known = known

    @cached_property
    def _index(self) -> GitIndex:
        """Asked only when something differs, which is seldom."""
        return read_index(self._root, self._output) or GitIndex({}, frozenset())

    def is_ours(self, path: str, found: Found) -> bool:
        """Whether a run made a file, whatever was done to it since."""
        return (
            found.source is not None
            or self._was_left(path, found)
            or path in self._index.unmerged
        )

    def __call__(self, path: str, found: Found) -> bool:
        """Whether a run of ours, or git, has what stands at a path."""
        if self._was_left(path, found) or path in self._index.unmerged:
            return True
        return found.data is not None and self._index.has(path, found.data)

    def _was_left(self, path: str, found: Found) -> bool:
        return found.data is not None and digest(found.data) in self._known.get(
            path, ()
        )


class Decision(NamedTuple):
    """What a run does about the differences.

    Attributes:
        write: the given paths that it writes.
        remove: the paths of ours that no spec gives any more.
        refused: why it does nothing at all; empty when it may go on.
        foreign: what it leaves where it is and names.
    """

    write: list[str]
    remove: list[str]
    refused: list[Finding]
    foreign: list[Finding]


def decide(
    difference: DiskDifferences, recoverable: Recoverable, output: str, *, force: bool
) -> Decision:
    """What to write and to remove, and what is left alone."""
    refused = [*never(difference, output)]
    write, remove, unknown = list(difference.missing), [], []
    for path, found in difference.differing.items():
        if force or recoverable(path, found):
            write.append(path)
        elif recoverable.is_ours(path, found):
            refused.append(_edited(output, path))
        else:
            refused.append(_blocked(output, path))
    for path, found in difference.others.items():
        if not recoverable.is_ours(path, found):
            unknown.append(foreign(output, path))
        elif force or recoverable(path, found):
            remove.append(path)
        else:
            refused.append(_edited(output, path))
    return Decision(sorted(write), sorted(remove), refused, unknown)


def never(difference: DiskDifferences, output: str) -> Iterator[Finding]:
    for path in difference.links:
        yield _finding(
            "link",
            output,
            path,
            "the generator never writes through a symbolic link",
            "remove the link",
        )
    for path in difference.in_the_way:
        yield _finding(
            "foreign",
            output,
            path,
            "an output goes here, and what stands here is no file of a run",
            "move it out of the folder",
        )


def _edited(output: str, path: str) -> Finding:
    return _finding(
        "differs",
        output,
        path,
        "nothing else has what this file says now, neither git's index nor an earlier"
        " run: it was probably edited by hand",
        "move the change into the spec or a template, then run"
        " `toolcast generate --force`; or `git add` the file, then generate",
    )


def _blocked(output: str, path: str) -> Finding:
    return _finding(
        "foreign",
        output,
        path,
        "an output goes here, and this file is not the generator's",
        "move it out of the folder, or run `toolcast generate --force` to replace it",
    )


def foreign(output: str, path: str) -> Finding:
    return _finding(
        "foreign",
        output,
        path,
        "the file is not the generator's, in a folder that is",
        "move it out of the folder",
    )


def _finding(rule: str, output: str, path: str, message: str, help_: str) -> Finding:
    place = Place(f"{output}/{path}" if path else output)
    return Finding(f"output/{rule}", Severity.ERROR, place, message, help_)
