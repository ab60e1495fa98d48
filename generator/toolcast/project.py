"""Where a project is: the folder of its toolcast.yaml."""

from __future__ import annotations

import os

WORKSPACE_FILE = "toolcast.yaml"


def find_root(start: str) -> str | None:
    """The nearest folder at or above `start` that has a toolcast.yaml; None if none has.

    What stands under that name may be no file: who reads it says so.
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
    """What a folder has instead of toolcast.yaml: `toolcast.yml`, `Toolcast.yaml`."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    wanted = (WORKSPACE_FILE, WORKSPACE_FILE.replace(".yaml", ".yml"))
    return next((name for name in names if name.lower() in wanted), None)
