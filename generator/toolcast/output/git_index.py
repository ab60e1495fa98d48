"""What git's index has of the output folder: bytes that it has can be had back.

Git is asked one question only, `ls-files --stage`, which reads the index and nothing else.
A project's own `.git/config` may name programs (a file-system monitor, hooks, a way to fetch
what is missing); none of them may run because somebody generates.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from ..repository import repository_of

__all__ = ["GitIndex", "read_index"]

_SECONDS = 5
_SETTINGS = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=" + os.devnull,
    "core.sshCommand=false",
    "core.gitProxy=false",
    "credential.helper=",
    "protocol.allow=never",
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


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
    git, path = _program(os.path.realpath(root))
    if git is None:
        return None
    if _would_wait(root):
        return None
    import subprocess

    kept = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    settings = (*_SETTINGS, f"safe.directory={os.path.realpath(root)}")
    command = [git, "--no-pager", "--literal-pathspecs"]
    command += [word for setting in settings for word in ("-c", setting)]
    command += ["ls-files", "--stage", "-z", "--", output]
    try:
        done = subprocess.run(  # noqa: S603  # without a shell; the program is none of the project's
            command,
            cwd=root,
            env={**kept, **_ENVIRONMENT, "PATH": path, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return _parsed(done.stdout, f"{output}/") if done.returncode == 0 else None


def _would_wait(root: str) -> bool:
    """Whether git would open a pipe, or what is worse, in the repository's own folder."""
    repository = repository_of(root)
    if repository is None:
        return False
    place = os.path.join(repository, ".git")
    try:
        if not stat.S_ISDIR(os.stat(place).st_mode):
            return not stat.S_ISREG(os.stat(place).st_mode)
        with os.scandir(place) as found:
            modes = [entry.stat().st_mode for entry in found]
    except OSError:
        return True
    return not all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def _program(root: str) -> tuple[str | None, str]:
    """Git, and the search path without what is relative or lies in the project."""
    places = [
        place
        for place in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(place) and not _is_below(root, os.path.realpath(place))
    ]
    name = "git.exe" if os.name == "nt" else "git"
    for place in places:
        program = os.path.realpath(os.path.join(place, name))
        is_program = os.path.isfile(program) and os.access(program, os.X_OK)
        if is_program and not _is_below(root, program):
            return program, os.pathsep.join(places)
    return None, ""


def _is_below(root: str, path: str) -> bool:
    return f"{path}{os.sep}".startswith(root.rstrip(os.sep) + os.sep)


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
