"""What earlier runs left, in the user's own cache folder: nothing of it lies in a project.

Two files a project. `last-run` says how the last `toolcast generate` ended and how all that
it depended on looked: while nothing looks different, the same command prints the same again.
`digests` has the bytes that runs left or found right, by digest: they can be had back, so that
a run may overwrite them. Both are for convenience only: without them a run does all its work,
and overwrites what git has. `check` reads neither.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["Ended", "known_digests", "note_digests", "remember", "repeated"]

_FORMAT = "1"
_EACH = 20
_MOST_PATHS = 100_000
_PASSED_BY = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
# Times of files come from a clock that may be this much behind, or count in whole seconds.
_TICK = 50_000_000
_COARSE = 2_000_000_000


class Ended(NamedTuple):
    """How a run ended: its exit code, and what it wrote to both streams."""

    code: int
    out: str
    err: str


def repeated(root: str, command: str) -> Ended | None:
    """How a run of the command would end, known without running: nothing has changed.

    Args:
        root: the folder of toolcast.yaml.
        command: all that says which command it is: its words, its place, its terminal.
    """
    text = _read(root, "last-run")
    # One part more, so that a file that was cut off is none.
    parts = text.split("\0\0\n")
    if len(parts) != 8 or parts[0] != _identity(command):
        return None
    places, recent, code, out, err, looks, _ = parts[1:]
    trees = places.split("\0") if places else []
    if _looks(trees)[0] != looks or not code.isdecimal():
        return None
    for line in recent.split("\0") if recent else []:
        digest, _, path = line.partition(" ")
        if _digest_of(path) != digest:
            return None
    ended = Ended(int(code), out, err)
    if recent:
        # By now these files are old enough to be told by how they look.
        _remember(root, command, trees, ended, {})
    return ended


def remember(
    root: str,
    command: str,
    began: int,
    inputs: Iterable[str],
    output: str | None,
    files: Mapping[str, bytes],
    ended: Ended,
) -> None:
    """Keeps how a run ended, if nothing that it read was changed meanwhile.

    Args:
        began: the nanoseconds at which the run began.
        inputs: the files and folders that decided; a folder counts with all that is in it.
        output: the output folder, which holds exactly the files; None when the run did not
            look at it.
        files: what it holds.
    """
    inputs = [os.path.abspath(path) for path in dict.fromkeys(inputs)]
    newest = _looks(inputs)[1]
    if newest >= began - (_TICK if newest % 1_000_000_000 else _COARSE):
        return
    if output is None:
        _remember(root, command, inputs, ended, {})
    else:
        digests = {f"{output}/{path}": data for path, data in files.items()}
        _remember(root, command, [*inputs, output], ended, digests)


def _remember(
    root: str,
    command: str,
    trees: list[str],
    ended: Ended,
    files: Mapping[str, bytes],
) -> None:
    now = time.time_ns()
    looks, newest = _looks(trees)
    recent = []
    if newest >= now - _COARSE:
        for path, data in files.items():
            with contextlib.suppress(OSError):
                if _changed(os.lstat(path)) >= now - _COARSE:
                    recent.append(f"{hashlib.sha256(data).hexdigest()} {path}")
    parts = [_identity(command), "\0".join(trees), "\0".join(recent), str(ended.code)]
    _write(root, "last-run", "\0\0\n".join([*parts, ended.out, ended.err, looks, ""]))


def _identity(command: str) -> str:
    """What else decides: the day, for suppressions end, Python, and what is installed."""
    day = time.strftime("%Y-%m-%d")
    installed = []
    for place in sys.path:
        # A folder changes when something is installed into it; the one we are called in
        # changes all the time.
        if place and place != os.getcwd():
            with contextlib.suppress(OSError):
                installed.append(f"{place} {os.stat(place).st_mtime_ns}")
    return "\n".join([_FORMAT, day, sys.version, __file__, *installed, command])


def _looks(places: Iterable[str]) -> tuple[str, int]:
    """How files and folders look, without opening a file, and when the last one changed."""
    lines: list[str] = []
    newest = 0
    waiting = list(places)
    while waiting:
        place = waiting.pop()
        try:
            status = os.lstat(place)
            newest = max(newest, _note(place, status, lines))
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(place) as entries:
                    for entry in sorted(entries, key=_name):
                        if entry.name in _PASSED_BY:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            status = entry.stat(follow_symlinks=False)
                            newest = max(newest, _note(entry.path, status, lines))
        except OSError as error:
            lines.append(f"{place} {error.errno}")
    return "\n".join(lines), newest


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _note(path: str, status: os.stat_result, lines: list[str]) -> int:
    """Adds how a file looks; gives when it changed."""
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        # Its own times change with what is passed by; what is in it has lines of its own.
        lines.append(f"{path} {mode}")
        return 0
    if stat.S_ISLNK(mode):
        lines.append(f"{path} {mode} {status.st_mtime_ns}")
        status = os.stat(path)
    changed = _changed(status)
    lines.append(f"{path} {mode} {status.st_size} {status.st_ino} {changed}")
    return changed


def _changed(status: os.stat_result) -> int:
    """A file's own time can be set back; that of its inode cannot."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def known_digests(root: str) -> dict[str, list[str]]:
    """By path below the output folder: the digests of what runs left there or found right."""
    known: dict[str, list[str]] = {}
    for line in _read(root, "digests").split("\0\n"):
        path, _, digests = line.partition("\0")
        if digests:
            known[path] = digests.split(" ")
    return known


def note_digests(root: str, digests: Mapping[str, str]) -> None:
    """Adds what a run finds right or is about to write, before it writes.

    Args:
        digests: by path below the output folder.
    """
    known = known_digests(root)
    if all(known.get(path, [""])[-1] == digest for path, digest in digests.items()):
        return
    for path, digest in digests.items():
        others = [other for other in known.pop(path, ()) if other != digest]
        known[path] = [*others, digest][-_EACH:]
    kept = list(known)[-max(_MOST_PATHS, len(digests)) :]
    text = "\0\n".join(f"{path}\0{' '.join(known[path])}" for path in kept)
    _write(root, "digests", text)


def _digest_of(path: str) -> str | None:
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return None


def _folder(root: str) -> str | None:
    """The project's folder in the user's cache; None when there is no place for one."""
    real = os.path.realpath(root)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    place = os.path.join(os.path.realpath(base), "toolcast")
    # A cache in the project itself might have come with it.
    if not os.path.isabs(base) or place.startswith(os.path.join(real, "")):
        return None
    return os.path.join(place, hashlib.sha256(os.fsencode(real)).hexdigest()[:32])


def _read(root: str, name: str) -> str:
    folder = _folder(root)
    if folder is not None:
        with contextlib.suppress(OSError, ValueError):
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(
                    path, encoding="utf-8", errors="surrogateescape", newline=""
                ) as f:
                    return f.read()
    return ""


def _write(root: str, name: str, text: str) -> None:
    """Replaces a file as a whole; a cache folder that cannot be written is no error."""
    folder = _folder(root)
    if folder is None:
        return
    temporary = os.path.join(folder, f"{name}.{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with contextlib.suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(temporary, flags, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(text.encode("utf-8", "surrogateescape"))
            os.replace(temporary, os.path.join(folder, name))
        except OSError:
            os.unlink(temporary)
            raise
