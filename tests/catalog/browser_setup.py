"""Installs axe-core, which finds faults of accessibility, once, outside of the repository.

    python -m tests.catalog.browser_setup

It is a package for Node.js, which comes as a Python wheel. Everything goes into one folder,
$TOOLCAST_AXE or toolcast-axe in the user's cache, which may be deleted at any time. The browser
itself is the system's: Debian's package `chromium`, or what $CHROMIUM names.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests.node_programs import cache_folder, install_node, install_packages, set_up

__all__ = ["axe_script", "chromium"]

AXE = "axe-core@4.14.1"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _folder() -> Path:
    return cache_folder("toolcast-axe", "TOOLCAST_AXE")


def axe_script() -> Path:
    """The script that is run in a page, where it is installed."""
    return _folder() / "node_modules" / "axe-core" / "axe.min.js"


def chromium() -> str | None:
    """The browser's program; None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


def main() -> int:
    """Installs what is missing."""
    if chromium() is None:
        print("no Chromium: apt-get install chromium, or set CHROMIUM", file=sys.stderr)
        return 1
    where = _folder()
    commands = [install_node(where), install_packages(where, AXE)]
    return set_up(where, axe_script().exists, commands)


if __name__ == "__main__":
    sys.exit(main())
