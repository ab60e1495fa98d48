"""Read the entries of a project's folder from git's index.

Files whose content is in the index can be overwritten without loss. The only git command is
`ls-files --stage`, which only reads the index.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from .program import GitError, run_git


class GitIndex(NamedTuple):
    """The index entries of a folder.

    Attributes:
        objects: the object id of each path below the folder.
        unmerged: the paths with merge conflicts.
    """

    objects: dict[str, str]
    unmerged: frozenset[str]

    def has(self, path: str, data: bytes) -> bool:
        """Return whether the index has these bytes for a path, ignoring CRLF line endings.

        Git may store a file with other line endings than on disk.
        """
        object_id = self.objects.get(path)
        if object_id is None:
            return False
        candidates = (data, data.replace(b"\r\n", b"\n"))
        return any(
            _compute_object_id(candidate, len(object_id)) == object_id
            for candidate in candidates
        )


def _compute_object_id(data: bytes, length: int) -> str:
    """Return git's object id of a file; `length` selects SHA-1 (40) or SHA-256 (64)."""
    make = hashlib.sha256 if length == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read_index(root: str, output: str) -> GitIndex | None:
    """Return the index entries of a folder of a project; None if git fails.

    Args:
        root: the project's folder.
        output: the folder below it, with forward slashes; empty for the project's folder.
    """
    command = ["ls-files", "--stage", "-z", "--", output or "."]
    try:
        listing = run_git(root, command)
    except GitError:
        return None
    return _parse_listing(listing, f"{output}/" if output else "")


def _parse_listing(listing: bytes, prefix: str) -> GitIndex:
    objects: dict[str, str] = {}
    unmerged: set[str] = set()
    for path, object_id, stage in _parse_entries(listing):
        if not path.startswith(prefix):
            continue
        path = path.removeprefix(prefix)
        if stage == "0":
            objects[path] = object_id
        else:
            unmerged.add(path)
    return GitIndex(objects, frozenset(unmerged))


def _parse_entries(listing: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield path, object id and stage of each regular file.

    A record has the form `mode id stage<TAB>path`.
    """
    for record in listing.split(b"\0"):
        header, tab, path = record.partition(b"\t")
        fields = header.decode("ascii", "replace").split(" ")
        # Git's modes of regular files begin with 100; links and submodules have others.
        if tab and len(fields) == 3 and fields[0].startswith("100"):
            yield os.fsdecode(path), fields[1], fields[2]
