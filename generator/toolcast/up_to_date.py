"""Store results of earlier runs in the user's cache folder, outside of the project.

Each project has two files. `last-run` contains the outcome of the last `toolcast generate`
and the stat values of all files that it depended on. As long as these are unchanged, the same
command repeats that outcome without running. `digests` contains the digests of generated
files, which later runs may overwrite. Without the files a run does all its work, and
overwrites only files whose content git has. `toolcast check` reads neither file.
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

from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.safe_folder import Folder

_MAX_DIGESTS_PER_PATH = 20
"""Digests that are stored for one path."""
_MAX_FILE_BYTES = 256 * 1024 * 1024
"""Size of a file that is read."""
_MAX_PATHS = 100_000
"""Paths whose digests are stored, unless one run has more."""
_IGNORED_FOLDERS = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_SEPARATOR = "\0\0\n"
# Nanoseconds by which file times can lag behind the system clock: usually, and on file
# systems that store whole seconds.
_FINE_LAG_NS = 50_000_000
_COARSE_LAG_NS = 2_000_000_000


class RunOutcome(NamedTuple):
    """The exit code and the output of a run."""

    code: int
    out: str
    err: str


def find_outcome(root: str, command: str) -> RunOutcome | None:
    """Return the stored outcome of a command; None if anything changed since that run.

    Args:
        root: the folder of toolcast.yaml.
        command: the identity of the command: arguments, working directory and terminal.

    Raises:
        OSError: a file was removed in the meantime.
    """
    parts = _read(root, "last-run").split(_SEPARATOR)
    # A complete file has 8 parts, of which the last is empty; fewer mean truncation.
    if (
        len(parts) != 8
        or parts[0] != _identify_run(command)
        or not parts[3].isdecimal()
    ):
        return None
    inputs, recent, code, out, err, snapshot, _ = parts[1:]
    current = "\n".join(_take_snapshot(path).text for path in inputs.split("\0"))
    if current != snapshot:
        return None
    for line in recent.split("\0") if recent else []:
        digest, _, path = line.partition(" ")
        current_digest = hashlib.sha256(
            read_regular_file(path, _MAX_FILE_BYTES)
        ).hexdigest()
        if not current_digest.startswith(digest):
            return None
    if recent:
        # These files are now old enough for their stat values to show later changes.
        parts[2] = ""
        _write(root, "last-run", _SEPARATOR.join(parts))
    return RunOutcome(int(code), out, err)


def save_outcome(
    root: str,
    command: str,
    start_ns: int,
    inputs: Iterable[str],
    output: str | None,
    digests: Mapping[str, str],
    outcome: RunOutcome,
) -> None:
    """Store the outcome of a run, unless one of its inputs changed during the run.

    Args:
        root: the folder of toolcast.yaml.
        command: the identity of the command; see `find_outcome`.
        start_ns: the start time of the run, in nanoseconds since the epoch.
        inputs: the files and folders on which the outcome depends; folders include all
            files below them.
        output: the output folder, which contains exactly the files of `digests`; None if the
            run did not compare it.
        digests: the digest of each generated file, by path below the output folder.
        outcome: the outcome of the run.
    """
    paths = [os.path.abspath(path) for path in dict.fromkeys(inputs)]
    snapshots = [_take_snapshot(path) for path in paths]
    newest = max(snapshot.newest for snapshot in snapshots)
    if is_as_new(newest, start_ns):
        return
    recent = []
    if output is not None:
        paths.append(output)
        now = time.time_ns()
        output_snapshot = _take_snapshot(output)
        snapshots.append(output_snapshot)
        # A change right after this run might not alter the stat values of recent files, so
        # their digests are stored.
        for path, changed in output_snapshot.changed.items():
            digest = digests.get(path[len(output) + 1 :].replace(os.sep, "/"))
            if digest is not None and is_as_new(changed, now):
                recent.append(f"{digest} {path}")
    parts = [_identify_run(command), "\0".join(paths), "\0".join(recent)]
    parts += [str(outcome.code), outcome.out, outcome.err]
    parts += ["\n".join(snapshot.text for snapshot in snapshots), ""]
    _write(root, "last-run", _SEPARATOR.join(parts))


def is_as_new(changed: int, moment: int) -> bool:
    """Return whether a file time may belong to a change after a moment.

    File times are less exact than the clock; a whole second indicates a coarse file system.
    """
    has_fraction = changed % 1_000_000_000 != 0
    return changed >= moment - (_FINE_LAG_NS if has_fraction else _COARSE_LAG_NS)


def _identify_run(command: str) -> str:
    """Return the conditions of a run besides its inputs, as text.

    These are the day (suppressions expire), the version of Python, the installed packages
    and the command.
    """
    installed = []
    for folder in sys.path:
        # Installing a package changes the time of its folder. The working directory is
        # left out because it changes all the time.
        if folder and folder != os.getcwd():
            with contextlib.suppress(OSError):
                installed.append(f"{folder} {os.stat(folder).st_mtime_ns}")
    day = time.strftime("%Y-%m-%d")
    return "\n".join(["1", day, sys.version, __file__, *installed, command])


class _Snapshot(NamedTuple):
    """The stat values of a file, or of all files below a folder.

    Attributes:
        text: the stat values, one line per file.
        changed: the time of the last change of each file by path, in nanoseconds.
    """

    text: str
    changed: dict[str, int]

    @property
    def newest(self) -> int:
        """The time of the latest change."""
        return max(self.changed.values(), default=0)


def _take_snapshot(path: str) -> _Snapshot:
    if not os.path.isdir(path):
        values, changed = _read_stat(path)
        return _Snapshot(values, {path: changed})
    lines = [path]
    times: dict[str, int] = {}
    pending = [path]
    while pending:
        try:
            with os.scandir(pending.pop()) as iterator:
                entries = sorted(iterator, key=lambda entry: entry.name)
        except OSError as error:
            lines.append(str(error.errno))
            continue
        for entry in entries:
            if entry.name in _IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                # The time of a folder also changes with its ignored subfolders, so the
                # snapshot has the folder's path, but only the stat values of files.
                pending.append(entry.path)
                lines.append(entry.path)
            else:
                values, times[entry.path] = _read_stat(entry.path)
                lines.append(values)
    return _Snapshot("\n".join(lines), times)


def _read_stat(path: str) -> tuple[str, int]:
    """Return the stat values of a file as text, and the time of its last change.

    For a symbolic link, these are the values of its target, with the link's own time in
    the text. The time is 0 if the file cannot be read.
    """
    try:
        status = os.lstat(path)
        link = ""
        if stat.S_ISLNK(status.st_mode):
            link, status = f"link {status.st_ctime_ns} ", os.stat(path)
    except OSError as error:
        return f"{path} {error.errno}", 0
    changed = _get_change_time(status)
    return (
        f"{path} {link}{status.st_mode} {status.st_size} {status.st_ino} {changed}",
        changed,
    )


def _get_change_time(status: os.stat_result) -> int:
    """Return the later of mtime and ctime: programs can set back only mtime."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def load_digests(root: str) -> dict[str, list[str]]:
    """Return the stored digests of generated files, by path below the output folder.

    The newest digest of a path is last. Empty if nothing is stored.
    """
    lines = _read(root, "digests").split("\0\n")
    pairs = (line.partition("\0")[::2] for line in lines)
    return {path: digests.split(" ") for path, digests in pairs if digests}


def save_digests(root: str, digests: Mapping[str, str]) -> None:
    """Store the digests of generated files, before a run writes them.

    Args:
        root: the folder of toolcast.yaml.
        digests: the digest of each file, by path below the output folder.
    """
    known = load_digests(root)
    if all(known.get(path, [""])[-1] == digest for path, digest in digests.items()):
        return
    for path, digest in digests.items():
        others = [other for other in known.pop(path, ()) if other != digest]
        known[path] = [*others, digest][-_MAX_DIGESTS_PER_PATH:]
    latest = list(known)[-max(_MAX_PATHS, len(digests)) :]
    text = "\0\n".join(f"{path}\0{' '.join(known[path])}" for path in latest)
    _write(root, "digests", text)


def _find_cache_folder(root: str) -> str | None:
    """Return the project's folder in the user's cache.

    None if the user has no cache folder, or if it is inside of the project.
    """
    real = os.path.realpath(root)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    # A cache inside of the project could be part of an untrusted checkout.
    cache = os.path.join(os.path.realpath(base), "toolcast")
    if not os.path.isabs(base) or cache.startswith(os.path.join(real, "")):
        return None
    return os.path.join(cache, hashlib.sha256(os.fsencode(real)).hexdigest()[:32])


def _open_folder(root: str, *, create: bool) -> Folder | None:
    """Open the project's cache folder; return None if other users can write to it."""
    path = _find_cache_folder(root)
    if path is None:
        return None
    folder = Folder.open_path(path, create=create, mode=0o700)
    if folder.is_private():
        return folder
    with folder:
        return None


def _read(root: str, name: str) -> str:
    with contextlib.suppress(OSError):
        folder = _open_folder(root, create=False)
        if folder is not None:
            with folder:
                data = folder.read(name, _MAX_FILE_BYTES)
            return data.decode("utf-8", "surrogateescape")
    return ""


def _write(root: str, name: str, text: str) -> None:
    """Write a file of the cache atomically; errors are ignored."""
    with contextlib.suppress(OSError):
        folder = _open_folder(root, create=True)
        if folder is not None:
            with folder:
                data = text.encode("utf-8", "surrogateescape")
                folder.write(name, data, mode=0o600)
