"""Carries a plan out: whole files only, manifest last, nothing that is not ours removed."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .disk import JOURNAL, LEFTOVER, TEMPORARY
from .fresh import create, remove_unfinished, write_fresh
from .manifest import MANIFEST, digest
from .plan import Plan

__all__ = ["AnotherRun", "Written", "exclusive", "write"]

_LOCK_FOLDER = ".toolcast"


class AnotherRun(Exception):
    """Another run is writing into this project."""


class Written(NamedTuple):
    """How many files a run wrote, left as they were, and removed."""

    written: int
    unchanged: int
    removed: int


@contextlib.contextmanager
def exclusive(root: str) -> Iterator[None]:
    """Holds the project's lock; the operating system releases it when the process ends.

    Raises:
        AnotherRun: somebody else holds it.
        OSError: the lock cannot be made.
    """
    folder = os.path.join(root, _LOCK_FOLDER)
    os.makedirs(folder, exist_ok=True)
    ignore = os.path.join(folder, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="utf-8") as stream:
            stream.write("*\n")
    descriptor = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor)
        remove_unfinished(folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise AnotherRun("another run is writing into this project") from error


def write(
    folder: str,
    files: Mapping[str, bytes],
    plan: Plan,
    step: Callable[[], object] = bool,
    root: str | None = None,
) -> Written:
    """Makes the folder what the files say; the caller has settled what the plan refuses.

    A journal names the digests of this run until its end, so that after a kill the next
    run still knows which files are its own. A folder that is not there appears as a whole.

    Args:
        folder: the output folder.
        files: what it is to hold.
        plan: what stands between the two.
        step: is called after each file.
        root: the project's folder, whose lock the caller holds; without it a folder that is
            not there is filled file by file, too.

    Raises:
        OSError: a file cannot be written; what was not reached stays as it was.
    """
    if root is not None and len(plan.missing) == len(files):
        if write_fresh(os.path.join(root, _LOCK_FOLDER), folder, files, step):
            return Written(len(files), 0, 0)
    unchanged = frozenset(plan.unchanged)
    changed = sorted(files.keys() - unchanged)
    removed = [*plan.orphaned, *(p for p in plan.hand_edited if p not in files)]
    below = _Folder(folder, frozenset(plan.missing))
    if changed or removed:
        below.replace(JOURNAL, _journal(files, plan))
        # First, because a folder can come where a file of an earlier run was.
        for path in removed:
            os.unlink(os.path.join(folder, path))
            _remove_empty(folder, os.path.dirname(path))
        for path in changed:
            if path != MANIFEST:
                below.replace(path, files[path])
                step()
        if MANIFEST in changed:
            below.replace(MANIFEST, files[MANIFEST])
    for path in plan.leftovers:
        if path != JOURNAL:
            os.unlink(os.path.join(folder, path))
    if changed or removed or plan.interrupted:
        os.unlink(os.path.join(folder, JOURNAL))
    return Written(len(changed), len(unchanged), len(removed))


def _journal(files: Mapping[str, bytes], plan: Plan) -> bytes:
    """The digests of this run, and those of runs that came to no end before it.

    What the manifest on disk says already need not be said again.
    """
    earlier = {path: sorted(plan.earlier[path]) for path in sorted(plan.earlier)}
    named = {path: digest(files[path]) for path in files}
    return json.dumps({"files": named, "earlier": earlier}).encode("utf-8")


class _Folder:
    """Writes files below a folder, each as a whole, with as few calls as that takes.

    Args:
        folder: the output folder.
        missing: the paths at which nothing stands.

    """

    def __init__(self, folder: str, missing: frozenset[str]) -> None:
        self._folder = folder
        self._missing = missing
        self._made: set[str] = set()
        self._temporary = f"{LEFTOVER}{os.urandom(6).hex()}{TEMPORARY}"

    def replace(self, path: str, data: bytes) -> None:
        """Writes a file to a temporary one beside it, then moves that into its place."""
        target = f"{self._folder}/{path}"
        parent = target[: target.rindex("/")]
        if parent not in self._made:
            os.makedirs(parent, exist_ok=True)
            self._made.add(parent)
        temporary = f"{parent}/{self._temporary}"
        try:
            create(temporary, data)
            # A new file has the mode that the umask leaves, a replaced one keeps its own.
            if path not in self._missing:
                _keep_mode(target, temporary)
            try:
                os.replace(temporary, target)
            except OSError:
                if not os.path.isdir(target):
                    raise
                # The plan lets only an empty folder through.
                os.rmdir(target)
                os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def _keep_mode(target: str, temporary: str) -> None:
    """Gives a file the mode of the one that it replaces."""
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode):
        os.chmod(temporary, mode & 0o777)


def _remove_empty(folder: str, below: str) -> None:
    while below:
        absolute = os.path.join(folder, below)
        caches = os.path.join(absolute, "__pycache__")
        if os.path.isdir(caches) and set(os.listdir(absolute)) == {"__pycache__"}:
            for name in os.listdir(caches):
                os.unlink(os.path.join(caches, name))
            os.rmdir(caches)
        try:
            os.rmdir(absolute)
        except OSError:
            # Not empty: something else of ours, or not ours, is still in it.
            return
        below = os.path.dirname(below)
