"""Where a project is: the folder of its toolcast.yaml."""

from __future__ import annotations

import os

__all__ = ["WORKSPACE_FILE", "find_root"]

WORKSPACE_FILE = "toolcast.yaml"


def find_root(start: str) -> str | None:
    """The nearest folder at or above `start` that has a toolcast.yaml; None if none has."""
    folder = os.path.abspath(start)
    while True:
        if os.path.isfile(os.path.join(folder, WORKSPACE_FILE)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
