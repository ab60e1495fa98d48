"""What earlier runs left, in the user's own cache folder: nothing of it lies in a project.

Two files a project. `last-run` says how the last `toolcast generate` ended, and the stat
values of all files that it depended on: while none has changed, the same command prints the
same again. `digests` knows the bytes that runs left or found right, which may be overwritten.
Without them a run does all its work, and overwrites what git has. `check` reads neither.
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

from toolcast_runtime.core.safe_file import read_regular
from toolcast_runtime.core.safe_folder import Folder

_MAX_DIGESTS_PER_PATH = 20
"""Digests that are stored for one path."""
_MAX_FILE_BYTES = 256 * 1024 * 1024
"""Size of a file that is read."""
_MAX_PATHS = 100_000
"""Paths whose digests are stored, unless one run has more."""
_PASSED_BY = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_PART = "\0\0\n"
# The clock of a file system may be this much behind ours, or count whole seconds.
_TICK = 50_000_000
_COARSE = 2_000_000_000


class RunOutcome(NamedTuple):
    """How a run ended: its exit code, and what it wrote to both streams."""

    code: int
    out: str
    err: str


def find_outcome(root: str, command: str) -> RunOutcome | None:
    """How a run of the command would end, known without running; None if anything changed.

    Args:
        root: the folder of toolcast.yaml.
        command: all that makes it this command: its words, its place, its terminal.

    Raises:
        OSError: a file went away meanwhile.
    """
    parts = _read(root, "last-run").split(_PART)
    # The last part is empty, so that a file that was cut off is seen to be.
    if len(parts) != 8 or parts[0] != _identity(command) or not parts[3].isdecimal():
        return None
    places, recent, code, out, err, snapshot, _ = parts[1:]
    if "\n".join(_snapshot(place).text for place in places.split("\0")) != snapshot:
        return None
    for line in recent.split("\0") if recent else []:
        digest, _, path = line.partition(" ")
        whole = hashlib.sha256(read_regular(path, _MAX_FILE_BYTES)).hexdigest()
        if not whole.startswith(digest):
            return None
    if recent:
        # By now these files are old enough for their stat values to tell.
        parts[2] = ""
        _write(root, "last-run", _PART.join(parts))
    return RunOutcome(int(code), out, err)


def save_outcome(
    root: str,
    command: str,
    began: int,
    inputs: Iterable[str],
    output: str | None,
    digests: Mapping[str, str],
    ended: RunOutcome,
) -> None:
    """Keeps how a run ended, if nothing that it read was changed meanwhile.

    Args:
        began: the nanoseconds at which the run began.
        inputs: the files and folders that decided; a folder counts with all that is in it.
        output: the output folder, which holds exactly the files of the digests; None when
            the run did not look at it.
        digests: by path below the output folder.
    """
    places = [os.path.abspath(path) for path in dict.fromkeys(inputs)]
    snapshots = [_snapshot(place) for place in places]
    newest = max(seen.newest for seen in snapshots)
    if is_as_new(newest, began):
        return
    recent = []
    if output is not None:
        places.append(output)
        now = time.time_ns()
        written = _snapshot(output)
        snapshots.append(written)
        # A later change of a file as new as this may leave its stat values as they are.
        for path, changed in written.changed.items():
            digest = digests.get(path[len(output) + 1 :].replace(os.sep, "/"))
            if digest is not None and is_as_new(changed, now):
                recent.append(f"{digest} {path}")
    snapshot = "\n".join(seen.text for seen in snapshots)
    parts = [_identity(command), "\0".join(places), "\0".join(recent), str(ended.code)]
    parts += [ended.out, ended.err, snapshot, ""]
    _write(root, "last-run", _PART.join(parts))


def is_as_new(changed: int, moment: int) -> bool:
    """Whether a change after a moment may have the same time as one that was before it."""
    return changed >= moment - (_TICK if changed % 1_000_000_000 else _COARSE)


def _identity(command: str) -> str:
    """What else decides: the day (suppressions end), Python, and what is installed."""
    installed = []
    for place in sys.path:
        # A folder changes when something is installed into it; the one we are called in
        # changes all the time.
        if place and place != os.getcwd():
            with contextlib.suppress(OSError):
                installed.append(f"{place} {os.stat(place).st_mtime_ns}")
    day = time.strftime("%Y-%m-%d")
    return "\n".join(["1", day, sys.version, __file__, *installed, command])


class _Snapshot(NamedTuple):
    """The stat values of a file, or of all below a folder.

    Attributes:
        text: all of them.
        changed: by path, when each file last changed.
    """

    text: str
    changed: dict[str, int]

    @property
    def newest(self) -> int:
        """When the last one changed."""
        return max(self.changed.values(), default=0)


def _snapshot(place: str) -> _Snapshot:
    if not os.path.isdir(place):
        values, changed = _values(place)
        return _Snapshot(values, {place: changed})
    lines = [place]
    times: dict[str, int] = {}
    waiting = [place]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            lines.append(str(error.errno))
            continue
        for entry in entries:
            if entry.name in _PASSED_BY:
                continue
            if entry.is_dir(follow_symlinks=False):
                # Its times change with what is passed by; what counts in it has values.
                waiting.append(entry.path)
                lines.append(entry.path)
            else:
                values, times[entry.path] = _values(entry.path)
                lines.append(values)
    return _Snapshot("\n".join(lines), times)


def _values(path: str) -> tuple[str, int]:
    try:
        status = os.lstat(path)
        link = ""
        if stat.S_ISLNK(status.st_mode):
            link, status = f"link {status.st_ctime_ns} ", os.stat(path)
    except OSError as error:
        return f"{path} {error.errno}", 0
    changed = _changed(status)
    return (
        f"{path} {link}{status.st_mode} {status.st_size} {status.st_ino} {changed}",
        changed,
    )


def _changed(status: os.stat_result) -> int:
    """A file's own time can be set back; that of its inode cannot."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def load_digests(root: str) -> dict[str, list[str]]:
    """By path below the output folder: the digests of what runs left or found right."""
    lines = _read(root, "digests").split("\0\n")
    pairs = (line.partition("\0")[::2] for line in lines)
    return {path: digests.split(" ") for path, digests in pairs if digests}


def save_digests(root: str, digests: Mapping[str, str]) -> None:
    """Adds what a run finds right and is about to write, before it writes.

    Args:
        digests: by path below the output folder.
    """
    known = load_digests(root)
    if all(known.get(path, [""])[-1] == digest for path, digest in digests.items()):
        return
    for path, digest in digests.items():
        others = [other for other in known.pop(path, ()) if other != digest]
        known[path] = [*others, digest][-_MAX_DIGESTS_PER_PATH:]
    kept = list(known)[-max(_MAX_PATHS, len(digests)) :]
    text = "\0\n".join(f"{path}\0{' '.join(known[path])}" for path in kept)
    _write(root, "digests", text)


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
    # A cache in the project itself might have come with it.
    place = os.path.join(os.path.realpath(base), "toolcast")
    if not os.path.isabs(base) or place.startswith(os.path.join(real, "")):
        return None
    return os.path.join(place, hashlib.sha256(os.fsencode(real)).hexdigest()[:32])


def _opened(root: str, *, create: bool) -> Folder | None:
    """The project's folder in the cache; None when nobody but its owner can vouch for it."""
    path = _folder(root)
    if path is None:
        return None
    folder = Folder.at(path, create=create, mode=0o700)
    if folder.is_private():
        return folder
    with folder:
        return None


def _read(root: str, name: str) -> str:
    with contextlib.suppress(OSError):
        folder = _opened(root, create=False)
        if folder is not None:
            with folder:
                data = folder.read(name, _MAX_FILE_BYTES)
            return data.decode("utf-8", "surrogateescape")
    return ""


def _write(root: str, name: str, text: str) -> None:
    """Replaces a file as a whole; a cache folder that cannot be written is no error."""
    with contextlib.suppress(OSError):
        folder = _opened(root, create=True)
        if folder is not None:
            with folder:
                data = text.encode("utf-8", "surrogateescape")
                folder.write(name, data, mode=0o600)
