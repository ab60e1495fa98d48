"""Find the root folder of a project, which contains toolcast.yaml."""

from __future__ import annotations

import os

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
