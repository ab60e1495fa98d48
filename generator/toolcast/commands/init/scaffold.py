"""Writes new files of a project, all or none, never over something that is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..exit_codes import fail


def in_the_way(root: str, paths: Iterable[str]) -> list[str]:
    """The paths below `root` at which something is, or that lead through a file."""
    found: dict[str, None] = {}
    for path in paths:
        steps = path.split("/")
        for length in range(1, len(steps) + 1):
            part = "/".join(steps[:length])
            absolute = os.path.join(root, part)
            is_last = length == len(steps)
            if os.path.lexists(absolute) and (is_last or not os.path.isdir(absolute)):
                found[part] = None
                break
    return list(found)


def refuse(paths: list[str], help_: str = "") -> None:
    """Ends the program with exit code 2 when one of the paths is in the way."""
    if paths:
        rows = "".join(f"\n  {path}" for path in paths)
        help_line = f"\n  help: {help_}" if help_ else ""
        what = "this is" if len(paths) == 1 else "these are"
        fail(f"{what} in the way, nothing was written:{rows}{help_line}")


def write_new(root: str, files: Mapping[str, bytes]) -> None:
    """Writes the files below `root`.

    Ends the program with exit code 2 when one cannot be written, and then none is.
    """
    from ...refactoring.project_edit import EditRefusedError, ProjectEdit
    from ...refactoring.writing import write_edit

    try:
        write_edit(root, ProjectEdit("", dict.fromkeys(files), files))
    except EditRefusedError as error:
        fail(str(error))
