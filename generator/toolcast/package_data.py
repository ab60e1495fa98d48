"""Access files of the generator's own package: schemas, templates and tables."""

from __future__ import annotations

import os

from toolcast_runtime.core.safe_file import read_regular_file

_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a data file of this package."""
_PACKAGE_FOLDER = os.path.dirname(os.path.abspath(__file__))


def read_package_file(*path: str) -> bytes:
    """Return the bytes of a file below the package's folder.

    This does not use `importlib.resources`: importing it takes longer than reading the file,
    and its support for zip archives is not needed because the validators cannot run from one.

    Raises:
        OSError: the installation is incomplete.
    """
    return read_regular_file(os.path.join(_PACKAGE_FOLDER, *path), _MAX_FILE_BYTES)


def get_templates_folder() -> str:
    """Return the folder of built-in templates: in the package, or at a checkout's root."""
    installed = os.path.join(_PACKAGE_FOLDER, "templates")
    if os.path.isdir(installed):
        return installed
    return os.path.normpath(os.path.join(_PACKAGE_FOLDER, "..", "..", "templates"))


def read_deployment_file(name: str) -> bytes:
    """Return the content of a file of `examples/deployment`.

    A wheel contains the folder as `toolcast/deployment`; a checkout has it at its root.

    Raises:
        OSError: the installation is incomplete.
    """
    folder = os.path.join(_PACKAGE_FOLDER, "deployment")
    if not os.path.isdir(folder):
        folder = os.path.join(_PACKAGE_FOLDER, "..", "..", "examples", "deployment")
    return read_regular_file(
        os.path.normpath(os.path.join(folder, name)), _MAX_FILE_BYTES
    )


def list_package_folders() -> tuple[str, ...]:
    """Return the folders that contain all files of the generator."""
    return (_PACKAGE_FOLDER, get_templates_folder())
