"""Which files of a folder are specs, and what lies where nothing would read it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..findings import MOST_SHOWN, Finding, Place, Severity
from ..reading.project_files import Entry, ProjectFiles
from .model import Workspace

__all__ = [
    "DEFINITIONS_FILE",
    "TOOLSET_FILE",
    "kind_of_file",
    "misnamed",
    "not_read",
    "specs_in",
    "unlisted",
]

TOOLSET_FILE = "toolset.yaml"
DEFINITIONS_FILE = "definitions.yaml"
_SUFFIXES = (".yaml", ".yml")
# What editors and systems lay beside a file while it is open or copied.
_BESIDE = ("._", ".#")
_TOOLS_OWN = frozenset(
    [".git", ".hg", ".svn", ".idea", ".vscode", ".vs", "__pycache__"]
)
_MOST_FOLDERS = 1_000
_NAMED = 3


def specs_in(files: ProjectFiles, folder: str) -> tuple[list[str], list[Entry]]:
    """The files of a toolset's folder that are read, and its sub-folders; both sorted.

    Raises:
        OSError: the folder cannot be read.
    """
    entries = files.entries(folder)
    specs = [entry.name for entry in entries if _is_spec(entry.name)]
    folders = [e for e in entries if e.is_folder and not _is_spec(e.name)]
    return specs, folders


def _is_spec(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES) and not name.startswith(_BESIDE)


def kind_of_file(name: str) -> str:
    """What a file of a toolset's folder is by its name: one of the spec language's kinds."""
    kinds = {TOOLSET_FILE: "toolset", DEFINITIONS_FILE: "definitions"}
    return kinds.get(name, "tool")


def misnamed(files: ProjectFiles, folder: str) -> str | None:
    """What a folder has instead of toolset.yaml: `toolset.yml`, `Toolset.yaml`."""
    try:
        names = [entry.name for entry in files.entries(folder)]
    except OSError:
        return None
    stem = TOOLSET_FILE.partition(".")[0]
    wanted = {stem + suffix for suffix in _SUFFIXES}
    return next((name for name in names if name.lower() in wanted), None)


def not_read(
    workspace: Workspace, files: ProjectFiles, folder: str, sub_folders: list[Entry]
) -> Iterator[Finding]:
    """A finding for each sub-folder of a toolset that has specs in it."""
    listed = {posixpath.normpath(one) for one in workspace.toolset_folders}
    for entry in sub_folders[: MOST_SHOWN + 1]:
        path = posixpath.normpath(f"{folder}/{entry.name}")
        # Specs of another kind, or files that they name.
        is_mcp = entry.name in ("mcp_resources", "mcp_prompts") and not entry.is_link
        if entry.name in _TOOLS_OWN or path in listed or is_mcp:
            continue
        if entry.is_link:
            message = (
                "the folder is a link, and no specs are read below a toolset's own"
            )
            help_ = f"take the link out of {folder}/"
            yield Finding(
                "spec/sub-folder", Severity.ERROR, Place(path), message, help_
            )
            continue
        found = list(_specs_below(files, path, listed))
        if found:
            yield _not_read(folder, path, found)


def _not_read(folder: str, path: str, found: list[str]) -> Finding:
    inner = next((f for f in found if posixpath.basename(f) == TOOLSET_FILE), None)
    if inner is not None:
        toolset = posixpath.dirname(inner)
        place, message = inner, f"the toolset {toolset} is not listed in toolcast.yaml"
        help_ = f"add `{toolset}` to `toolsets`, or move it out of {folder}/"
    else:
        place = found[0]
        named = ", ".join(posixpath.relpath(file, path) for file in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        message = f"specs in {path}/ are not read: {named}{more}"
        help_ = f"move them into {folder}/, or out of it"
    return Finding("spec/sub-folder", Severity.ERROR, Place(place), message, help_)


def _specs_below(files: ProjectFiles, path: str, listed: set[str]) -> Iterator[str]:
    """The paths of the specs in a folder and below; links are not followed."""
    waiting = [path]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        here = waiting.pop()
        try:
            entries = files.entries(here)
        except OSError:
            continue
        inner = (e for e in entries if e.is_folder and not e.is_link)
        below = [f"{here}/{e.name}" for e in inner if e.name not in _TOOLS_OWN]
        waiting += reversed([one for one in below if one not in listed])
        yield from (
            f"{here}/{e.name}" for e in entries if _is_spec(e.name) and not e.is_folder
        )


def unlisted(workspace: Workspace, files: ProjectFiles) -> Iterator[Finding]:
    """A finding for each toolset beside a listed one that toolcast.yaml does not list."""
    listed = {posixpath.normpath(one) for one in workspace.toolset_folders}
    for parent in sorted({posixpath.dirname(folder) for folder in listed}):
        try:
            entries = files.entries(parent)
        except OSError:
            continue
        beside = (posixpath.join(parent, e.name) for e in entries if e.is_folder)
        for folder in beside:
            file = f"{folder}/{TOOLSET_FILE}"
            if folder in listed or not files.is_there(file):
                continue
            yield Finding(
                "spec/unlisted-toolset",
                Severity.WARNING,
                Place(file),
                "toolcast.yaml does not list this toolset, so nothing reads it",
                f"add `{folder}` to `toolsets`, or move it elsewhere",
            )
