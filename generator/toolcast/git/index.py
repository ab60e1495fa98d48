"""What git's index has of the output folder: bytes that it has can be had back.

Git is asked one question only, `ls-files --stage`, which reads the index and nothing else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from .program import GitFailure, run_git


class GitIndex(NamedTuple):
    """The entries of an output folder.

    Attributes:
        objects: the id of the bytes that the index has of each path below the folder.
        unmerged: the paths that a merge left in conflict.
    """

    objects: dict[str, str]
    unmerged: frozenset[str]

    def has(self, path: str, data: bytes) -> bool:
        """Whether these are the bytes of a path's entry, but for the ends of lines.

        Git may keep a file with other line ends than it has on disk.
        """
        known = self.objects.get(path)
        if known is None:
            return False
        forms = (data, data.replace(b"\r\n", b"\n"))
        return any(_object_id(form, len(known)) == known for form in forms)


def _object_id(data: bytes, length: int) -> str:
    """The id that git gives a file's bytes; its length tells which digest is used."""
    make = hashlib.sha256 if length == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read_index(root: str, output: str) -> GitIndex | None:
    """The index's entries of an output folder; None where git does not answer.

    Args:
        root: the project's folder.
        output: the output folder below it, with forward slashes.
    """
    try:
        answer = run_git(root, ["ls-files", "--stage", "-z", "--", output])
    except GitFailure:
        return None
    return _parsed(answer, f"{output}/")


def _parsed(answer: bytes, below: str) -> GitIndex:
    objects: dict[str, str] = {}
    unmerged: set[str] = set()
    for path, object_id, stage in _entries(answer):
        if not path.startswith(below):
            continue
        path = path.removeprefix(below)
        if stage == "0":
            objects[path] = object_id
        else:
            unmerged.add(path)
    return GitIndex(objects, frozenset(unmerged))


def _entries(answer: bytes) -> Iterator[tuple[str, str, str]]:
    """Path, object id and stage of each record, `mode id stage<TAB>path`."""
    for record in answer.split(b"\0"):
        head, tab, path = record.partition(b"\t")
        words = head.decode("ascii", "replace").split(" ")
        if tab and len(words) == 3 and words[0].startswith("100"):
            yield os.fsdecode(path), words[1], words[2]
