"""Compares files in memory with the disk: five diagnoses, and what a run would do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..findings import Finding, Place, Severity
from .manifest import MANIFEST, digest, read_digests

__all__ = ["JOURNAL", "Plan", "make_plan"]

JOURNAL = ".toolcast-run.json"
_NOT_OURS_TO_JUDGE = frozenset(
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"]
)


@dataclass(frozen=True)
class Plan:
    """What stands between the disk and the files.

    Attributes:
        unchanged: on disk as it must be.
        missing: not on disk.
        stale: as an earlier run wrote it, but the specs now give something else.
        hand_edited: neither what a run wrote nor what the specs give.
        orphaned: written by an earlier run, given by no spec any more.
        foreign: no run wrote it; in the way of an output when `blocking` names it.
        blocking: the foreign ones that stand where an output goes.
        links: symbolic links in the output folder, which are never written through.
        interrupted: an earlier run did not come to its end.
    """

    unchanged: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    hand_edited: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether the disk is exactly what the specs give."""
        return not (
            self.missing
            or self.stale
            or self.hand_edited
            or self.orphaned
            or self.foreign
            or self.links
        )

    def findings(self, output: str) -> Iterator[Finding]:
        """A finding for each difference, at its file."""
        interrupted = " (an earlier run was interrupted)" if self.interrupted else ""
        for rule, paths, message, help_ in (
            (
                "output/missing",
                self.missing,
                f"the file is missing{interrupted}",
                "run `toolcast generate` and commit the result",
            ),
            (
                "output/stale",
                self.stale,
                f"the specs now give something else{interrupted}",
                "run `toolcast generate` and commit the result",
            ),
            (
                "output/hand-edited",
                self.hand_edited,
                "the file was edited by hand; the next run would lose that",
                "move the change into the spec or a template, then run"
                " `toolcast generate --force`",
            ),
            (
                "output/orphaned",
                self.orphaned,
                "no spec gives this file any more",
                "run `toolcast generate`, which removes it",
            ),
            (
                "output/foreign",
                self.foreign,
                "the file is not the generator's, in a folder that is",
                "move it out of the folder",
            ),
            (
                "output/link",
                self.links,
                "the generator never writes through a symbolic link",
                "remove the link",
            ),
        ):
            for path in paths:
                place = Place(f"{output}/{path}" if path else output)
                yield Finding(rule, Severity.ERROR, place, message, help_)


def make_plan(folder: str, files: Mapping[str, bytes]) -> Plan:
    """The plan for an output folder, which need not exist.

    Raises:
        OSError: the folder or a file in it cannot be read.
    """
    known = _known_digests(folder)
    on_disk, links = _scan(folder)
    groups: dict[str, list[str]] = {}
    for path in sorted(files):
        if path not in on_disk:
            # A file below or behind a link is as good as missing; the link is named.
            groups.setdefault("missing", []).append(path)
            continue
        found = digest(_read(folder, path))
        if found == digest(files[path]):
            group = "unchanged"
        elif path == MANIFEST or found in known.get(path, ()):
            group = "stale"
        else:
            group = "hand_edited" if path in known else "foreign"
        groups.setdefault(group, []).append(path)
    blocking = tuple(groups.get("foreign", ()))
    for path in sorted(on_disk - set(files)):
        if path not in known:
            groups.setdefault("foreign", []).append(path)
        elif digest(_read(folder, path)) in known[path]:
            groups.setdefault("orphaned", []).append(path)
        else:
            groups.setdefault("hand_edited", []).append(path)
    return Plan(
        **{name: tuple(sorted(paths)) for name, paths in groups.items()},
        blocking=blocking,
        links=tuple(links),
        interrupted=os.path.exists(os.path.join(folder, JOURNAL)),
    )


def _known_digests(folder: str) -> dict[str, set[str]]:
    """The digests that runs gave each path: the manifest's and an interrupted run's."""
    known: dict[str, set[str]] = {}
    for name in (MANIFEST, JOURNAL):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and not os.path.islink(path):
            for file, value in read_digests(_read(folder, name)).items():
                known.setdefault(file, set()).add(value)
    return known


def _scan(folder: str) -> tuple[set[str], list[str]]:
    """The files below a folder, and the symbolic links instead of files and folders."""
    if os.path.islink(folder):
        return set(), [""]
    found: set[str] = set()
    links: list[str] = []
    waiting = [""] if os.path.isdir(folder) else []
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_symlink():
                    links.append(path)
                elif entry.is_dir():
                    if entry.name not in _NOT_OURS_TO_JUDGE:
                        waiting.append(path)
                elif not entry.name.startswith(".toolcast-"):
                    found.add(path)
    return found, sorted(links)


def _read(folder: str, path: str) -> bytes:
    with open(os.path.join(folder, path), "rb") as stream:
        return stream.read()
