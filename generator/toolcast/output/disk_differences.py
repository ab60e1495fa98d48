"""Compares files in memory with what is on disk below the output folder."""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import NamedTuple

from toolcast_runtime.files.folder import Folder, LinkInTheWay

from .signature import source_of

__all__ = [
    "DiskDifferences",
    "Found",
    "LEFTOVER",
    "LEFT_BY_TOOLS",
    "compare",
    "compare_with_disk",
    "folders_above",
    "open_output",
]

LEFTOVER = re.compile(r"\.toolcast-[0-9a-f]{16}\.tmp")
"""The name of a file that a run writes before it moves it into its place."""
_LARGEST = 8 * 1024 * 1024
_DEEPEST = 40
_LEFT_BY_TOOLS = """
    __pycache__ *.pyc py.typed .pytest_cache .mypy_cache .ruff_cache .hypothesis
    .ipynb_checkpoints .DS_Store ._* Thumbs.db desktop.ini .directory .nfs* .fuse_hidden*
    .idea .vscode .vs *~ .*.sw? .*.swpx #*# .#* *.orig *.rej *.bak *.un~ 4913
    .*.kate-swp *___jb_tmp___ *___jb_old___
"""
LEFT_BY_TOOLS = re.compile("|".join(map(translate, _LEFT_BY_TOOLS.split())))
"""The names that operating systems, editors, Git and Python's tools leave in any folder."""


class Found(NamedTuple):
    """A regular file that is not what the specs give.

    Attributes:
        data: its bytes; None of one that is too large to be of a run.
        source: what its signature says that it was made from; None without one.
    """

    data: bytes | None
    source: str | None


@dataclass
class DiskDifferences:
    """What stands between the disk and the files. Paths are below the output folder.

    Attributes:
        unchanged: on disk as they must be.
        missing: not on disk.
        differing: what stands at a given path instead.
        others: what stands where no file is given.
        links: symbolic links, which are never written through; "" is the folder itself.
        in_the_way: what no file can replace, where an output or its folder goes.
        leftovers: temporary files of runs that were killed.
        folders: every folder.
    """

    unchanged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    differing: dict[str, Found] = field(default_factory=dict)
    others: dict[str, Found] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    in_the_way: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)

    @property
    def is_exact(self) -> bool:
        """Whether the disk is exactly what the specs give."""
        return not (
            self.missing
            or self.differing
            or self.others
            or self.links
            or self.in_the_way
            or self.leftovers
        )


def compare_with_disk(
    root: str, output: str, files: Mapping[str, bytes]
) -> DiskDifferences:
    """The differences of a project's output folder, for who will not write into it.

    Raises:
        OSError: a folder or file cannot be read.
    """
    with contextlib.ExitStack() as held:
        project = held.enter_context(Folder.at(root))
        folder, blocked = open_output(project, output)
        if blocked.links or blocked.in_the_way:
            return blocked
        if folder is not None:
            held.enter_context(folder)
        return compare(folder, files)


def open_output(
    project: Folder, output: str, *, create: bool = False
) -> tuple[Folder | None, DiskDifferences]:
    """The output folder, open, or None with what keeps it from being opened.

    Raises:
        OSError: it, or what is above it, cannot be read.
    """
    try:
        return project.below(output, create=create), DiskDifferences()
    except LinkInTheWay:
        return None, DiskDifferences(links=[""])
    except NotADirectoryError:
        return None, DiskDifferences(in_the_way=[""])
    except FileNotFoundError:
        return None, DiskDifferences()


def compare(folder: Folder | None, files: Mapping[str, bytes]) -> DiskDifferences:
    """The differences of an output folder; None is one that is not there.

    Raises:
        OSError: a folder or file in it cannot be read.
    """
    result = DiskDifferences()
    special: set[str] = set()
    for entry in _walk(folder, files) if folder is not None else ():
        if stat.S_ISDIR(entry.mode):
            result.folders.add(entry.path)
        elif stat.S_ISLNK(entry.mode):
            result.links.append(entry.path)
        elif not stat.S_ISREG(entry.mode):
            special.add(entry.path)
        elif LEFTOVER.fullmatch(entry.path.rpartition("/")[2]):
            result.leftovers.append(entry.path)
        else:
            _sort_in(entry, files.get(entry.path), result)
    there = {*result.unchanged, *result.differing, *result.others, *special}
    parents = {parent for path in files for parent in folders_above(path)}
    # An empty folder gives way to a file, and a file of ours to a folder.
    full = {p for path in there - _of_ours(result) for p in folders_above(path)}
    in_the_way = (special | full) & files.keys() | special & parents
    in_the_way |= {p for p in parents & result.others.keys() if _is_foreign(result, p)}
    result.in_the_way = sorted(in_the_way)
    behind = tuple(f"{link}/" for link in result.links)
    result.missing = sorted(
        path
        for path in files.keys() - there - in_the_way - set(result.links)
        if not path.startswith(behind)
    )
    for path in sorted(special - in_the_way):
        result.others[path] = Found(None, None)
    return result


def _of_ours(result: DiskDifferences) -> set[str]:
    return {path for path in result.others if not _is_foreign(result, path)}


def _is_foreign(result: DiskDifferences, path: str) -> bool:
    return result.others[path].source is None


class _Entry(NamedTuple):
    path: str
    mode: int
    size: int
    folder: Folder

    def read(self, most: int) -> bytes:
        return self.folder.read(self.path.rpartition("/")[2], most)


def _walk(top: Folder, files: Container[str]) -> Iterator[_Entry]:
    """Everything below a folder that is judged; a file can be read until the next one."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with top.below(below) as folder:
            for entry in folder.entries():
                path = f"{below}/{entry.name}" if below else entry.name
                if path not in files and LEFT_BY_TOOLS.fullmatch(entry.name):
                    continue
                status = entry.stat(follow_symlinks=False)
                mode = status.st_mode
                if stat.S_ISDIR(mode):
                    if path.count("/") < _DEEPEST:
                        waiting.append(path)
                    else:
                        mode = 0  # Whatever it holds, it is none of ours.
                yield _Entry(path, mode, status.st_size, folder)


def _sort_in(entry: _Entry, given: bytes | None, result: DiskDifferences) -> None:
    if given is not None and entry.size == len(given):
        data = entry.read(len(given))
        if data == given:
            result.unchanged.append(entry.path)
            return
    group = result.others if given is None else result.differing
    if entry.size > _LARGEST:
        group[entry.path] = Found(None, source_of(entry.read(4_000)))
        return
    data = entry.read(_LARGEST)
    group[entry.path] = Found(data, source_of(data))


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first, without the top."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
