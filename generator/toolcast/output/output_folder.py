"""The output folder: what `check` says of it, and how `generate` writes it."""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from toolcast_runtime import RUNTIME_LEVEL
from toolcast_runtime.core.safe_folder import Folder, locked

from ..findings import Finding, Location, Severity
from ..git.index import GitIndex, read_index
from .disk_differences import (
    Decision,
    DiskDifferences,
    Recoverable,
    compare,
    decide,
    find_source,
    list_obstacles,
    list_parent_folders,
    open_output,
    report_foreign_file,
)

_RUN = "run `toolcast generate` and commit the result"
_LEVEL = re.compile(rb"^require_level\((\d{1,9}), __name__\)$", re.MULTILINE)
_MANY = 20
_NAMED = 3


def diagnose(
    root: str, output: str, files: Mapping[str, bytes], difference: DiskDifferences
) -> Iterator[Finding]:
    """The findings of a comparison.

    Args:
        root: the project's folder.
        output: the output folder below it.
        files: what the specs give.
        difference: what stands between the two.
    """
    yield from list_obstacles(difference, output)
    absent = list(_absent_folders(difference, files))
    for path in absent:
        place = f"{output}/{path}".rstrip("/")
        yield _finding("missing", place, "the folder is missing", _RUN)
    missing = [
        path for path in difference.missing if not f"{path}/".startswith(tuple(absent))
    ]
    sources = {
        path: find_source(files[path]) for path in (*missing, *difference.differing)
    }
    yield from _by_source(
        "missing", output, missing, sources, "is missing", "are missing"
    )
    yield from _differing(root, output, files, difference, sources)
    yield from _others(output, difference)
    for path in difference.leftovers:
        yield _finding(
            "orphaned",
            f"{output}/{path}",
            "a run that was interrupted left this behind",
            "run `toolcast generate`, which removes it",
        )


def _absent_folders(
    difference: DiskDifferences, files: Mapping[str, bytes]
) -> Iterator[str]:
    """The outermost folders of which nothing is there, each with a slash at its end."""
    missing = set(difference.missing)
    if missing and missing == set(files):
        yield ""
        return
    there = {*difference.folders, ""}
    outermost = set()
    for path in missing:
        steps = path.split("/")[:-1]
        for end in range(1, len(steps) + 1):
            folder = "/".join(steps[:end])
            if folder not in there:
                outermost.add(f"{folder}/")
                break
    yield from sorted(outermost)


def _differing(
    root: str,
    output: str,
    files: Mapping[str, bytes],
    difference: DiskDifferences,
    sources: Mapping[str, str | None],
) -> Iterator[Finding]:
    if not difference.differing:
        return
    index = read_index(root, output) or GitIndex({}, frozenset())
    stale: list[str] = []
    for path in difference.differing:
        if path not in index.unmerged and index.has(path, files[path]):
            yield _finding(
                "differs",
                f"{output}/{path}",
                "the file was edited by hand: what the specs give is in git's index",
                "move the change into the spec or a template, then run"
                " `toolcast generate --force`",
            )
        else:
            stale.append(path)
    known = all(
        path in index.unmerged
        or (found.data is not None and index.has(path, found.data))
        for path, found in difference.differing.items()
        if path in stale
    )
    if any(_is_newer(found.data) for found in difference.differing.values()):
        words = "not what this version of Toolcast gives: a newer one wrote it"
        run = "install that one; `toolcast generate` would write what this one gives"
    elif known:
        words, run = "not what the specs give now", _RUN
    else:
        words = "not what the specs give: stale, or edited by hand"
        run = f"{_RUN}; it names what was edited and leaves it"
    yield from _by_source(
        "differs", output, stale, sources, f"is {words}", f"are {words}", run
    )


def _is_newer(data: bytes | None) -> bool:
    """Whether bytes say that code was generated for a newer runtime."""
    level = _LEVEL.search(data or b"")
    return level is not None and int(level[1]) > RUNTIME_LEVEL


def _others(output: str, difference: DiskDifferences) -> Iterator[Finding]:
    ours: dict[str, str | None] = {}
    for path, found in difference.others.items():
        if path in difference.in_the_way:
            continue
        if found.source is None:
            yield report_foreign_file(output, path)
        else:
            ours[path] = found.source
    groups: dict[str | None, list[str]] = {}
    for path in sorted(ours):
        groups.setdefault(ours[path], []).append(path)
    for source, paths in groups.items():
        yield _finding(
            "orphaned",
            f"{output}/{paths[0]}",
            f"no spec gives this file any more{_and_more(paths)}; it was made from"
            f" {source}",
            "run `toolcast generate`, which removes what can be had back",
        )


def _and_more(paths: list[str]) -> str:
    return f", nor {len(paths) - 1} more" if len(paths) > 1 else ""


def _by_source(
    rule: str,
    output: str,
    paths: Iterable[str],
    sources: Mapping[str, str | None],
    is_: str,
    are: str,
    help_: str = _RUN,
) -> Iterator[Finding]:
    """A finding for each spec, at the spec.

    Files that are made from a whole folder of specs are counted to the first spec of it that
    has a finding anyway: they change with it.
    """
    groups: dict[str, list[str]] = {}
    for path in sorted(paths):
        groups.setdefault(sources[path] or f"{output}/{path}", []).append(path)
    for folder in [source for source in groups if source.endswith("/")]:
        first = next((s for s in groups if s != folder and s.startswith(folder)), None)
        if first is not None:
            groups[first] += groups.pop(folder)
    for within in _together(groups):
        found = [path for source in within for path in groups[source]]
        place = within[0] if not within[0].endswith("/") else f"{output}/{found[0]}"
        if len(within) > 1:
            folder = within[0].rpartition("/")[0]
            named = f"{len(found)} outputs of {len(within)} specs in {folder}/"
        else:
            more = len(found) - _NAMED
            named = ", ".join(f"{output}/{path}" for path in found[:_NAMED])
            named += f" and {more} more" if more > 0 else ""
        verb = is_ if len(found) == 1 else are
        yield _finding(rule, place, f"{named} {verb}", help_)


def _together(sources: Iterable[str]) -> Iterator[list[str]]:
    """Each source by itself; those of a folder together where they are very many."""
    folders: dict[str, list[str]] = {}
    for source in sources:
        folders.setdefault(source.rpartition("/")[0], []).append(source)
    for within in folders.values():
        yield from [within] if len(within) > _MANY else ([one] for one in within)


def _finding(rule: str, place: str, message: str, help_: str) -> Finding:
    return Finding(f"output/{rule}", Severity.ERROR, Location(place), message, help_)


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


def check_unchanged(
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
            Location(one.path),
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


class WriteResult(NamedTuple):
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


def write_output(
    root: str,
    output: str,
    files: Mapping[str, bytes],
    recoverable: Recoverable,
    replacements: Sequence[Replacement] = (),
    *,
    force: bool = False,
    before: Callable[[], object] = bool,
    step: Callable[[], object] = bool,
) -> WriteResult:
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
        decision.refused.extend(check_unchanged(project, replacements))
        if folder is None or decision.refused:
            return WriteResult(0, 0, 0, decision)
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
    return WriteResult(
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
    needed = {parent for path in files for parent in list_parent_folders(path)}
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
