"""Folders of a project: its root, which contains toolcast.yaml, and Python packages."""

from __future__ import annotations

import os
import posixpath

WORKSPACE_FILE = "toolcast.yaml"


def find_root(start: str) -> str | None:
    """Return the nearest folder at or above `start` that contains toolcast.yaml, or None.

    The path may be something other than a file; reading it reports that.
    """
    folder = os.path.abspath(start)
    while True:
        if os.path.lexists(os.path.join(folder, WORKSPACE_FILE)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def find_misnamed(folder: str) -> str | None:
    """Return a misspelled toolcast.yaml in a folder, such as `toolcast.yml`, or None."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    spellings = (WORKSPACE_FILE, WORKSPACE_FILE.replace(".yaml", ".yml"))
    return next((name for name in names if name.lower() in spellings), None)


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
