"""Search for spec files in the folders of toolsets."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..findings import MAX_FINDINGS_SHOWN, Finding, Location, Severity
from ..parsing.project_files import Entry, ProjectFiles
from .model import Workspace

TOOLSET_FILE = "toolset.yaml"
DEFINITIONS_FILE = "definitions.yaml"
_SUFFIXES = (".yaml", ".yml")
# Prefixes of metadata files of macOS (`._a.yaml`) and lock files of Emacs (`.#a.yaml`), which
# are not specs.
_TEMPORARY_PREFIXES = ("._", ".#")
_IGNORED_FOLDERS = frozenset(
    [".git", ".hg", ".svn", ".idea", ".vscode", ".vs", "__pycache__"]
)
_MAX_FOLDERS = 1_000
"""Maximum number of folders below a toolset that are searched for specs."""
_MAX_NAMES_SHOWN = 3
"""Maximum number of file names that a message lists."""


def list_specs(files: ProjectFiles, folder: str) -> tuple[list[str], list[Entry]]:
    """Return the names of the YAML files in a folder, and its subfolders, both sorted.

    Temporary files of macOS and Emacs are left out. Subfolders are not searched.

    Raises:
        OSError: the folder cannot be read.
    """
    entries = files.entries(folder)
    specs = [entry.name for entry in entries if _is_spec(entry.name)]
    folders = [
        entry for entry in entries if entry.is_folder and not _is_spec(entry.name)
    ]
    return specs, folders


def _is_spec(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES) and not name.startswith(_TEMPORARY_PREFIXES)


def get_file_kind(name: str) -> str:
    """Return the kind of a spec file by its name: `toolset`, `definitions` or `tool`."""
    kinds = {TOOLSET_FILE: "toolset", DEFINITIONS_FILE: "definitions"}
    return kinds.get(name, "tool")


def find_misnamed_toolset_file(files: ProjectFiles, folder: str) -> str | None:
    """Return the name of a file such as `toolset.yml` or `Toolset.yaml`, or None."""
    try:
        names = [entry.name for entry in files.entries(folder)]
    except OSError:
        return None
    stem = TOOLSET_FILE.partition(".")[0]
    variants = {stem + suffix for suffix in _SUFFIXES}
    return next((name for name in names if name.lower() in variants), None)


def find_nested_specs(
    workspace: Workspace, files: ProjectFiles, folder: str, sub_folders: list[Entry]
) -> tuple[list[str], list[Finding]]:
    """Search the subfolders of a toolset for tool specs, at any depth.

    Folders of listed toolsets, of MCP resources and prompts, and of programs such as git are
    skipped. Specs in folders that cannot contain tool specs, symbolic links and unreadable
    folders are reported as findings.

    Args:
        workspace: the workspace that lists the folders of toolsets.
        files: the files of the project.
        folder: the toolset's folder.
        sub_folders: the folders in the toolset's folder.

    Returns:
        Paths relative to the toolset's folder, sorted, and the findings.
    """
    toolset_folders = {posixpath.normpath(path) for path in workspace.toolset_folders}
    spec_paths: list[str] = []
    findings: list[Finding] = []
    # `pending` is a stack: in reverse order, folders are visited alphabetically.
    pending = list(reversed(sub_folders))
    for _ in range(_MAX_FOLDERS):
        if not pending:
            break
        entry = pending.pop()
        path = posixpath.normpath(f"{folder}/{entry.name}")
        is_mcp_folder = entry.name in KINDS_BY_FOLDER and not entry.is_link
        is_ignored = posixpath.basename(path) in _IGNORED_FOLDERS
        if is_ignored or path in toolset_folders or is_mcp_folder:
            continue
        if entry.is_link:
            message = "the folder is a symbolic link, so specs in it are not read"
            help_ = f"move the link out of {folder}/, or replace it by the folder"
            findings.append(_make_finding(path, message, help_))
            continue
        try:
            file_names, folders = list_specs(files, path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"the folder cannot be read: {reason}"
            findings.append(_make_finding(path, message, "make the folder readable"))
            continue
        finding = _check_sub_folder(folder, path, file_names)
        if finding is not None:
            findings.append(finding)
            continue
        spec_paths += [f"{entry.name}/{file_name}" for file_name in file_names]
        pending += [
            sub_folder._replace(name=f"{entry.name}/{sub_folder.name}")
            for sub_folder in reversed(folders)
        ]
    if pending:
        message = f"there are more than {_MAX_FOLDERS} folders below {folder}/"
        help_ = "move folders without specs out of it"
        findings.append(_make_finding(folder, message, help_))
    return sorted(spec_paths), findings[: MAX_FINDINGS_SHOWN + 1]


def _check_sub_folder(folder: str, path: str, file_names: list[str]) -> Finding | None:
    """Return a finding if specs in a subfolder cannot be tools of the toolset, or None.

    Args:
        folder: the toolset's folder.
        path: the path of the subfolder.
        file_names: the spec files in the subfolder.
    """
    if TOOLSET_FILE in file_names:
        message = f"the toolset {path} is not listed in toolcast.yaml"
        help_ = f"add `{path}` to `toolsets`, or move it out of {folder}/"
        return _make_finding(f"{path}/{TOOLSET_FILE}", message, help_)
    if not file_names:
        return None
    message = (
        f"specs in {path}/ are not read: {', '.join(file_names[:_MAX_NAMES_SHOWN])}"
    )
    if len(file_names) > _MAX_NAMES_SHOWN:
        message += f" and {len(file_names) - _MAX_NAMES_SHOWN} more"
    base_name = posixpath.basename(path)
    if base_name.startswith("."):
        help_ = "rename the folder so that it does not start with a dot, or move it"
        return _make_finding(f"{path}/{file_names[0]}", message, help_)
    if base_name in KINDS_BY_FOLDER:
        help_ = f"move them into {folder}/{base_name}/"
        return _make_finding(f"{path}/{file_names[0]}", message, help_)
    if DEFINITIONS_FILE in file_names:
        message = f"shared definitions must be in {folder}/{DEFINITIONS_FILE}"
        help_ = "move them there"
        return _make_finding(f"{path}/{DEFINITIONS_FILE}", message, help_)
    return None


def _make_finding(path: str, message: str, help_: str) -> Finding:
    return Finding(
        "spec/unread-sub-folder", Severity.ERROR, Location(path), message, help_
    )


def check_unlisted_toolsets(
    workspace: Workspace, files: ProjectFiles
) -> Iterator[Finding]:
    """Yield a finding for each toolset that toolcast.yaml does not list.

    Only folders next to a listed toolset are searched.
    """
    listed = {posixpath.normpath(path) for path in workspace.toolset_folders}
    for parent in sorted({posixpath.dirname(folder) for folder in listed}):
        try:
            entries = files.entries(parent)
        except OSError:
            continue
        for entry in entries:
            folder = posixpath.join(parent, entry.name)
            file = f"{folder}/{TOOLSET_FILE}"
            if not entry.is_folder or folder in listed or not files.is_there(file):
                continue
            yield Finding(
                "spec/unlisted-toolset",
                Severity.WARNING,
                Location(file),
                "the toolset is not listed in toolcast.yaml, so it is ignored",
                f"add `{folder}` to `toolsets`, or move the folder",
            )


KINDS_BY_FOLDER = {"mcp_resources": "mcp_resource", "mcp_prompts": "mcp_prompt"}
"""The kinds of specs by the folder of a toolset that contains them."""
