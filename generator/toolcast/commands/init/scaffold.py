"""Create the files of a new project, without overwriting existing files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..exit_codes import fail


def find_conflicts(root: str, paths: Iterable[str]) -> list[str]:
    """Return the existing paths that prevent files from being created; empty if none do.

    Args:
        root: the folder of the project.
        paths: the files to create, relative to the root.

    Returns:
        Each of these files that exists, and each file where a folder is needed.
    """
    conflicts: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            prefix = "/".join(parts[:length])
            absolute = os.path.join(root, prefix)
            is_last = length == len(parts)
            if os.path.lexists(absolute) and (is_last or not os.path.isdir(absolute)):
                conflicts[prefix] = None
                break
    return list(conflicts)


def exit_on_conflicts(paths: list[str], help_: str = "") -> None:
    """Print conflicting paths and end the program with exit code 2, if there are any."""
    if paths:
        lines = "".join(f"\n  {path}" for path in paths)
        help_line = f"\n  help: {help_}" if help_ else ""
        subject = "this path exists" if len(paths) == 1 else "these paths exist"
        fail(f"{subject}; nothing was written:{lines}{help_line}")


def write_new_files(root: str, files: Mapping[str, bytes]) -> None:
    """Create all files, and missing folders.

    If a file cannot be created, creates none and ends the program with exit code 2.

    Args:
        root: the folder of the project.
        files: the content of each file by path below the root.
    """
    from ...refactoring.project_edit import EditRefusedError, ProjectEdit
    from ...refactoring.writing import write_edit

    try:
        write_edit(root, ProjectEdit("", dict.fromkeys(files), files))
    except EditRefusedError as error:
        fail(str(error))
