"""Installs FastMCP once, in an environment of its own outside of the repository.

    python -m tests.fastmcp.fastmcp_setup

The tests marked `servers` run when it is there, and are skipped when not.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.node_programs import cache_folder, install_if_missing

PACKAGES = ("fastmcp==4.2.3", "mcp==2.3.0", "jsonschema-rs>=0.61,<0.70")


def folder() -> Path:
    """Where it is installed."""
    return cache_folder("toolcast-fastmcp", "TOOLCAST_FASTMCP")


def python() -> Path:
    """The interpreter of the environment."""
    programs = "Scripts" if sys.platform == "win32" else "bin"
    return folder() / programs / "python"


def is_installed() -> bool:
    """Whether FastMCP can be imported there."""
    return any(folder().rglob("site-packages/fastmcp/__init__.py"))


def main() -> int:
    """Installs what is missing."""
    pip = [str(python()), "-m", "pip", "install", "--quiet"]
    commands = [[sys.executable, "-m", "venv", str(folder())], [*pip, *PACKAGES]]
    return install_if_missing(folder(), is_installed, commands)


if __name__ == "__main__":
    sys.exit(main())
