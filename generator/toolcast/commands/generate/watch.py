"""Generate again after each change of a file that a run depends on (`--watch`)."""

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
from ...model.loading import KnownTools, load_workspace
from ...model.spec_files import TOOLSET_FILE
from ...output.disk_differences import LEFTOVER, TOOL_FILES
from ...project import WORKSPACE_FILE
from ...reports.escaping import printable
from ..exit_codes import fail
from .run_inputs import list_program_files, list_project_files

_POLL_INTERVAL_MS = 200
"""Milliseconds between two checks for changes by watchfiles."""
_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Number of bytes at the start of a document that are compared."""
_IGNORED_NAMES = (TOOL_FILES, LEFTOVER)


class WatchedPaths(NamedTuple):
    """The absolute paths that are watched for changes.

    Each folder is watched without its subfolders, because a project can contain a virtual
    environment or Node.js packages with tens of thousands of folders.

    Attributes:
        folders: the folders whose entries are watched.
        inputs: the files that a run reads, and the folders whose whole tree it reads.
        parents: the parent folders of toolsets, in which new toolsets appear.
        output: the folder in which runs write files; changes in it are ignored.
        documents: the Markdown files in which runs write managed regions.
        with_code: whether the inputs include all Python packages in the source folders.
    """

    folders: frozenset[str]
    inputs: tuple[str, ...]
    parents: frozenset[str]
    output: str
    documents: tuple[str, ...] = ()
    with_code: bool = False

    def is_relevant(self, path: str) -> bool:
        """Return whether a change of the file at a path can change the result of a run."""
        folder, name = os.path.split(path)
        if _is_in(path, self.output):
            return False
        if any(pattern.fullmatch(name) for pattern in _IGNORED_NAMES):
            return False
        if any(_is_in(path, input_path) for input_path in self.inputs):
            return True
        # A new toolset.yaml next to the listed toolsets is relevant: the run reports that
        # toolcast.yaml does not list it.
        return name == TOOLSET_FILE and os.path.dirname(folder) in self.parents


def watch_and_generate(root: str, options: Sequence[str], *, force: bool) -> None:
    """Generate a project now, and again after each change, until Ctrl-C or SIGTERM.

    After the first signal, returns when the current run has ended. A second signal terminates
    the current run.
    Ends the program with exit code 2 if watchfiles is not installed, or the project's folder
    is removed.

    Args:
        root: the folder of toolcast.yaml.
        options: the options of each run of `generate`.
        force: whether the first run overwrites outputs that were edited by hand.
    """
    runs = GenerateRuns(["generate", "--project", root, *options])
    for reason in watch_changes(root, runs.ended, "--watch"):
        runs.run(reason, force=force)
        click.echo(err=True)
        force = False


def watch_changes(
    root: str,
    ended: threading.Event,
    command: str,
    *,
    with_code: bool = False,
    known: KnownTools | None = None,
) -> Iterator[str]:
    """Yield a line for the user at the start, and after each change of an input.

    The caller runs the command before it requests the next item. Changes during that time are
    not lost.
    Ends the program with exit code 2 if watchfiles is not installed, or the project's folder
    is removed.

    Args:
        root: the folder of toolcast.yaml.
        ended: stops the iteration when it is set.
        command: the command or option that requires watchfiles, for the message.
        with_code: whether to watch all Python packages in the source folders.
        known: the tools of earlier loads; updated.
    """
    known = {} if known is None else known
    try:
        from watchfiles import watch
    except ImportError:
        fail(f"{command} requires watchfiles\n  help: pip install 'toolcast[watch]'")
    root = os.path.realpath(root)
    watched: WatchedPaths | None = None
    reason = "watching for changes (press Ctrl-C to stop)"
    while not ended.is_set():
        if not os.path.isdir(root):
            fail(f"the project's folder {root} was removed")
        watched = find_watched_paths(root, watched, with_code=with_code, known=known)
        changes = watch(
            *sorted(watched.folders),
            watch_filter=None,
            stop_event=ended,
            rust_timeout=_POLL_INTERVAL_MS,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        try:
            # Start the watch before the run, so that a change during the run is detected.
            # `next` returns when the watch has started, at the latest after the poll interval.
            next(changes, None)
            yield reason
            written_documents = _read_files(watched.documents)
            paths = _wait_for_change(root, watched, written_documents, changes)
            reason = _describe_changed_paths(root, paths)
        except FileNotFoundError:
            # A folder was removed after the list of folders was built. Build the list again.
            time.sleep(_POLL_INTERVAL_MS / 1000)
        finally:
            changes.close()


class GenerateRuns:
    """Repeated runs of `toolcast generate`, until SIGINT or SIGTERM.

    Each run is a new process, so that it loads the current code, especially that of
    extensions. Creating an instance replaces the handlers of both signals.

    Attributes:
        ended: set by the first signal.
    """

    def __init__(self, arguments: list[str]) -> None:
        self.ended = threading.Event()
        self._arguments = arguments
        self._running: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle_signal)

    def run(self, reason: str, *, force: bool = False) -> int:
        """Print the time and the reason, run the command, and return its exit code.

        After a signal, returns 0 without running.
        """
        if self.ended.is_set():
            return 0
        click.echo(f"{time.strftime('%H:%M:%S')} {reason}", err=True)
        arguments = [*self._arguments, "--force"] if force else self._arguments
        # In a process group of its own, a run is not interrupted by Ctrl-C. With `-P`, Python
        # imports no modules from the current folder.
        with subprocess.Popen(  # noqa: S603 - this program
            [sys.executable, "-P", "-m", "toolcast", *arguments],
            stdin=subprocess.DEVNULL,
            **OWN_PROCESS_GROUP,
        ) as self._running:
            code = self._running.wait()
        self._running = None
        return code

    def _handle_signal(self, *_: object) -> None:
        """End after the current run; at the second signal, terminate the current run."""
        if self.ended.is_set() and self._running is not None:
            self._running.terminate()
        self.ended.set()


OWN_PROCESS_GROUP: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if sys.platform == "win32"
    else {"process_group": 0}
)
"""Arguments of `Popen` for a process that Ctrl-C in the terminal does not interrupt."""


def find_watched_paths(
    root: str,
    previous: WatchedPaths | None = None,
    *,
    with_code: bool = False,
    known: KnownTools | None = None,
) -> WatchedPaths:
    """Return the paths of a project to watch.

    Args:
        root: the folder of toolcast.yaml, a real path.
        previous: the last result, whose inputs are used while toolcast.yaml has errors.
        with_code: whether to watch all Python packages in the source folders.
        known: a cache of the tools of earlier loads, which is updated. Older versions of each
            file are removed from it.
    """
    known = {} if known is None else known
    try:
        workspace = load_workspace(root, known=known).workspace
    except ExtensionError:
        workspace = None
    # Keys are in the order of insertion, so the last key of each file has its newest content.
    for key in known.keys() - {key[0]: key for key in known}.values():
        del known[key]
    # The files of the generator can change in a checkout of Toolcast, but not in site-packages.
    program = [path for path in list_program_files() if not _is_installed(path)]
    if workspace is None:
        if previous is not None:
            return previous._replace(folders=_find_folders(root, previous))
        inputs = [os.path.join(root, WORKSPACE_FILE), *program]
        parents, output, documents = frozenset[str](), "", list[str]()
    else:
        inputs = [*map(os.path.normpath, list_project_files(workspace)), *program]
        toolsets = [os.path.join(root, folder) for folder in workspace.toolset_folders]
        parents = frozenset(
            os.path.dirname(os.path.normpath(folder)) for folder in toolsets
        )
        output = os.path.join(root, workspace.output)
        documents = [os.path.join(root, path) for path in workspace.documents]
        for source in workspace.sources if with_code else ():
            inputs += _list_packages(os.path.normpath(os.path.join(root, source)))
    paths = WatchedPaths(
        frozenset(),
        tuple(dict.fromkeys(inputs)),
        parents,
        output,
        tuple(documents),
        with_code,
    )
    return paths._replace(folders=_find_folders(root, paths))


def _list_packages(source: str) -> Iterator[str]:
    """Yield the paths of the direct subfolders of a source folder with Python modules."""
    with contextlib.suppress(OSError), os.scandir(source) as entries:
        for entry in entries:
            if entry.name.isidentifier() and entry.is_dir():
                names = os.listdir(entry.path)
                if any(name.endswith(".py") for name in names):
                    yield entry.path


def _find_folders(root: str, watched: WatchedPaths) -> frozenset[str]:
    """Return the folders to watch: the folders of all inputs, and toolsets' neighbors.

    A missing folder is replaced by its nearest existing parent. The output folder is left out.
    """
    folders = {root}
    for path in watched.inputs:
        folders.add(_find_existing_folder(os.path.dirname(path)))
        folders.update(_walk_folders(path))
    for folder in watched.parents:
        folders.add(_find_existing_folder(folder))
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            folders.update(
                entry.path
                for entry in entries
                if entry.is_dir() and not entry.name.startswith(".")
            )
    return frozenset(path for path in folders if not _is_in(path, watched.output))


def _walk_folders(tree: str) -> Iterator[str]:
    for folder, names, _ in os.walk(tree):
        # Skip folders of other programs, such as caches, which no run reads.
        names[:] = [name for name in names if not TOOL_FILES.fullmatch(name)]
        yield folder


def _find_existing_folder(folder: str) -> str:
    """Return a folder, or its nearest parent that exists."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _is_installed(path: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(path.split(os.sep))


def _is_in(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it; False for an empty folder."""
    return bool(folder) and (path == folder or path.startswith(folder + os.sep))


def _wait_for_change(
    root: str,
    watched: WatchedPaths,
    written_documents: Mapping[str, bytes | None],
    changes: Iterable[set[tuple[Any, str]]],
) -> list[str]:
    """Return the paths of the next relevant change; empty after a signal.

    Args:
        written_documents: the content of the documents after the last run, by path. An event
            for a document with this content was caused by the run and is ignored.
        changes: the events of watchfiles.
    """
    for events in changes:
        paths = sorted({path for _, path in events})
        documents = _read_files(path for path in paths if path in written_documents)
        paths = [
            path
            for path in paths
            if path not in documents or documents[path] != written_documents[path]
        ]
        relevant_paths = [path for path in paths if watched.is_relevant(path)]
        if relevant_paths:
            return relevant_paths
        # A folder that was just created is not watched yet, and may already contain inputs.
        folders = [path for path in paths if path in watched.folders]
        folders += [path for path in paths if os.path.isdir(path)]
        if folders:
            updated = find_watched_paths(root, watched, with_code=watched.with_code)
            if updated.folders != watched.folders:
                return folders
    return []


def _read_files(paths: Iterable[str]) -> dict[str, bytes | None]:
    """Return the first bytes of files by path; None for an unreadable file."""
    contents: dict[str, bytes | None] = {}
    for path in paths:
        contents[path] = None
        with contextlib.suppress(OSError):
            contents[path] = read_regular_file(path, _MAX_FILE_BYTES)
    return contents


def _describe_changed_paths(root: str, paths: Sequence[str]) -> str:
    """Return a line with the first changed path and the number of further paths.

    Removed files are omitted if others exist, because editors create and remove temporary
    files.
    """
    existing = [path for path in paths if os.path.lexists(path)]
    first, *others = existing or paths or [root]
    label = printable(os.path.relpath(first, root))
    return f"{label} and {len(others)} more" if others else label
