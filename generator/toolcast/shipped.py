"""Files that are shipped inside the package: schemas, and the runtime's modules."""

from __future__ import annotations

import os

__all__ = ["shipped"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def shipped(*path: str) -> bytes:
    """The bytes of a file below the package's folder.

    `importlib.resources` would do it also inside of a zip archive, from which the generator
    cannot run for its validators' sake, and importing that takes longer than reading.

    Raises:
        OSError: the installation is not whole.
    """
    with open(os.path.join(_HERE, *path), "rb") as stream:
        return stream.read()
