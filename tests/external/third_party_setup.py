"""Installs MCP servers that others wrote, once, outside of the repository.

    python -m tests.external.third_party_setup

`mcp-server-time` and `mcp-server-git` get a virtual environment of their own, because they may
need another version of the SDK than this project; `@modelcontextprotocol/server-everything`
runs on a Node.js that comes as a Python wheel. Everything goes into one folder,
$TOOLCAST_SERVERS or toolcast-servers in the user's cache, which may be deleted at any time.
The tests marked `servers` run when the folder is there and are skipped when not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.node_programs import (
    cache_folder,
    install_node,
    install_packages,
    node_and_npm,
    set_up,
)

__all__ = ["ThirdParty", "installed"]

PYTHON_PACKAGES = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")
NODE_PACKAGE = "@modelcontextprotocol/server-everything@2026.8.31"


@dataclass(frozen=True)
class ThirdParty:
    """The commands, each with its first arguments."""

    time: tuple[str, ...]
    git: tuple[str, ...]
    everything: tuple[str, ...]


def folder() -> Path:
    """Where everything is installed."""
    return cache_folder("toolcast-servers", "TOOLCAST_SERVERS")


def installed() -> ThirdParty | None:
    """The commands; None when the folder is not complete."""
    programs = _programs()
    time, git = programs / "mcp-server-time", programs / "mcp-server-git"
    node, _ = node_and_npm(folder())
    everything = folder() / "node_modules" / NODE_PACKAGE.rpartition("@")[0]
    script = everything / "dist" / "index.js"
    if not all(path.exists() for path in (time, git, node, script)):
        return None
    return ThirdParty((str(time),), (str(git),), (str(node), str(script)))


def _programs() -> Path:
    return folder() / "python" / ("Scripts" if sys.platform == "win32" else "bin")


def main() -> int:
    """Installs what is missing."""
    where = folder()
    pip = [str(_programs() / "python"), "-m", "pip", "install", "--quiet"]
    commands = [
        [sys.executable, "-m", "venv", str(where / "python")],
        [*pip, "--disable-pip-version-check", *PYTHON_PACKAGES],
        install_node(where),
        install_packages(where, NODE_PACKAGE),
    ]
    return set_up(where, lambda: installed() is not None, commands)


if __name__ == "__main__":
    sys.exit(main())
