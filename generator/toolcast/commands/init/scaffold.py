"""Create the files of a new project, without overwriting existing files."""

from __future__ import annotations

import os
import posixpath
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


def list_missing_packages(root: str, source: str, package: str) -> list[str]:
    """Return the missing `__init__.py` files of a package and its parents, top first.

    The paths are relative to the root. A folder with Python files, but without `__init__.py`,
    is a namespace package, which needs no file unless its parent is a regular package.

    Args:
        root: the folder of the project.
        source: the source folder that contains the package, relative to the root.
        package: the package's dotted name.
    """
    missing: list[str] = []
    is_in_package = False
    folder = source
    for name in package.split("."):
        folder = posixpath.normpath(posixpath.join(folder, name))
        file = f"{folder}/__init__.py"
        if os.path.lexists(os.path.join(root, file)):
            is_in_package = True
        elif is_in_package or not _has_python_files(os.path.join(root, folder)):
            missing.append(file)
            is_in_package = True
    return missing


def _has_python_files(folder: str) -> bool:
    """Return whether a folder contains Python files at any depth; False if it is missing."""
    files = (file for _, _, names in os.walk(folder) for file in names)
    return any(file.endswith(".py") for file in files)


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
