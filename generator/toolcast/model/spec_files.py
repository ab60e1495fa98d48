"""Where specs lie: the folders of toolsets, their files, and those of resources and prompts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..findings import MAX_FINDINGS_SHOWN, Finding, Location, Severity
from ..parsing.project_files import Entry, ProjectFiles
from .model import Workspace

TOOLSET_FILE = "toolset.yaml"
DEFINITIONS_FILE = "definitions.yaml"
_SUFFIXES = (".yaml", ".yml")
# What editors and systems lay beside a file while it is open or copied.
_BESIDE = ("._", ".#")
_TOOLS_OWN = frozenset(
    [".git", ".hg", ".svn", ".idea", ".vscode", ".vs", "__pycache__"]
)
_MAX_FOLDERS = 1_000
"""Folders below a toolset that are searched for specs."""
_NAMED = 3


def list_specs(files: ProjectFiles, folder: str) -> tuple[list[str], list[Entry]]:
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


def get_file_kind(name: str) -> str:
    """What a file of a toolset's folder is by its name: one of the spec language's kinds."""
    kinds = {TOOLSET_FILE: "toolset", DEFINITIONS_FILE: "definitions"}
    return kinds.get(name, "tool")


def find_misnamed_toolset_file(files: ProjectFiles, folder: str) -> str | None:
    """What a folder has instead of toolset.yaml: `toolset.yml`, `Toolset.yaml`."""
    try:
        names = [entry.name for entry in files.entries(folder)]
    except OSError:
        return None
    stem = TOOLSET_FILE.partition(".")[0]
    wanted = {stem + suffix for suffix in _SUFFIXES}
    return next((name for name in names if name.lower() in wanted), None)


def find_nested_specs(
    workspace: Workspace, files: ProjectFiles, folder: str, sub_folders: list[Entry]
) -> tuple[list[str], list[Finding]]:
    """The specs of tools in a toolset's sub-folders, and what there is not read.

    Args:
        workspace: the project, whose other toolsets are passed.
        files: its files.
        folder: of the toolset.
        sub_folders: its own.

    Returns:
        Paths below the toolset's folder, sorted, and the findings.
    """
    listed = {posixpath.normpath(one) for one in workspace.toolset_folders}
    found: list[str] = []
    findings: list[Finding] = []
    waiting = list(reversed(sub_folders))
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        here = waiting.pop()
        path = posixpath.normpath(f"{folder}/{here.name}")
        last = posixpath.basename(path)
        # Specs of another kind, or files that they name.
        is_mcp = here.name in KINDS_BY_FOLDER and not here.is_link
        if last in _TOOLS_OWN or path in listed or is_mcp:
            continue
        if here.is_link:
            message = (
                "the folder is a link, and no specs are read below a toolset's own"
            )
            findings.append(_wrong(path, message, f"take the link out of {folder}/"))
            continue
        try:
            specs, inner = list_specs(files, path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            findings.append(_wrong(path, f"the folder cannot be read: {reason}", ""))
            continue
        problem = _not_read(folder, path, specs)
        if problem is not None:
            findings.append(problem)
            continue
        found += [f"{here.name}/{name}" for name in specs]
        waiting += [
            one._replace(name=f"{here.name}/{one.name}") for one in reversed(inner)
        ]
    if waiting:
        message = f"there are more than {_MAX_FOLDERS} folders below {folder}/"
        findings.append(_wrong(folder, message, "move those without specs out of it"))
    return sorted(found), findings[: MAX_FINDINGS_SHOWN + 1]


def _not_read(folder: str, path: str, specs: list[str]) -> Finding | None:
    """Why the specs in a sub-folder are not those of the toolset's tools."""
    if TOOLSET_FILE in specs:
        message = f"the toolset {path} is not listed in toolcast.yaml"
        help_ = f"add `{path}` to `toolsets`, or move it out of {folder}/"
        return _wrong(f"{path}/{TOOLSET_FILE}", message, help_)
    if not specs:
        return None
    named = ", ".join(specs[:_NAMED])
    more = f" and {len(specs) - _NAMED} more" if len(specs) > _NAMED else ""
    message = f"specs in {path}/ are not read: {named}{more}"
    last = posixpath.basename(path)
    if last.startswith("."):
        help_ = "give the folder a name without a dot at its begin, or move it away"
        return _wrong(f"{path}/{specs[0]}", message, help_)
    if last in KINDS_BY_FOLDER:
        help_ = f"move them into {folder}/{last}/"
        return _wrong(f"{path}/{specs[0]}", message, help_)
    if DEFINITIONS_FILE in specs:
        message = f"shared definitions are read from {folder}/{DEFINITIONS_FILE}"
        return _wrong(f"{path}/{DEFINITIONS_FILE}", message, "move them there")
    return None


def _wrong(place: str, message: str, help_: str) -> Finding:
    return Finding(
        "spec/unread-sub-folder", Severity.ERROR, Location(place), message, help_
    )


def check_unlisted_toolsets(
    workspace: Workspace, files: ProjectFiles
) -> Iterator[Finding]:
    """A finding for each toolset beside a listed one that toolcast.yaml does not list."""
    listed = {posixpath.normpath(one) for one in workspace.toolset_folders}
    for parent in sorted({posixpath.dirname(folder) for folder in listed}):
        try:
            entries = files.entries(parent)
        except OSError:
            continue
        siblings = (posixpath.join(parent, e.name) for e in entries if e.is_folder)
        for folder in siblings:
            file = f"{folder}/{TOOLSET_FILE}"
            if folder in listed or not files.is_there(file):
                continue
            yield Finding(
                "spec/unlisted-toolset",
                Severity.WARNING,
                Location(file),
                "toolcast.yaml does not list this toolset, so nothing reads it",
                f"add `{folder}` to `toolsets`, or move it elsewhere",
            )


KINDS_BY_FOLDER = {"mcp_resources": "mcp_resource", "mcp_prompts": "mcp_prompt"}
"""The folders of a toolset that have such specs, each with their kind."""
