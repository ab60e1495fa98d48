"""Files of the package itself: schemas, templates, tables."""

from __future__ import annotations

import os

from toolcast_runtime.core.safe_file import read_regular

_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a data file of this package."""
_HERE = os.path.dirname(os.path.abspath(__file__))


def read_packaged(*path: str) -> bytes:
    """The bytes of a file below the package's folder.

    `importlib.resources` would do it also inside of a zip archive, from which the generator
    cannot run for its validators' sake, and importing that takes longer than reading.

    Raises:
        OSError: the installation is not whole.
    """
    return read_regular(os.path.join(_HERE, *path), _MAX_FILE_BYTES)


def templates_folder() -> str:
    """The folder of our own templates: in a wheel in the package, in a checkout at the root."""
    inside = os.path.join(_HERE, "templates")
    if os.path.isdir(inside):
        return inside
    return os.path.normpath(os.path.join(_HERE, "..", "..", "templates"))


def read_deployment_file(name: str) -> bytes:
    """Return the content of a file of `examples/deployment`.

    A wheel contains the folder as `toolcast/deployment`; a checkout has it at its root.

    Raises:
        OSError: the installation is incomplete.
    """
    folder = os.path.join(_HERE, "deployment")
    if not os.path.isdir(folder):
        folder = os.path.join(_HERE, "..", "..", "examples", "deployment")
    return read_regular(os.path.normpath(os.path.join(folder, name)), _MAX_FILE_BYTES)


def package_folders() -> tuple[str, ...]:
    """The folders in which all of the generator is."""
    return (_HERE, templates_folder())
