"""Write new files of a project, all or none, and no existing file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..exit_codes import fail


def find_conflicts(root: str, paths: Iterable[str]) -> list[str]:
    """Return the paths below `root` that exist, and files where a path needs a folder."""
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
    """End the program with exit code 2 if there are conflicting paths."""
    if paths:
        lines = "".join(f"\n  {path}" for path in paths)
        help_line = f"\n  help: {help_}" if help_ else ""
        subject = "this path exists" if len(paths) == 1 else "these paths exist"
        fail(f"{subject}; nothing was written:{lines}{help_line}")


def write_new_files(root: str, files: Mapping[str, bytes]) -> None:
    """Write all files, or end the program with exit code 2 and write none.

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
