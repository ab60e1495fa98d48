"""`toolcast generate --watch`: a run for each change of what a run depends on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from toolcast_runtime.core.safe_file import read_regular_file

from ...extensions import ExtensionError
from ...model.loading import load_workspace
from ...model.spec_files import TOOLSET_FILE
from ...output.disk_differences import LEFTOVER, TOOL_FILES
from ...project import WORKSPACE_FILE
from ...reports.escaping import printable
from ..exit_codes import fail
from .run_inputs import list_program_files, list_project_files

# How long the library waits before it looks whether there was anything, in milliseconds.
_TURN = 200
_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a watched file that is read."""
_PASSED_BY = (TOOL_FILES, LEFTOVER)


class WatchedPaths(NamedTuple):
    """What is looked at, by absolute paths.

    Each folder is watched by itself, not all that is below it: a project may hold an
    environment of Python or packages of Node.js, which are tens of thousands of folders.

    Attributes:
        folders: the folders whose entries are watched.
        places: the files that a run reads, and the folders that it reads whole.
        parents: the folders that toolsets lie in, where new ones appear.
        output: the folder that runs write.
        documents: files among the places in which runs fill regions.
        with_code: the Python packages beside the handlers' are among the places.
    """

    folders: frozenset[str]
    places: tuple[str, ...]
    parents: frozenset[str]
    output: str
    documents: tuple[str, ...] = ()
    with_code: bool = False

    def counts(self, path: str) -> bool:
        """Whether a run may give something else after a change at a path."""
        folder, name = os.path.split(path)
        if _is_in(path, self.output) or any(m.fullmatch(name) for m in _PASSED_BY):
            return False
        if any(_is_in(path, place) for place in self.places):
            return True
        # A toolset that toolcast.yaml does not list yet is a finding.
        return name == TOOLSET_FILE and os.path.dirname(folder) in self.parents


def watch_and_generate(root: str, options: Sequence[str], *, force: bool) -> None:
    """Generates now, and again after each change, until Ctrl-C or SIGTERM.

    Returns when it is ended, but not before a run that is going on has ended; a second
    signal ends that run, too.

    Args:
        root: the folder of toolcast.yaml.
        options: those of `generate` that each run gets.
        force: whether the first run gets `--force`.

    Ends the program with exit code 2 when the library that watches is not installed, or the
    project's folder goes away.
    """
    runs = GenerateRuns(["generate", "--project", root, *options])
    for reason in watch_changes(root, runs.ended, "--watch"):
        runs.run(reason, force=force)
        click.echo(err=True)
        force = False


def watch_changes(
    root: str, ended: threading.Event, command: str, *, with_code: bool = False
) -> Iterator[str]:
    """Why a run is due, in words: at once, and after each change, until it is ended.

    Args:
        root: the folder of toolcast.yaml.
        ended: ends it, once it is set.
        command: what is to say that it needs the library that watches.
        with_code: whether the Python packages beside the handlers' count.

    Ends the program with exit code 2 when that library is not installed, or the project's
    folder goes away.
    """
    try:
        from watchfiles import watch
    except ImportError:
        fail(f"{command} needs watchfiles\n  help: pip install 'toolcast[watch]'")
    root = os.path.realpath(root)
    looked_at: WatchedPaths | None = None
    reason = "watching (Ctrl-C ends it)"
    while not ended.is_set():
        if not os.path.isdir(root):
            fail(f"{root} is gone")
        looked_at = find_watched_paths(root, looked_at, with_code=with_code)
        changes = watch(
            *sorted(looked_at.folders),
            watch_filter=None,
            stop_event=ended,
            rust_timeout=_TURN,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        try:
            # The watch begins before the run: what is changed meanwhile is seen.
            next(changes, None)
            yield reason
            left = _texts(looked_at.documents)
            reason = _told(root, _next_change(root, looked_at, left, changes))
        except FileNotFoundError:
            time.sleep(_TURN / 1000)  # A folder went away between the two lines above.
        finally:
            changes.close()


class GenerateRuns:
    """Runs of `toolcast generate`, until a signal ends them.

    Each run is a process of its own: what it says depends on nothing that an earlier one
    loaded, the code of an extension least of all.

    Attributes:
        ended: set when a signal has come.
    """

    def __init__(self, words: list[str]) -> None:
        self.ended = threading.Event()
        self._words = words
        self._running: subprocess.Popen[bytes] | None = None
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self._end)

    def run(self, reason: str, *, force: bool = False) -> int:
        """Tells the time and why, and runs; gives the exit code."""
        if self.ended.is_set():
            return 0
        click.echo(f"{time.strftime('%H:%M:%S')} {reason}", err=True)
        words = [*self._words, "--force"] if force else self._words
        # Neither the signals of the terminal nor, with -P, modules of the project reach it.
        with subprocess.Popen(  # noqa: S603 - this program
            [sys.executable, "-P", "-m", "toolcast", *words],
            stdin=subprocess.DEVNULL,
            **OWN_PROCESS_GROUP,
        ) as self._running:
            code = self._running.wait()
        self._running = None
        return code

    def _end(self, *_: object) -> None:
        if self.ended.is_set() and self._running is not None:
            self._running.terminate()
        self.ended.set()


OWN_PROCESS_GROUP: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if sys.platform == "win32"
    else {"process_group": 0}
)


def find_watched_paths(
    root: str, before: WatchedPaths | None = None, *, with_code: bool = False
) -> WatchedPaths:
    """What is to be watched of a project.

    Args:
        root: the folder of toolcast.yaml, a real path.
        before: what was watched until now, which counts while toolcast.yaml has errors.
        with_code: whether the Python packages beside the handlers' count.
    """
    try:
        workspace = load_workspace(root).workspace
    except ExtensionError:
        workspace = None
    own = [place for place in list_program_files() if not _is_installed(place)]
    if workspace is None:
        if before is not None:
            return before._replace(folders=_folders(root, before))
        paths = [os.path.join(root, WORKSPACE_FILE), *own]
        parents, output, documents = frozenset[str](), "", list[str]()
    else:
        paths = [*map(os.path.normpath, list_project_files(workspace)), *own]
        toolsets = (os.path.join(root, one) for one in workspace.toolset_folders)
        parents = frozenset(os.path.dirname(os.path.normpath(one)) for one in toolsets)
        output = os.path.join(root, workspace.output)
        documents = [os.path.join(root, one) for one in workspace.documents]
        for source in workspace.sources if with_code else ():
            paths += _packages(os.path.normpath(os.path.join(root, source)))
    found = WatchedPaths(
        frozenset(),
        tuple(dict.fromkeys(paths)),
        parents,
        output,
        tuple(documents),
        with_code,
    )
    return found._replace(folders=_folders(root, found))


def _packages(source: str) -> Iterator[str]:
    """The folders with Python modules in a folder of sources."""
    with contextlib.suppress(OSError), os.scandir(source) as entries:
        for entry in entries:
            if entry.name.isidentifier() and entry.is_dir():
                names = os.listdir(entry.path)
                if any(name.endswith(".py") for name in names):
                    yield entry.path


def _folders(root: str, looked_at: WatchedPaths) -> frozenset[str]:
    """The folders that have to be watched; of what is not there, the next above."""
    found = {root}
    for place in looked_at.places:
        found.add(_there(os.path.dirname(place)))
        found.update(_folders_in(place))
    for folder in looked_at.parents:
        found.add(_there(folder))
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found.update(e.path for e in entries if e.is_dir() and e.name[:1] != ".")
    return frozenset(path for path in found if not _is_in(path, looked_at.output))


def _folders_in(tree: str) -> Iterator[str]:
    for folder, names, _ in os.walk(tree):
        names[:] = [name for name in names if not TOOL_FILES.fullmatch(name)]
        yield folder


def _there(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _is_installed(path: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(path.split(os.sep))


def _is_in(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(folder + os.sep))


def _next_change(
    root: str,
    looked_at: WatchedPaths,
    left: Mapping[str, bytes | None],
    changes: Iterable[set[tuple[Any, str]]],
) -> list[str]:
    """The paths of the next change that counts; none when a signal ends the watch.

    Args:
        left: the documents as the last run left them, whose own writing does not count.
    """
    for events in changes:
        paths = sorted({path for _, path in events})
        now = _texts(path for path in paths if path in left)
        paths = [path for path in paths if path not in now or now[path] != left[path]]
        if counting := [path for path in paths if looked_at.counts(path)]:
            return counting
        # What is in a new folder is not watched yet.
        folders = [path for path in paths if path in looked_at.folders]
        folders += [path for path in paths if os.path.isdir(path)]
        with_code = looked_at.with_code
        there = (
            find_watched_paths(root, looked_at, with_code=with_code)
            if folders
            else looked_at
        )
        if there.folders != looked_at.folders:
            return folders
    return []


def _texts(paths: Iterable[str]) -> dict[str, bytes | None]:
    """The bytes of files; None of one that cannot be read."""
    found: dict[str, bytes | None] = {}
    for path in paths:
        found[path] = None
        with contextlib.suppress(OSError):
            found[path] = read_regular_file(path, _MAX_FILE_BYTES)
    return found


def _told(root: str, paths: Sequence[str]) -> str:
    """What changed, in a line; editors make files that are gone again at once."""
    first, *others = (
        [path for path in paths if os.path.lexists(path)] or paths or [root]
    )
    shown = printable(os.path.relpath(first, root))
    return f"{shown} and {len(others)} more" if others else shown
