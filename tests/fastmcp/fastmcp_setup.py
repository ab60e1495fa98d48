"""Installation of FastMCP, once, in its own environment outside of the repository.

    python -m tests.fastmcp.fastmcp_setup

Tests marked `servers` are skipped unless it is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.node_programs import cache_folder, install_if_missing

PACKAGES = ("fastmcp==4.2.3", "mcp==2.3.0", "jsonschema-rs>=0.61,<0.70")


def folder() -> Path:
    """Return the folder of the environment."""
    return cache_folder("toolcast-fastmcp", "TOOLCAST_FASTMCP")


def python() -> Path:
    """Return the path of the environment's interpreter."""
    programs = "Scripts" if sys.platform == "win32" else "bin"
    return folder() / programs / "python"


def is_installed() -> bool:
    """Return whether FastMCP is installed in the environment."""
    return any(folder().rglob("site-packages/fastmcp/__init__.py"))


def main() -> int:
    """Install the missing packages."""
    pip = [str(python()), "-m", "pip", "install", "--quiet"]
    commands = [[sys.executable, "-m", "venv", str(folder())], [*pip, *PACKAGES]]
    return install_if_missing(folder(), is_installed, commands)


if __name__ == "__main__":
    sys.exit(main())
