"""What `check` says of the differences: one line for each spec that caused some.

The signature of a file names the spec that it is made from, so that a changed spec is named
once, however many files it goes into. What was edited by hand is no spec's doing and has a
line of its own, and so has a file that is none of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from toolcast_runtime import LEVEL

from ..findings import Finding, Place, Severity
from ..git.index import GitIndex, read_index
from .disk_differences import DiskDifferences, foreign, never, source_of

__all__ = ["diagnose"]

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
    yield from never(difference, output)
    absent = list(_absent_folders(difference, files))
    for path in absent:
        place = f"{output}/{path}".rstrip("/")
        yield _finding("missing", place, "the folder is missing", _RUN)
    missing = [
        path for path in difference.missing if not f"{path}/".startswith(tuple(absent))
    ]
    sources = {
        path: source_of(files[path]) for path in (*missing, *difference.differing)
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
    return level is not None and int(level[1]) > LEVEL


def _others(output: str, difference: DiskDifferences) -> Iterator[Finding]:
    ours: dict[str, str | None] = {}
    for path, found in difference.others.items():
        if path in difference.in_the_way:
            continue
        if found.source is None:
            yield foreign(output, path)
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
    for within in _by_folder(groups):
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


def _by_folder(sources: Iterable[str]) -> Iterator[list[str]]:
    """Each source by itself; those of a folder together where they are very many."""
    folders: dict[str, list[str]] = {}
    for source in sources:
        folders.setdefault(source.rpartition("/")[0], []).append(source)
    for within in folders.values():
        yield from [within] if len(within) > _MANY else ([one] for one in within)


def _finding(rule: str, place: str, message: str, help_: str) -> Finding:
    return Finding(f"output/{rule}", Severity.ERROR, Place(place), message, help_)
