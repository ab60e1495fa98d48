"""Compares files in memory with the disk: five diagnoses, and what a run would do."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..findings import Finding, Place, Severity
from .disk import JOURNAL, OnDisk, link_above, read_file, scan
from .manifest import MANIFEST, digest, read_digests

__all__ = ["Plan", "make_plan"]

# A line of a manifest. A merge that failed leaves such lines of both sides.
_PAIR = re.compile(
    r'^ +"(?P<file>[^"\\]+)": "(?P<digest>sha256:[0-9a-f]{64})",?$', re.M
)


class Plan(NamedTuple):
    """What stands between the disk and the files.

    Attributes:
        unchanged: on disk as it must be.
        missing: not on disk.
        stale: as an earlier run wrote it, but the specs now give something else.
        hand_edited: neither what a run wrote nor what the specs give.
        orphaned: written by an earlier run, given by no spec any more.
        foreign: no run wrote it.
        blocking: the foreign files that stand where an output goes.
        in_the_way: where an output goes stands what no file can replace.
        links: symbolic links in the output folder, which are never written through.
        leftovers: what a run that was killed left behind.
        interrupted: an earlier run did not come to its end.
        has_manifest: the manifest is there, so that own files can be told from others.
        earlier: the digests that interrupted runs gave each path.
    """

    unchanged: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    hand_edited: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    in_the_way: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    interrupted: bool = False
    has_manifest: bool = True
    earlier: Mapping[str, frozenset[str]] = MappingProxyType({})

    @property
    def is_clean(self) -> bool:
        """Whether the disk is exactly what the specs give."""
        return next(self.findings(""), None) is None

    def findings(self, output: str) -> Iterator[Finding]:
        """A finding for each difference, at its file."""
        yield from self.refusals(output, force=False)
        note = " (an earlier run was interrupted)" if self.interrupted else ""
        run = "run `toolcast generate` and commit the result"
        yield from _each(
            output, "missing", self.missing, f"the file is missing{note}", run
        )
        yield from _each(
            output, "stale", self.stale, f"the specs now give something else{note}", run
        )
        yield from _each(
            output,
            "orphaned",
            self.orphaned,
            "no spec gives this file any more",
            "run `toolcast generate`, which removes it",
        )
        yield from _each(
            output,
            "orphaned",
            self.leftovers,
            "a run that was interrupted left this behind",
            "run `toolcast generate`, which removes it",
        )

    def refusals(self, output: str, *, force: bool) -> Iterator[Finding]:
        """The findings because of which nothing is written."""
        yield from _each(
            output,
            "link",
            self.links,
            "the generator never writes through a symbolic link",
            "remove the link",
        )
        yield from _each(
            output,
            "foreign",
            self.in_the_way,
            "an output goes here, and what stands here is no file",
            "move it out of the folder",
        )
        if force:
            return
        yield from _each(
            output,
            "hand-edited",
            self.hand_edited,
            "the file was edited by hand; the next run would lose that",
            "move the change into the spec or a template, then run"
            " `toolcast generate --force`",
        )
        blocked = "an output goes here, and no run wrote this file"
        if not self.has_manifest:
            blocked += f" as far as is known without {MANIFEST}"
        yield from _each(
            output,
            "foreign",
            self.blocking,
            blocked,
            "move it out of the folder, or run `toolcast generate --force` to replace it",
        )
        yield from _each(
            output,
            "foreign",
            [path for path in self.foreign if path not in self.blocking],
            "the file is not the generator's, in a folder that is",
            "move it out of the folder",
        )


def _each(
    output: str, word: str, paths: Iterable[str], message: str, help_: str
) -> Iterator[Finding]:
    for path in paths:
        place = Place(f"{output}/{path}" if path else output)
        yield Finding(f"output/{word}", Severity.ERROR, place, message, help_)


def make_plan(folder: str, files: Mapping[str, bytes], root: str | None = None) -> Plan:
    """The plan for an output folder, which need not exist.

    Args:
        folder: the output folder.
        files: what the specs give, by the path below it.
        root: the project's folder, below which no part of the way may be a link.

    Raises:
        OSError: the folder or a file in it cannot be read.
    """
    if os.path.islink(folder) or (root is not None and link_above(root, folder)):
        return Plan(links=("",))
    known, earlier = _known_digests(folder)
    disk = scan(folder)
    groups: dict[str, list[str]] = {}
    for path in sorted(files):
        groups.setdefault(_group(folder, path, files[path], disk, known), []).append(
            path
        )
    # The link is named; that the files behind it are missing says nothing more.
    groups.pop("behind a link", None)
    blocking = tuple(groups.get("foreign", ()))
    for path in sorted(disk.files - set(files)):
        if path not in known:
            group = "foreign"
        else:
            found = digest(read_file(folder, path))
            group = "orphaned" if found in known[path] else "hand_edited"
        groups.setdefault(group, []).append(path)
    groups["in_the_way"] = sorted(_in_the_way(files, disk, groups))
    special = disk.special - set(groups["in_the_way"])
    groups.setdefault("foreign", []).extend(special)
    return Plan(
        **{name: tuple(sorted(paths)) for name, paths in groups.items()},
        blocking=blocking,
        links=tuple(sorted(disk.links)),
        leftovers=tuple(sorted(disk.leftovers)),
        interrupted=JOURNAL in disk.leftovers,
        has_manifest=MANIFEST in disk.files,
        earlier=earlier,
    )


def _group(
    folder: str,
    path: str,
    given: bytes,
    disk: OnDisk,
    known: Mapping[str, set[str]],
) -> str:
    if path not in disk.files:
        behind = any(path == link or path.startswith(f"{link}/") for link in disk.links)
        return "behind a link" if behind else "missing"
    data = read_file(folder, path)
    if data == given:
        return "unchanged"
    found = digest(data)
    if path == MANIFEST or found in known.get(path, ()):
        return "stale"
    return "hand_edited" if path in known else "foreign"


def _in_the_way(
    files: Mapping[str, bytes], disk: OnDisk, groups: Mapping[str, list[str]]
) -> Iterator[str]:
    """Folders and special files at an output's path, files where its folder goes."""
    removed = frozenset(groups.get("orphaned", ()))
    kept = disk.files - removed - set(files)
    yield from disk.special & set(files)
    for path in disk.folders & set(files):
        if any(other.startswith(f"{path}/") for other in disk.files - removed):
            yield path
    parents = {parent for path in files for parent in _parents(path)}
    yield from parents & (kept | disk.special)


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _known_digests(
    folder: str,
) -> tuple[dict[str, set[str]], dict[str, frozenset[str]]]:
    """The digests that runs gave each path; apart, those of interrupted runs."""
    known: dict[str, set[str]] = {}
    interrupted: dict[str, set[str]] = {}
    for name, tables in ((MANIFEST, [known]), (JOURNAL, [known, interrupted])):
        path = os.path.join(folder, name)
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        data = read_file(folder, name)
        for file, value in [*read_digests(data).items(), *_more_digests(data)]:
            for table in tables:
                table.setdefault(file, set()).add(value)
    return known, {file: frozenset(values) for file, values in interrupted.items()}


def _more_digests(data: bytes) -> Iterator[tuple[str, str]]:
    """The earlier digests of a journal; of a manifest in conflict those of both sides."""
    try:
        earlier = json.loads(data)["earlier"]
        for file, values in earlier.items():
            yield from ((str(file), str(value)) for value in values)
    except ValueError:
        for pair in _PAIR.finditer(data.decode("utf-8", "replace")):
            yield pair["file"], pair["digest"]
    except (KeyError, TypeError, AttributeError):
        # A manifest has no such table.
        return
