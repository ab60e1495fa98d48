"""Installation of axe-core, the accessibility checker, outside of the repository.

    python -m tests.catalog.browser_setup

It is a package for Node.js, which is installed from a Python wheel. Everything is in one folder,
$TOOLCAST_AXE or toolcast-axe in the user's cache, which may be deleted at any time. The browser
is the system's: Debian's package `chromium`, or the program in $CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests.node_programs import (
    cache_folder,
    install_if_missing,
    install_node,
    install_packages,
)

__all__ = ["find_chromium", "get_axe_script"]

AXE = "axe-core@4.14.1"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _folder() -> Path:
    return cache_folder("toolcast-axe", "TOOLCAST_AXE")


def get_axe_script() -> Path:
    """Return the path of the installed script that runs in a page."""
    return _folder() / "node_modules" / "axe-core" / "axe.min.js"


def find_chromium() -> str | None:
    """Return the path of the browser; None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


def main() -> int:
    """Install missing programs."""
    if find_chromium() is None:
        print("no Chromium: apt-get install chromium, or set CHROMIUM", file=sys.stderr)
        return 1
    folder = _folder()
    commands = [install_node(folder), install_packages(folder, AXE)]
    return install_if_missing(folder, get_axe_script().exists, commands)


if __name__ == "__main__":
    sys.exit(main())
