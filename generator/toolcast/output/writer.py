"""Writes the outputs: locked, compared, temporary files, replaced."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from toolcast_runtime.files.folder import Folder
from toolcast_runtime.files.folder_lock import locked

from ..findings import Finding, Place, Severity
from .disk_differences import (
    Decision,
    Recoverable,
    compare,
    decide,
    folders_above,
    open_output,
)

__all__ = [
    "Replacement",
    "changed_meanwhile",
    "replace_files",
    "Written",
    "write",
]


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


class Written(NamedTuple):
    """What a run did.

    Attributes:
        written: how many files.
        unchanged: how many were right.
        removed: how many no spec gave any more.
        decision: what it found and refused.
        replaced: how many files of the project itself it has written a part of.
    """

    written: int
    unchanged: int
    removed: int
    decision: Decision
    replaced: int = 0


def write(
    root: str,
    output: str,
    files: Mapping[str, bytes],
    recoverable: Recoverable,
    replacements: Sequence[Replacement] = (),
    *,
    force: bool = False,
    before: Callable[[], object] = bool,
    step: Callable[[], object] = bool,
) -> Written:
    """Writes what differs, and removes what of ours is not given any more.

    When something is refused nothing is written.

    Args:
        root: the project's folder.
        output: the output folder below it, with forward slashes.
        files: all that the folder is to hold, by the path below it.
        recoverable: tells which bytes on disk can be had back.
        replacements: files of the project itself that get other bytes, last of all.
        force: overwrite what was edited by hand, and files that are in the way.
        before: is called before the first change.
        step: is called after each file.

    Raises:
        AnotherRun: somebody else is writing.
        OSError: a file cannot be written; what was not reached stays as it was.
    """
    with contextlib.ExitStack() as held:
        project = held.enter_context(Folder.at(root))
        folder, difference = open_output(project, output, create=True)
        if folder is not None:
            held.enter_context(folder)
            held.enter_context(locked(folder))
            difference = compare(folder, files)
        decision = decide(difference, recoverable, output, force=force)
        decision.refused.extend(changed_meanwhile(project, replacements))
        if folder is None or decision.refused:
            return Written(0, 0, 0, decision)
        before()
        # First, because a folder can come where a file of an earlier run was.
        for below, names in _by_folder([*decision.remove, *difference.leftovers]):
            with folder.below(below) as parent:
                for name in names:
                    parent.remove_file(name)
        _remove_empty(folder, difference.folders, files)
        nothing_there = set(difference.missing) - difference.folders
        for below, names in _by_folder(decision.write):
            with folder.below(below, create=True) as parent:
                for name in names:
                    path = f"{below}/{name}" if below else name
                    if path not in nothing_there:
                        _give_way(parent, name)
                    parent.write(name, files[path])
                    step()
        replaced = replace_files(project, folder, replacements)
    return Written(
        len(decision.write),
        len(difference.unchanged),
        len(decision.remove),
        decision,
        replaced,
    )


def _by_folder(paths: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names of the paths in it."""
    parts = sorted(path.rpartition("/")[::2] for path in paths)
    for below, group in groupby(parts, key=itemgetter(0)):
        yield below, [name for _, name in group]


def _give_way(folder: Folder, name: str) -> None:
    """Removes the empty folder in a file's place."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(folder.lstat(name).st_mode):
            folder.remove_folder(name)  # Only an empty one gets as far as this.


def _remove_empty(
    folder: Folder, folders: set[str], files: Mapping[str, bytes]
) -> None:
    """Removes the folders in which nothing is left, those deepest down first."""
    needed = {parent for path in files for parent in folders_above(path)}
    for path in sorted(folders - needed, reverse=True):
        above, _, name = path.rpartition("/")
        with contextlib.suppress(OSError), folder.below(above) as parent:
            with folder.below(path) as emptied:
                _remove_compiled(emptied)
            parent.remove_folder(name)


def _remove_compiled(folder: Folder) -> None:
    """What Python compiled of modules that are gone; nothing else in its folder is touched."""
    if [entry.name for entry in folder.entries()] != ["__pycache__"]:
        return
    with folder.below("__pycache__") as cache:
        for entry in cache.entries():
            if entry.name.endswith(".pyc") and entry.is_file(follow_symlinks=False):
                cache.remove_file(entry.name)
    folder.remove_folder("__pycache__")
